package straggler_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tables in docs/papers name code and tests; docs/papers.md explains their columns. This test fails if a table
// names code that does not exist.
const paperColumns = "| § | mechanism | where | verdict | test | why |"

// paperVerdicts lists the verdicts of a row, and the cells that each verdict needs.
var paperVerdicts = map[string]struct{ symbol, test, why bool }{
	"same":      {symbol: true, test: true},
	"deviates":  {symbol: true, test: true, why: true},
	"extension": {symbol: true, test: true, why: true},
	"host":      {why: true},
	"left out":  {why: true},
}

// paperRow is a row of a table.
type paperRow struct {
	file  string
	line  int
	cells []string // the cells in the order of paperColumns
}

func (r paperRow) String() string { return fmt.Sprintf("%s:%d", r.file, r.line) }

// paperRows reads the rows of all tables with these columns. A row with another number of cells is a fault.
func paperRows(file, text string) (rows []paperRow, faults []string) {
	inTable := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == paperColumns:
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case !inTable || strings.HasPrefix(line, "|-"):
		default:
			r := paperRow{file: file, line: i + 1}
			for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
				r.cells = append(r.cells, strings.TrimSpace(cell))
			}
			if len(r.cells) != 6 {
				faults = append(faults, fmt.Sprintf("%v has %d cells, want 6", r, len(r.cells)))
				continue
			}
			rows = append(rows, r)
		}
	}
	return rows, faults
}

var (
	paperSymbol = regexp.MustCompile("`([^`]*)`")
	paperLink   = regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`)
)

// paperFaults compares a row with the declarations of the source.
func paperFaults(r paperRow, s *sources) (faults []string) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%v: ", r)+fmt.Sprintf(format, args...))
	}
	section, mechanism, where, verdict, test, why := r.cells[0], r.cells[1], r.cells[2], r.cells[3], r.cells[4], r.cells[5]
	if section == "" || mechanism == "" {
		fault("a row needs a section and a mechanism")
	}
	wants, ok := paperVerdicts[verdict]
	if !ok {
		fault("the verdict is %q, want one of %v", verdict, slices.Sorted(maps.Keys(paperVerdicts)))
	}
	symbols, links := paperSymbol.FindAllStringSubmatch(where, -1), paperLink.FindAllStringSubmatch(test, -1)
	switch {
	case wants.symbol && len(symbols) == 0:
		fault("the verdict %q needs a symbol in backquotes", verdict)
	case wants.test && len(links) == 0:
		fault("the verdict %q needs a link to a test", verdict)
	case wants.why && why == "":
		fault("the verdict %q needs a reason", verdict)
	}
	for _, m := range symbols {
		if problem := s.symbol(m[1]); problem != "" {
			fault("%s", problem)
		}
	}
	for _, m := range links {
		if problem := s.test(m[1], path.Join(path.Dir(r.file), m[2])); problem != "" {
			fault("%s", problem)
		}
	}
	return faults
}

// Every row of the tables in docs/papers names code and tests that exist.
func TestPapers(t *testing.T) {
	files, err := filepath.Glob("docs/papers/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	s := parseSources(t)
	seen := map[string]paperRow{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		rows, faults := paperRows(filepath.ToSlash(file), string(text))
		assert.NotEmpty(t, rows, "%s has a table", file)
		for _, r := range rows {
			faults = append(faults, paperFaults(r, s)...)
			key := path.Base(r.file) + r.cells[0] + r.cells[1]
			if other, twice := seen[key]; twice {
				faults = append(faults, fmt.Sprintf("%v is the same row as %v", r, other))
			}
			seen[key] = r
		}
		for _, fault := range faults {
			t.Error(fault)
		}
	}
}

// Each name of the code in the last column of the glossary exists.
func TestEachCodeNameOfTheGlossaryExists(t *testing.T) {
	text, err := os.ReadFile("docs/glossary.md")
	require.NoError(t, err)
	s, count := parseSources(t), 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		require.Len(t, cells, 4, line)
		for _, symbol := range paperSymbol.FindAllStringSubmatch(cells[3], -1) {
			count++
			assert.Empty(t, s.symbol(symbol[1]), line)
		}
	}
	assert.Greater(t, count, 30)
}

// A page names what exists: each `package.Name` or `package.Type.Member` of a package of this repository is declared. The
// decisions are left out, since they name what was removed.
func TestEachCodeNameOnAPageExists(t *testing.T) {
	name := regexp.MustCompile("`((?:[a-z]+/)*[a-z]+\\.[A-Z]\\w*(?:\\.[A-Z]\\w*)?)[^`]*`")
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	s, count := parseSources(t), 0
	for _, file := range append(files, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range name.FindAllStringSubmatch(string(text), -1) {
			count++
			problem := s.symbol(found[1])
			assert.False(t, strings.HasSuffix(problem, "is gone"), "%s: %s", file, problem)
		}
	}
	assert.Greater(t, count, 80)
}

// The rule rejects rows with faults, and accepts good rows.
func TestPapersRuleRejects(t *testing.T) {
	s := newSources()
	file, err := parser.ParseFile(token.NewFileSet(), "clone/count.go", `package clone
		type Config struct { Risk, P float64; inner }
		type Policy interface { Decide() }
		func (c *Config) Validate() error { return nil }
		func Count() {}
		const Off = -1`, 0)
	require.NoError(t, err)
	s.add("clone", "clone/count.go", file)
	file, err = parser.ParseFile(token.NewFileSet(), "clone/paper_test.go", "package clone\nfunc TestCount_32() {}", 0)
	require.NoError(t, err)
	s.add("clone", "clone/paper_test.go", file)

	check := func(cells string) string {
		rows, faults := paperRows("docs/papers/dolly.md", paperColumns+"\n|---|---|---|---|---|---|\n"+cells)
		for _, r := range rows {
			faults = append(faults, paperFaults(r, s)...)
		}
		return strings.Join(faults, "\n")
	}
	const link = "[TestCount_32](../../clone/paper_test.go)"
	for _, good := range []string{
		"| 3.2 | count | `clone.Count` | same | " + link + " | |",
		"| 3.2 | count | `clone.Config.Risk`, `clone.Config.Validate`, `clone.Policy.Decide` | deviates | " + link + " | ours |",
		"| 3.2 | heartbeats | | host | | it has them |",
	} {
		assert.Empty(t, check(good), "the row is good: %s", good)
	}
	const count = "| 3.2 | count |"
	for bad, want := range map[string]string{
		count + " `clone.Count` | same | " + link + " |":                                   "5 cells",
		"| | count | `clone.Count` | same | " + link + " | |":                              "a section",
		count + " `clone.Count` | equal | " + link + " | |":                                "verdict",
		count + " clone.Count | same | " + link + " | |":                                   "a symbol",
		count + " `clone.Count` | same | TestCount_32 | |":                                 "a link",
		count + " `clone.Count` | deviates | " + link + " | |":                             "a reason",
		count + " `clone.Counts` | same | " + link + " | |":                                "clone.Counts does not exist",
		count + " `clone.Config.Share` | same | " + link + " | |":                          "clone.Config.Share does not exist",
		count + " `clones.Count` | same | " + link + " | |":                                "no package clones",
		count + " `Count` | same | " + link + " | |":                                       "is no symbol",
		count + " `clone.Count` | same | [TestCount_33](../../clone/paper_test.go) | |":    "TestCount_33 does not exist",
		count + " `clone.Count` | same | [TestCount_32](../../clone/property_test.go) | |": "clone/paper_test.go",
	} {
		assert.Contains(t, check(bad), want, "the row is bad: %s", bad)
	}
}

// sources holds the declarations of the project.
type sources struct {
	symbols map[string]map[string]bool // by directory: Name or Type.Member
	tests   map[string]string          // the file of each test, by "file name"
	homes   map[string][]string        // by name of a test: the files that have it
	dirs    map[string][]string        // directories, by their last element
}

// newSources returns sources without declarations.
func newSources() *sources {
	return &sources{map[string]map[string]bool{}, map[string]string{}, map[string][]string{}, map[string][]string{}}
}

// parseSources reads the declarations of all files of the project.
func parseSources(t *testing.T) *sources {
	t.Helper()
	s, set := newSources(), token.NewFileSet()
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err == nil {
			slash := filepath.ToSlash(name)
			s.add(path.Dir(slash), slash, file)
		}
		return err
	}))
	return s
}

