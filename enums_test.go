package straggler_test

import (
	"go/ast"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every value of an enumeration has a name. For example, there are as many constants of type Reason as names in
// reasonNames.
func TestEveryValueOfAnEnumerationHasAName(t *testing.T) {
	constants, names := map[string]int{}, map[string]int{}
	for name, file := range libraryFiles(t) {
		dir := path.Dir(name)
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			of := "" // the type of the constants; constants after the first inherit it
			for _, spec := range decl.Specs {
				v, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				if list, ok := namesOf(v); ok {
					names[dir+"."+strings.TrimSuffix(v.Names[0].Name, "Names")] = len(list.Elts)
				}
				if as, ok := v.Type.(*ast.Ident); ok {
					of = dir + "." + strings.ToLower(as.Name[:1]) + as.Name[1:]
				}
				if decl.Tok.String() == "const" && of != "" {
					for _, name := range v.Names {
						if name.IsExported() { // an unexported constant is the number of constants
							constants[of]++
						}
					}
				}
			}
		}
	}
	assert.Greater(t, len(names), 25, "the test finds the enumerations")
	for of, n := range names {
		assert.Equal(t, constants[of], n, "the constants and the names of %s differ in number", of)
	}
}

// namesOf returns the list of a variable such as reasonNames.
func namesOf(v *ast.ValueSpec) (*ast.CompositeLit, bool) {
	if !strings.HasSuffix(v.Names[0].Name, "Names") || len(v.Values) != 1 {
		return nil, false
	}
	list, ok := v.Values[0].(*ast.CompositeLit)
	return list, ok
}
