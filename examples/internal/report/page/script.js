'use strict';
// The script sorts and filters the tables, and shows the text of a bar or cell that the user points at. Without scripts
// the page is complete except for these functions; the text of the most important bar or cell is always shown.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const key = (row, i) => {
    const cell = row.cells[i];
    return cell.dataset.v === undefined ? cell.textContent.trim() : cell.dataset.v === '' ? NaN : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === 'string') return a.localeCompare(b, undefined, { numeric: true });
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a - b;
  };
  heads.forEach((head, i) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') !== 'descending' && head.classList.contains('n')
        || head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(h => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = [...body.rows].map(row => [key(row, i), row]);
      rows.sort((a, b) => down ? compare(b[0], a[0]) : compare(a[0], b[0]));
      body.append(...rows.map(r => r[1]));
    });
  });
}
const filter = document.getElementById('filter');
if (filter) {
  const rows = [...document.getElementById('phases').tBodies[0].rows];
  const texts = rows.map(row => row.textContent.toLowerCase());
  filter.addEventListener('input', () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !texts[i].includes(wanted);
      if (!row.hidden) shown++;
    });
    document.getElementById('shown').textContent = wanted ? `${shown} of ${rows.length}` : '';
  });
}

// A figure shows the text of its bar or cell under the pointer or finger. The arrow keys step through the bars or cells,
// the longest first.
for (const figure of document.querySelectorAll('figure.ask')) {
  const svg = figure.querySelector('svg');
  const told = figure.querySelector('.asked');
  if (!svg || !told) continue;
  const size = rect => (rect.classList.contains('h4') ? 1e6 : rect.classList.contains('h3') ? 1e5 : 0) + Number(rect.getAttribute('width'));
  let order = null;
  let at = -1;
  const tell = rect => {
    figure.querySelector('.on')?.classList.remove('on');
    rect.classList.add('on');
    told.textContent = rect.textContent;
  };
  const point = event => {
    if (event.target.tagName === 'rect') tell(event.target);
  };
  svg.addEventListener('pointerover', point);
  svg.addEventListener('click', point);
  svg.setAttribute('tabindex', '0');
  svg.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    order ??= [...svg.querySelectorAll('rect')].sort((a, b) => size(b) - size(a));
    if (!order.length) return;
    at = (at + step + order.length) % order.length;
    tell(order[at]);
  });
}
