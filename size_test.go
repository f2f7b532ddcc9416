package straggler_test

import (
	"bufio"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSize prints, with -v, the ten largest types, and the number of files, lines of code and lines of comment, for each
// package and in all. Empty lines do not count. To measure another commit, unpack it into a directory (git archive COMMIT |
// tar -x -C DIR), copy this file and house_test.go there, and run the test in DIR with GOWORK=off.
func TestSize(t *testing.T) {
	type size struct{ fields, methods int }
	types, lines, comments, files := map[string]size{}, map[string]int{}, map[string]int{}, map[string]int{}
	for name, file := range libraryFiles(t) {
		dir := path.Dir(name)
		code, comment := linesOf(t, name)
		lines[dir] += code
		comments[dir] += comment
		files[dir]++
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					of := dir + "." + receiverOf(decl)
					types[of] = size{types[of].fields, types[of].methods + 1}
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					s, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					if of, ok := s.Type.(*ast.StructType); ok {
						name := dir + "." + s.Name.Name
						types[name] = size{of.Fields.NumFields(), types[name].methods}
					}
				}
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(types), func(a, b string) int {
		x, y := types[a], types[b]
		return cmp.Or(cmp.Compare(y.fields+y.methods, x.fields+x.methods), cmp.Compare(a, b))
	})
	for _, name := range names[:10] {
		t.Logf("%-40s %3d fields, %3d methods", name, types[name].fields, types[name].methods)
	}
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		t.Logf("%-40s %3d files, %5d lines of code, %5d of comment", dir, files[dir], lines[dir], comments[dir])
	}
	t.Logf("%-40s %3d files, %5d lines of code, %5d of comment", "in all", sum(files), sum(lines), sum(comments))
}

// sum adds the values of a map.
func sum(of map[string]int) (n int) {
	for _, v := range of {
		n += v
	}
	return n
}

// linesOf counts the lines of a file that hold code, and those that hold nothing but a comment.
func linesOf(t *testing.T, name string) (code, comment int) {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(name))
	require.NoError(t, err)
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		switch line := strings.TrimSpace(scanner.Text()); {
		case strings.HasPrefix(line, "//"):
			comment++
		case line != "":
			code++
		}
	}
	require.NoError(t, scanner.Err())
	return code, comment
}

// receiverOf returns the name of the type of a method's receiver.
func receiverOf(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// ofDefault lists the files of the default policy: its decisions, and the forecasts of the tracker and of package
// survival for it. The peers of the tracker are not in the list, because the default does not read them.
var ofDefault = []string{
	"restart/leastcost.go", "restart/cost.go", "restart/rank.go", "restart/trials.go", "restart/tracker/forecast.go", "restart/tracker/ages.go",
	"restart/tracker/even.go", "restart/tracker/suspects.go", "restart/tracker/units.go", "restart/tracker/trials.go",
	"restart/tracker/knowledge.go", "restart/tracker/link.go",
	"estimate/survival/*.go",
}

// TestNumbers prints, with -v, each number in the files of the default policy, with its file, its line, and its
// constant or function. The numbers 0, 1, 2, the units of time, and the numbers of a snapshot's fields do not count. The test fails if a number has no
// name or no comment. A number must stand in the declaration of a constant or a variable that has a comment: after
// it, above it, or above its block.
func TestNumbers(t *testing.T) {
	count := 0
	for _, name := range filesOf(t, ofDefault...) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, n := range numbers(set, file) {
			t.Logf("%s:%d: %s in %s", name, n.line, n.text, n.place)
			assert.True(t, n.explained, "%s:%d: the number %s in %s has no comment: give it a name, and say where it comes from", name, n.line, n.text, n.place)
			count++
		}
	}
	t.Logf("the default policy has %d numbers", count)
}

