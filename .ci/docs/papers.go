package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The tables in docs/papers name code and tests; docs/papers.md explains their columns.
const (
	papersDir    = "docs/papers"
	paperColumns = "| § | mechanism | where | verdict | test | why |"
)

// verdicts lists the verdicts of a row, and the cells that each verdict needs.
var verdicts = map[string]struct{ symbol, test, why bool }{
	"same":      {symbol: true, test: true},
	"deviates":  {symbol: true, test: true, why: true},
	"extension": {symbol: true, test: true, why: true},
	"host":      {why: true},
	"left out":  {why: true},
}

var (
	quoted   = regexp.MustCompile("`([^`]*)`")
	testLink = regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`)
)

// paperRows checks the tables of all papers.
func (r *repository) paperRows() (count int) {
	for _, p := range r.pages {
		if path.Dir(p.path) == papersDir {
			n := r.paperTable(p)
			if n == 0 {
				r.fault(p.path, 0, "the page has no table %q", paperColumns)
			}
			count += n
		}
	}
	return count
}

// paperTable checks the rows of a page.
func (r *repository) paperTable(p page) (count int) {
	inTable, seen := false, map[string]int{}
	for i, line := range p.lines {
		switch {
		case line == paperColumns:
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|-"):
			count++
			cells := cellsOf(line)
			if len(cells) != 6 {
				r.fault(p.path, i+1, "the row has %d cells, want 6", len(cells))
				continue
			}
			r.paperRow(p.path, i+1, cells)
			key := cells[0] + cells[1]
			if other, twice := seen[key]; twice {
				r.fault(p.path, i+1, "the row is the same as that of line %d", other)
			}
			seen[key] = i + 1
		}
	}
	return count
}

// cellsOf returns the cells of a row.
func cellsOf(line string) (cells []string) {
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// paperRow compares a row with the declarations of the source.
func (r *repository) paperRow(file string, line int, cells []string) {
	fault := func(format string, args ...any) { r.fault(file, line, format, args...) }
	section, mechanism, where, verdict, test, why := cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]
	if section == "" || mechanism == "" {
		fault("a row needs a section and a mechanism")
	}
	wants, ok := verdicts[verdict]
	if !ok {
		fault("the verdict is %q, want one of %v", verdict, slices.Sorted(maps.Keys(verdicts)))
	}
	symbols, links := quoted.FindAllStringSubmatch(where, -1), testLink.FindAllStringSubmatch(test, -1)
	switch {
	case wants.symbol && len(symbols) == 0:
		fault("the verdict %q needs a symbol in backquotes", verdict)
	case wants.test && len(links) == 0:
		fault("the verdict %q needs a link to a test", verdict)
	case wants.why && why == "":
		fault("the verdict %q needs a reason", verdict)
	}
	for _, m := range symbols {
		if p := r.symbol(m[1]); p != fine {
			fault("%s", r.explain(m[1], p))
		}
	}
	for _, m := range links {
		if problem := r.testFault(m[1], path.Join(path.Dir(file), m[2])); problem != "" {
			fault("%s", problem)
		}
	}
}
