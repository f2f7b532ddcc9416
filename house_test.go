package straggler_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/straggler-go/straggler"

// The library decides, and does nothing else. The host reads clocks, does I/O and shares state.
var bannedImports = []string{
	"os", "net", "log", "sync", "context", "io", "bufio", "syscall", "unsafe", "plugin", "runtime", "flag", "testing",
	"math/rand", "crypto/rand", "database", "embed",
}

// A package may name math/rand/v2 as the type of a source that its caller passes in. No package calls the global
// source.
var allowedRand = []string{"Rand", "Source", "New", "NewPCG", "NewChaCha8"}

// isHelper reports whether a package is a test helper for hosts, like testing/fstest: its name ends in "test". A
// helper may do I/O.
func isHelper(dir string) bool { return strings.HasSuffix(dir, "test") }

// doors are the directories of the packages that run what the rooms decide. They need only the standard library, so they lie
// in the library's module. They have clocks, goroutines and processes, so they are no part of the library.
var doors = []string{
	"internal/servers", "restart/engine/live", "restart/engine/pool", "restart/engine/slurm",
	"restart/hedge/hedged", "restart/hedge/hedgehttp",
}

// isDoor reports whether a directory is a door, or lies below one.
func isDoor(dir string) bool {
	return slices.ContainsFunc(doors, func(door string) bool { return dir == door || strings.HasPrefix(dir, door+"/") })
}

// libraryFiles parses the files of the library: no tests, no test helpers, no doors, no examples and no modules below the
// root.
func libraryFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			another := err == nil && name != "." || isDoor(filepath.ToSlash(name)) // may start goroutines
			if another || name == "examples" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "." {
				return filepath.SkipDir
			}
			return nil
		}
		slash := filepath.ToSlash(name)
		if !strings.HasSuffix(slash, ".go") || strings.HasSuffix(slash, "_test.go") || isHelper(path.Dir(slash)) {
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		files[slash] = file
		return err
	}))
	require.NotEmpty(t, files)
	return files
}

// A package imports package estimate, internal helpers, packages of its own room, and the pure parts of the standard
// library. No room imports another room.
func TestTheLibraryImportsOnlyPurePackages(t *testing.T) {
	for name, file := range libraryFiles(t) {
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if reason := badImport(path.Dir(name), imported); reason != "" {
				t.Errorf("%s must not import %q: %s", name, imported, reason)
			}
		}
	}
}

// badImport returns the reason why a package in dir must not import the given path; "" if it may.
func badImport(dir, imported string) string {
	switch own, isOwn := strings.CutPrefix(imported, module+"/"); {
	case isOwn:
		room, _, _ := strings.Cut(dir, "/")
		target, _, _ := strings.Cut(own, "/")
		if isDoor(own) && !isDoor(dir) {
			return "a room imports no door"
		}
		if target != "internal" && target != "estimate" && target != room {
			return "a room imports only estimate, internal helpers and its own packages"
		}
		if room == "internal" && target != "internal" || room == "estimate" && target == "restart" {
			return "internal helpers and estimate import no room"
		}
	case imported == module:
		if dir != "internal/check" {
			return "only internal/check imports the root"
		}
	case strings.HasPrefix(imported, "gonum.org/v1/gonum/"):
	case strings.Contains(strings.Split(imported, "/")[0], "."):
		return "gonum is the only dependency of the library"
	case imported == "math/rand/v2", imported == "log/slog": // log/slog for the interface LogValuer; no logger is called
	default:
		for _, banned := range bannedImports {
			if imported == banned || strings.HasPrefix(imported, banned+"/") {
				return "the package is not pure"
			}
		}
	}
	return ""
}

// The doors, and the modules below the root, have its import path as a prefix, so the compiler lets them import internal
// packages of the library. A reader who copies their code could not.
func TestHostsImportNothingInternal(t *testing.T) {
	library := map[string]bool{}
	for name := range libraryFiles(t) {
		library[path.Dir(name)] = true
	}
	hosts := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		slash := filepath.ToSlash(name)
		dir := path.Dir(slash)
		if err != nil || !strings.HasSuffix(slash, ".go") || library[dir] || isHelper(dir) && !isDoor(dir) {
			return err
		}
		hosts[dir] = true
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			own, _ := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			internal := strings.Contains("/"+own, "/internal/")
			if internal && (library[own] || isHelper(own) && !strings.HasSuffix(slash, "_test.go")) {
				t.Errorf("%s must not import %s, which is internal", name, own)
			}
		}
		return nil
	}))
	assert.Greater(t, len(hosts), 50, "the test finds the hosts")
	assert.Subset(t, slices.Collect(maps.Keys(hosts)), []string{"restart/engine/pool", "restart/hedge/hedged", "examples/replay"})
}

// The import rule rejects bad imports, and accepts good imports.
func TestTheImportRuleRejectsBadImports(t *testing.T) {
	for _, c := range []struct{ dir, imported string }{
		{"restart", module + "/laxity"},
		{"estimate", module + "/restart"},
		{"internal/num", module + "/estimate"},
		{"restart", "os"}, {"restart", "net/http"}, {"delay", "sync/atomic"}, {"clone", "math/rand"},
		{"restart", "github.com/stretchr/testify/assert"}, {"restart", module},
		{"restart/tracker", module + "/restart/engine/pool"}, {"restart/hedge", module + "/restart/hedge/hedgehttp"},
	} {
		assert.NotEmpty(t, badImport(c.dir, c.imported), "%s must not import %s", c.dir, c.imported)
	}
	for _, c := range []struct{ dir, imported string }{
		{"restart", module + "/estimate"}, {"restart/journal", module + "/restart"}, {"estimate", module + "/internal/num"},
		{"estimate", "gonum.org/v1/gonum/spatial/kdtree"}, {"restart", "log/slog"}, {"clone", "math/rand/v2"}, {"skew", "math/bits"},
		{"internal/check", module},
	} {
		assert.Empty(t, badImport(c.dir, c.imported), "%s may import %s", c.dir, c.imported)
	}
}

