package straggler_test

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// marshalled matches the methods that print and marshal.
const marshalled = `^(String|LogValue|(Marshal|Unmarshal|Append)(JSON|Text|Binary))$`

// TestPages prints, with -v, how many exported names the page of each package has: types, functions, methods,
// constants and variables. Methods that print and marshal do not count. A second number counts the fields of structs
// as well.
func TestPages(t *testing.T) {
	names, fields := map[string]int{}, map[string]int{}
	for name, file := range libraryFiles(t) {
		if dir := path.Dir(name); !strings.HasPrefix(dir, "internal") && !strings.Contains(dir, "/internal") {
			n, f := exported(file)
			names[dir], fields[dir] = names[dir]+n, fields[dir]+f
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		t.Logf("%-24s %3d names, %3d with fields", dir, names[dir], names[dir]+fields[dir])
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

// exported counts the exported names of a file, and the exported fields of its exported structs.
func exported(file *ast.File) (names, fields int) {
	plain := regexp.MustCompile(marshalled)
	count := func(ok bool) {
		if ok {
			names++
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := decl.Name.Name
			count(ast.IsExported(name) && (decl.Recv == nil || ast.IsExported(receiverOf(decl)) && !plain.MatchString(name)))
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					count(spec.Name.IsExported())
					if list, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() {
						fields += exportedFields(list)
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						count(name.IsExported())
					}
				}
			}
		}
	}
	return names, fields
}

// exportedFields counts the exported fields of a struct.
func exportedFields(s *ast.StructType) (n int) {
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			if name.IsExported() {
				n++
			}
		}
		if len(f.Names) == 0 { // embedded
			n++
		}
	}
	return n
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