// The rule rejects numbers without a name or a comment, and accepts explained numbers.
func TestNumbersRuleRejects(t *testing.T) {
	for source, want := range map[string]string{
		"func f(x int) int { return x * 3 }":  "3 in f",
		"func (s *T) f() { s.x = 1 / 4. }":    "4. in T.f",
		"const a = 3":                         "3 in a",
		"const (\n\ta = 1 // one\n\tb = 3\n)": "3 in b",
		"var table = [...]int{7}":             "7 in table",
		"type T struct { x [8]int }":          "8 in T",
		"func f() {\n\tconst a = 0.5\n}":      "0.5 in a",
		"// The comment of a function is none of its numbers.\nfunc f() int { return 5 }": "5 in f",
	} {
		found := numbersIn(t, source)
		require.Len(t, found, 1, source)
		assert.Equal(t, want, found[0].text+" in "+found[0].place)
		assert.False(t, found[0].explained, "the number has no comment: %s", source)
	}
	for source, want := range map[string]int{
		"func f(x int) int { return x*2 + 1.0*0 }":     0,
		"const a = 24 * time.Hour":                     0,
		"func f(s float64) float64 { return s * 1e9 }": 0,
		`func f(c *C) { c.Field(3, "x").Bool(nil) }`:   0,
		"const a = 3 // a choice":                      1,
		"// a is a choice.\nconst a = 3":               1,
		"// Choices.\nconst (\n\ta = 3\n\tb = 4\n)":    2,
		"// A table.\nvar table = [...]int{7, 8}":      2,
		"func f() {\n\tconst a = 1e-9 // a choice\n}":  1,
	} {
		found := numbersIn(t, source)
		require.Len(t, found, want, source)
		for _, n := range found {
			assert.True(t, n.explained, "the number has a comment: %s", source)
		}
	}
}

// numbersIn lists the numbers of a source text.
func numbersIn(t *testing.T, source string) []number {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", "package x\n"+source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return numbers(set, file)
}

// number is a number in a file.
type number struct {
	line        int
	text, place string
	explained   bool // the number has a comment
}

// plainNumbers lists the numbers that need no reason: the smallest numbers, and the units of time.
var plainNumbers = []string{"0", "1", "2", "0.", "1.", "2.", "0.0", "1.0", "2.0", "1e9", "60", "24"}

// numbers lists the numbers of a file.
func numbers(set *token.FileSet, file *ast.File) (list []number) {
	var visit func(n ast.Node, place string, explained bool)
	visit = func(n ast.Node, place string, explained bool) {
		ast.Inspect(n, func(in ast.Node) bool {
			switch in := in.(type) {
			case *ast.GenDecl:
				for _, spec := range in.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						is := in.Doc != nil || s.Doc != nil || s.Comment != nil
						if s.Type != nil {
							visit(s.Type, s.Names[0].Name, is)
						}
						for i, value := range s.Values {
							visit(value, s.Names[i].Name, is)
						}
					case *ast.TypeSpec:
						visit(s.Type, s.Name.Name, false)
					}
				}
				return false
			case *ast.CallExpr:
				if isField(in) {
					visit(in.Fun, place, explained)
					return false
				}
			case *ast.BasicLit:
				if (in.Kind == token.INT || in.Kind == token.FLOAT) && !slices.Contains(plainNumbers, in.Value) {
					list = append(list, number{set.Position(in.Pos()).Line, in.Value, place, explained})
				}
			}
			return true
		})
	}
	for _, decl := range file.Decls {
		place := ""
		if f, ok := decl.(*ast.FuncDecl); ok {
			if place = f.Name.Name; f.Recv != nil {
				place = receiverOf(f) + "." + place
			}
		}
		visit(decl, place, false)
	}
	return list
}

// isField reports whether a call gives a field of a snapshot its number and its name, such as c.Field(3, "slots").
func isField(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (method.Sel.Name == "Field" || method.Sel.Name == "Has") && len(call.Args) > 1
}

// TestHeart prints, with -v, the number of lines of code of the packages that decide about a phase. Comments and
// empty lines do not count.
func TestHeart(t *testing.T) {
	all := 0
	for _, part := range [][]string{
		{"restart"}, {"restart/tracker"}, {"restart/engine", "restart/engine/internal/cluster"}, {"restart/engine/pool"},
	} {
		n := 0
		for _, dir := range part {
			for _, name := range filesOf(t, dir+"/*.go") {
				code, _ := linesOf(t, name)
				n += code
			}
		}
		t.Logf("%-55s %5d lines", strings.Join(part, " and "), n)
		all += n
	}
	t.Logf("%-55s %5d lines", "in all", all)
}

// filesOf returns the files that the patterns match, without tests.
func filesOf(t *testing.T, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.FromSlash(pattern))
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				files = append(files, name)
			}
		}
	}
	return files
}
