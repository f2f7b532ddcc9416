package straggler_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// enumeration is a type of a package with constants that count by iota.
type enumeration struct {
	constants []string   // the exported constants; an unexported one is their number
	tables    [][]string // the keys of each array that has a constant as a key
}

// A table of an enumeration, such as that of the names of its values, is keyed by its constants, and has a line for each.
// So a new value is a constant and a line of the table, at any place, and the length of the table follows.
func TestATableOfAnEnumerationHasALineForEachValue(t *testing.T) {
	enums, of := map[string]*enumeration{}, map[string]*enumeration{} // by type, and by constant
	for name, file := range libraryFiles(t) {
		for _, list := range enumerationsOf(file) {
			e := &enumeration{constants: list.constants}
			enums[path.Dir(name)+"."+list.of] = e
			for _, c := range list.constants {
				of[path.Dir(name)+"."+c] = e
			}
		}
	}
	for name, file := range libraryFiles(t) {
		for _, keys := range keyedArrays(file) {
			for _, key := range keys {
				if e := of[path.Dir(name)+"."+key]; e != nil {
					e.tables = append(e.tables, keys)
					break
				}
			}
		}
		for _, plain := range plainNames(file) {
			assert.Fail(t, "names without the constants as keys", "%s: %s", name, plain)
		}
	}
	tables := 0
	for name, e := range enums {
		for _, keys := range e.tables {
			tables++
			assert.ElementsMatch(t, e.constants, keys, "the constants and a table of %s", name)
		}
	}
	assert.Greater(t, tables, 40, "the test finds the tables")
}

// constants are the exported constants of a type in one block.
type constants struct {
	of        string
	constants []string
}

// enumerationsOf lists the types of a file that have constants by iota.
func enumerationsOf(file *ast.File) (list []constants) {
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok.String() != "const" {
			continue
		}
		block := constants{}
		for _, spec := range decl.Specs {
			v := spec.(*ast.ValueSpec)
			if as, ok := v.Type.(*ast.Ident); ok {
				block.of = as.Name // constants after the first inherit it
			}
			for _, name := range v.Names {
				if name.IsExported() {
					block.constants = append(block.constants, name.Name)
				}
			}
		}
		first := decl.Specs[0].(*ast.ValueSpec)
		if block.of != "" && len(first.Values) == 1 && strings.HasPrefix(exprText(first.Values[0]), "iota") {
			list = append(list, block)
		}
	}
	return list
}

// exprText returns the leftmost name of an expression such as iota + 1.
func exprText(e ast.Expr) string {
	if b, ok := e.(*ast.BinaryExpr); ok {
		return exprText(b.X)
	}
	return rootName(e)
}

// arrays calls do with each array of the package level, its name and its literal.
func arrays(file *ast.File, do func(name string, list *ast.CompositeLit)) {
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok.String() == "var" {
			for _, spec := range decl.Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Values) != 1 {
					continue
				}
				if list, ok := v.Values[0].(*ast.CompositeLit); ok {
					do(v.Names[0].Name, list)
				}
			}
		}
	}
}

// keyedArrays lists the keys of each array that has names as keys.
func keyedArrays(file *ast.File) (all [][]string) {
	arrays(file, func(_ string, list *ast.CompositeLit) {
		var keys []string
		for _, e := range list.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					keys = append(keys, key.Name)
				}
			}
		}
		if len(keys) > 0 {
			all = append(all, keys)
		}
	})
	return all
}

// plainNames lists the variables such as reasonNames that have a name without a key.
func plainNames(file *ast.File) (plain []string) {
	arrays(file, func(name string, list *ast.CompositeLit) {
		isPlain := func(e ast.Expr) bool {
			_, keyed := e.(*ast.KeyValueExpr)
			return !keyed
		}
		if strings.HasSuffix(name, "Names") && slices.ContainsFunc(list.Elts, isPlain) {
			plain = append(plain, name)
		}
	})
	return plain
}
