package main

import (
	"path"
	"regexp"
	"strings"
)

const glossary = "docs/glossary.md"

// glossaryNames checks each name of the code in the last column of the glossary.
func (r *repository) glossaryNames() (count int) {
	for _, p := range r.pages {
		if p.path != glossary {
			continue
		}
		for i, line := range p.lines {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			cells := cellsOf(line)
			if len(cells) != 4 {
				r.fault(p.path, i+1, "the row has %d cells, want 4", len(cells))
				continue
			}
			for _, symbol := range quoted.FindAllStringSubmatch(cells[3], -1) {
				count++
				if found := r.symbol(symbol[1]); found != fine {
					r.fault(p.path, i+1, "%s", r.explain(symbol[1], found))
				}
			}
		}
	}
	return count
}

// codeName matches `package.Name` or `package.Type.Member` on a page, perhaps with arguments or a value behind it.
var codeName = regexp.MustCompile("`((?:[a-z]+/)*[a-z]+\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)[^`]*`")

// pageNames checks each name of a package of this repository on the pages in docs and at the top. The changelog and the
// decisions are left out, because they name what was removed.
func (r *repository) pageNames() (count int) {
	for _, p := range r.pages {
		if dir := path.Dir(p.path); dir != "docs" && dir != "." || p.path == "CHANGELOG.md" {
			continue
		}
		for i, line := range p.lines {
			for _, found := range codeName.FindAllStringSubmatch(line, -1) {
				count++
				if r.symbol(found[1]) == undeclared {
					r.fault(p.path, i+1, "%s does not exist", found[1])
				}
			}
		}
	}
	return count
}
