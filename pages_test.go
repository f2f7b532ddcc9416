package straggler_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mostNames is how many exported names a package's page may have: types, functions, their methods, constants and
// variables, less the methods by which a value prints, logs and marshals. A page that grows beyond it is two pages.
const mostNames = 80

func TestPagesAreReadable(t *testing.T) {
	names := map[string]int{}
	for name, file := range libraryFiles(t) {
		dir := path.Dir(name)
		if !strings.HasPrefix(dir, "internal") {
			names[dir] += exported(file)
		}
	}
	for dir, n := range names {
		assert.LessOrEqual(t, n, mostNames, "%s: the page has too many names", dir)
	}
}

func exported(file *ast.File) (n int) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && (decl.Recv == nil || ast.IsExported(receiverOf(decl)) && !writes(decl.Name.Name)) {
				n++
			}
		case *ast.GenDecl:
			if decl.Tok == token.IMPORT {
				continue
			}
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// writes reports whether a method is one of those that each printed or stored type has.
func writes(method string) bool {
	return method == "String" || method == "LogValue" || strings.HasPrefix(method, "Marshal") || strings.HasPrefix(method, "Unmarshal")
}

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
