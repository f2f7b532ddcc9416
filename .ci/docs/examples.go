package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const indexPage = "docs/examples.md"

const indexHead = `# Examples by question

Each example is a file of its own, shows one feature, and runs as a test: ` + "`go test -run Example ./...`" + `. The list follows the
packages. ` + "`go run ./.ci/docs -index`" + ` writes it from the comments of the examples.
`

// index returns the page with the first sentence of each example that has a file of its own, in the order of the packages.
func (r *repository) index() string {
	var examples []source
	for _, s := range r.source {
		if strings.HasPrefix(path.Base(s.path), "example_") && s.isTest() && s.dir() != "." && !strings.HasPrefix(s.path, "examples/") {
			examples = append(examples, s)
		}
	}
	slices.SortFunc(examples, func(a, b source) int {
		if d := strings.Compare(a.dir(), b.dir()); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	text, room := indexHead, ""
	for _, s := range examples {
		if s.dir() != room {
			room = s.dir()
			text += fmt.Sprintf("\n## %s\n\n", room)
		}
		text += fmt.Sprintf("- [%s](../%s)\n", r.firstSentence(s), s.path)
	}
	return text
}

// indexLines compares the page with the examples.
func (r *repository) indexLines() (count int) {
	page, err := fs.ReadFile(r.files, indexPage)
	if err != nil {
		r.fault(indexPage, 0, "%v", err)
		return 0
	}
	is, want := strings.Split(string(page), "\n"), strings.Split(r.index(), "\n")
	for i := range max(len(is), len(want)) { // below the first fault the lines are shifted
		if i >= len(want) {
			r.fault(indexPage, i+1, "%q is too much: go run ./.ci/docs -index", is[i])
			break
		}
		if i >= len(is) || is[i] != want[i] {
			r.fault(indexPage, i+1, "the examples want %q here: go run ./.ci/docs -index", want[i])
			break
		}
	}
	for _, line := range want {
		if strings.HasPrefix(line, "- [") {
			count++
		}
	}
	return count
}

var sentenceEnd = regexp.MustCompile(`[.?]\s`)

// firstSentence returns the first sentence above the first example of a file. An example without a comment is a fault.
func (r *repository) firstSentence(s source) string {
	for _, decl := range s.tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
			doc := strings.Join(strings.Fields(f.Doc.Text()), " ") + " "
			if end := sentenceEnd.FindStringIndex(doc); end != nil {
				return doc[:end[0]+1]
			}
			r.fault(s.path, r.set.Position(f.Pos()).Line, "%s has no comment that says what it shows", f.Name.Name)
			return ""
		}
	}
	r.fault(s.path, 0, "the file has no example")
	return ""
}

// shownLine matches a line that code in a comment is said to print: a decision, or a list.
var shownLine = regexp.MustCompile(`(?m)^//\t+// (?:.*d is: )?([a-z]+ [a-z-]+ [a-z-]+=.*|\[.*)$`)

// printedLines checks that an example of the package prints each line that the comments of the package show under code.
func (r *repository) printedLines() (count int) {
	for _, s := range r.source {
		if s.isTest() || strings.Contains(s.path, "internal/") {
			continue
		}
		for _, at := range shownLine.FindAllStringSubmatchIndex(s.text, -1) {
			count++
			if line := s.text[at[2]:at[3]]; !r.examplePrints(s.dir(), line) {
				r.fault(s.path, 1+strings.Count(s.text[:at[2]], "\n"), "no example of the package prints the line %q", line)
			}
		}
	}
	return count
}

// examplePrints reports whether the output of an example of a package has a line that ends as this line.
func (r *repository) examplePrints(dir, line string) bool {
	return slices.ContainsFunc(r.source, func(s source) bool {
		_, outputs, _ := strings.Cut(s.text, "\t// Output:")
		return s.isTest() && s.dir() == dir && strings.Contains(outputs+"\n", line+"\n")
	})
}
