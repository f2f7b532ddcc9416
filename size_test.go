package straggler_test

import (
	"bufio"
	"cmp"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSize prints, with -v, the ten largest types, and how many files and lines of code the library has in all and in
// each package, comments and empty lines aside. Names and fields a page are what TestPages prints. For those of
// another commit, unpack it elsewhere (git archive COMMIT | tar -x -C DIR), copy this file, pages_test.go and house_test.go
// there, and run the two tests in DIR with GOWORK=off.
func TestSize(t *testing.T) {
	type size struct{ fields, methods int }
	types, lines, files := map[string]size{}, map[string]int{}, map[string]int{}
	for name, file := range libraryFiles(t) {
		dir := path.Dir(name)
		lines[dir] += codeLines(t, name)
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
	all, count := 0, 0
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		all, count = all+lines[dir], count+files[dir]
		t.Logf("%-40s %3d files, %5d lines of code", dir, files[dir], lines[dir])
	}
	t.Logf("%-40s %3d files, %5d lines of code", "in all", count, all)
}

// codeLines counts the lines of a file that hold more than a comment.
func codeLines(t *testing.T, name string) (n int) {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(name))
	require.NoError(t, err)
	defer f.Close()
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		if line := strings.TrimSpace(scanner.Text()); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	require.NoError(t, scanner.Err())
	return n
}