// add adds the declarations of a file.
func (s *sources) add(dir, name string, file *ast.File) {
	if s.symbols[dir] == nil {
		s.symbols[dir] = map[string]bool{}
		s.dirs[path.Base(dir)] = append(s.dirs[path.Base(dir)], dir)
	}
	isTest := strings.HasSuffix(name, "_test.go")
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch {
			case isTest && decl.Recv == nil:
				s.tests[name+" "+decl.Name.Name] = name
				s.homes[decl.Name.Name] = append(s.homes[decl.Name.Name], name)
			case isTest:
			case decl.Recv == nil:
				s.symbols[dir][decl.Name.Name] = true
			default:
				s.symbols[dir][receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if !isTest {
					s.addSpec(dir, spec)
				}
			}
		}
	}
}

// addSpec adds the names of a type, a constant or a variable, and of the type's members.
func (s *sources) addSpec(dir string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			s.symbols[dir][name.Name] = true
		}
	case *ast.TypeSpec:
		s.symbols[dir][spec.Name.Name] = true
		var members *ast.FieldList
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			return
		}
		for _, field := range members.List {
			for _, name := range field.Names {
				s.symbols[dir][spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// receiver returns the name of the type of a method's receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// symbol returns the fault of a name such as clone.Count or restart/tracker.Config.Lag; "" if the name exists.
func (s *sources) symbol(text string) string {
	slash := strings.LastIndexByte(text, '/') + 1
	pkg, name, ok := strings.Cut(text[slash:], ".")
	if !ok || !ast.IsExported(name) {
		return fmt.Sprintf("%q is no symbol: want package.Name or package.Type.Member", text)
	}
	dirs := s.dirs[pkg]
	if slash > 0 {
		dirs = []string{text[:slash] + pkg}
	}
	if len(dirs) == 0 || s.symbols[dirs[0]] == nil {
		return "there is no package " + text[:slash] + pkg
	}
	if len(dirs) > 1 {
		return fmt.Sprintf("%s is the name of several packages, %v: give the directory", pkg, dirs)
	}
	if !s.symbols[dirs[0]][name] {
		return text + " does not exist"
	}
	return ""
}

// test returns the fault of a link to a test; "" if the test exists.
func (s *sources) test(name, file string) string {
	switch homes := s.homes[name]; {
	case s.tests[file+" "+name] != "":
		return ""
	case len(homes) == 0:
		return name + " does not exist"
	default:
		return fmt.Sprintf("%s is not in %s, but in %v", name, file, homes)
	}
}
