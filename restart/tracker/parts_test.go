package tracker

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reach adds to types all struct types of this package that a type contains, by value, pointer, list or map.
func reach(of reflect.Type, types map[reflect.Type]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		reach(of.Elem(), types)
	case reflect.Map:
		reach(of.Key(), types)
		reach(of.Elem(), types)
	case reflect.Struct:
		if types[of] || of.PkgPath() != reflect.TypeFor[phase]().PkgPath() {
			return
		}
		types[of] = true
		for i := range of.NumField() {
			reach(of.Field(i).Type, types)
		}
	}
}

// The phase alone owns the parts: the structs among its fields. No part contains or points to another part.
func TestNoPartKnowsAnotherPart(t *testing.T) {
	parts := map[reflect.Type]bool{}
	for i := range reflect.TypeFor[phase]().NumField() {
		of := reflect.TypeFor[phase]().Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			parts[of] = true
		}
	}
	require.GreaterOrEqual(t, len(parts), 14)
	for part := range parts {
		within := map[reflect.Type]bool{}
		reach(part, within)
		for other := range within {
			assert.True(t, other == part || !parts[other], "%v contains %v", part, other)
		}
	}
}

// missing is an importer without packages. The types of this package are known without them.
type missing struct{}

func (missing) Import(string) (*types.Package, error) { return nil, errors.New("no package") }

// A field of a struct of the tracker's state is written only in the file that declares the struct. So each line that
// changes a part stands in the file of the part. There are three exceptions: snapshot.go and fields.go decode all parts,
// state.go, queue.go and grow.go are the book's, too, and the phase sets its own fields and counts in its ledger.
func TestOnlyAPartWritesItsFields(t *testing.T) {
	state := map[reflect.Type]bool{}
	reach(reflect.TypeFor[phase](), state)
	files, set, parsed := map[string]string{}, token.NewFileSet(), []*ast.File{}
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(set, name, source, 0)
		require.NoError(t, err)
		parsed = append(parsed, file)
		for _, d := range file.Decls {
			if general, is := d.(*ast.GenDecl); is && general.Tok == token.TYPE {
				for _, spec := range general.Specs {
					files[spec.(*ast.TypeSpec).Name.Name] = name
				}
			}
		}
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	check := types.Config{Importer: missing{}, Error: func(error) {}}
	_, _ = check.Check("tracker", set, parsed, &info) // it fails, because no import is found
	writes, decode, ofBook := 0, []string{"snapshot.go", "fields.go"}, []string{"book.go", "state.go", "queue.go", "grow.go"}
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			var to []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					to = n.Lhs
				}
			case *ast.IncDecStmt:
				to = []ast.Expr{n.X}
			}
			for _, expr := range to {
				owner := ownerOf(&info, expr)
				if owner == "" || owner == "phase" || owner == "Ledger" || !isState(state, owner) {
					continue
				}
				writes++
				at := set.Position(expr.Pos())
				home := files[owner]
				allowed := at.Filename == home || slices.Contains(decode, at.Filename) ||
					slices.Contains(ofBook, home) && slices.Contains(ofBook, at.Filename)
				assert.True(t, allowed, "%v writes a field of %s, which %s declares", at, owner, home)
			}
			return true
		})
	}
	require.Greater(t, writes, 100, "the test must find the writes")
}

// ownerOf returns the name of the struct that an assignment changes; "" if it changes none, or a struct of another
// package.
func ownerOf(info *types.Info, to ast.Expr) string {
	var of types.Type
	switch to := ast.Unparen(to).(type) {
	case *ast.SelectorExpr:
		of = info.Types[to.X].Type
	case *ast.StarExpr:
		of = info.Types[to].Type
	case *ast.IndexExpr:
		return ownerOf(info, to.X) // an element of a field
	}
	if pointer, is := of.(*types.Pointer); is {
		of = pointer.Elem()
	}
	if named, is := of.(*types.Named); is {
		return named.Obj().Name()
	}
	return ""
}

// isState reports whether a struct of the given name is a part of the tracker's state.
func isState(state map[reflect.Type]bool, name string) bool {
	for of := range state {
		if of.Name() == name {
			return true
		}
	}
	return false
}
