'use strict';
// Sorting and filtering of the tables. Without scripts the page is complete, but for these.
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