// The table of rooms in docs/architecture.md names each package, so that readers find it.
func TestTheTableOfRoomsNamesEachPackage(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	for name := range libraryFiles(t) {
		if dir := path.Dir(name); dir != "." && !strings.Contains(dir, "internal") {
			assert.Contains(t, string(text), "`"+dir+"`", "docs/architecture.md has no row for %s", dir)
		}
	}
}

// No file of the library reads a clock, starts a goroutine, panics, prints or has mutable global state.
func TestNoClockNoGoroutineNoGlobalState(t *testing.T) {
	for name, file := range libraryFiles(t) {
		for _, fault := range impurities(file) {
			t.Errorf("%s has what a pure package must not have: %s", name, fault)
		}
	}
}

// The purity rule rejects impure code, and accepts pure code.
func TestThePurityRuleRejectsImpureCode(t *testing.T) {
	for source, want := range map[string]string{
		"var count int":                                              "package-level variable count",
		"var Table = [2]int{1, 2}":                                   "package-level variable Table",
		"var seen = map[int]bool{}":                                  "package-level variable seen",
		"func f() { go f() }":                                        "goroutine",
		"func f() { panic(1) }":                                      "panic",
		"func f() time.Time { return time.Now() }":                   "time.Now",
		"func f() float64 { return rand.Float64() }":                 "rand.Float64",
		"func f() { fmt.Println() }":                                 "fmt.Println",
		"func f() { println() }":                                     "println",
		"import clock \"time\"\nfunc f() { clock.Now() }":            "renamed import clock",
		"var names = [...]int{1}\nfunc f() { names[0]++ }":           "assignment to names",
		"func init() {}":                                             "init function",
		"func f(l *slog.Logger) { slog.Info(\"x\") }":                "slog.Info",
		"var names = [...]string{\"a\"}\nfunc f() { names[0]=\"\" }": "assignment to names",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.SkipObjectResolution)
		require.NoError(t, err)
		found := impurities(file)
		require.Len(t, found, 1, source)
		assert.Contains(t, found[0], want)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
var ErrX = errors.New("x")
var names = [...]string{"a"}
var _ fmt.Stringer = T{}
func f(r *rand.Rand) slog.Value { return slog.GroupValue() }`, parser.SkipObjectResolution)
	require.NoError(t, err)
	assert.Empty(t, impurities(file))
}

// impurities lists the constructs of a file that a pure package must not have.
func impurities(file *ast.File) (faults []string) {
	var tables []string
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name == "init" {
				faults = append(faults, "init function")
			}
		case *ast.GenDecl:
			if decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if !constantVariable(name.Name, value, i) {
						faults = append(faults, "package-level variable "+name.Name)
					}
					tables = append(tables, name.Name)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			faults = append(faults, "goroutine")
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"panic", "print", "println"}, f.Name) {
				faults = append(faults, f.Name)
			}
		case *ast.SelectorExpr:
			if fault := bannedSelector(n); fault != "" {
				faults = append(faults, fault)
			}
		case *ast.ImportSpec:
			if n.Name != nil { // the rules above know a package by its own name
				faults = append(faults, "renamed import "+n.Name.Name)
			}
		case *ast.IncDecStmt:
			if root := rootName(n.X); slices.Contains(tables, root) {
				faults = append(faults, "assignment to "+root)
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if root := rootName(left); n.Tok != token.DEFINE && root != "_" && slices.Contains(tables, root) {
					faults = append(faults, "assignment to "+root)
				}
			}
		}
		return true
	})
	return faults
}

// constantVariable accepts variables that never change in practice: interface checks, error values, and unexported
// arrays.
func constantVariable(name string, value *ast.ValueSpec, i int) bool {
	if name == "_" {
		return true
	}
	if i >= len(value.Values) {
		return false
	}
	switch v := value.Values[i].(type) {
	case *ast.CallExpr:
		f, ok := v.Fun.(*ast.SelectorExpr)
		return ok && rootName(f) == "errors" && f.Sel.Name == "New"
	case *ast.CompositeLit:
		array, ok := v.Type.(*ast.ArrayType)
		return ok && array.Len != nil && !ast.IsExported(name)
	}
	return false
}

// bannedSelector returns the name of a function that a pure package must not use; "" for other names.
func bannedSelector(s *ast.SelectorExpr) string {
	pkg, ok := s.X.(*ast.Ident)
	if !ok {
		return ""
	}
	name := pkg.Name + "." + s.Sel.Name
	switch pkg.Name {
	case "time":
		if slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, s.Sel.Name) {
			return name
		}
	case "rand":
		if !slices.Contains(allowedRand, s.Sel.Name) {
			return name
		}
	case "fmt":
		if strings.HasPrefix(s.Sel.Name, "Print") || strings.HasPrefix(s.Sel.Name, "Scan") {
			return name
		}
	case "slog":
		if slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "Default", "SetDefault", "With"}, s.Sel.Name) {
			return name
		}
	}
	return ""
}

// rootName returns the name of the variable at the root of an expression such as a.b[i].
func rootName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return rootName(e.X)
	case *ast.SelectorExpr:
		return rootName(e.X)
	}
	return ""
}
