package straggler_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// link matches a reference in a doc comment: [Name], [Type.Name], [package.Name] or [package.Type.Name]. An address
// must not follow it.
var link = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.[A-Z]\w*){0,2})\](?:[^(:\[\w]|$)`)

// names are the exported names of a package: "Name" and "Type.Name", with fields and methods.
type names map[string]bool

// Every [Name] in a doc comment refers to a name that exists.
func TestDocLinks(t *testing.T) {
	set := token.NewFileSet()
	byDir, byName := map[string][]*ast.File{}, map[string]names{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err == nil && f.Name.Name != "main" {
			byDir[filepath.Dir(path)] = append(byDir[filepath.Dir(path)], f)
		}
		return err
	}))
	require.Greater(t, len(byDir), 30, "the test finds the packages")
	for _, files := range byDir {
		byName[files[0].Name.Name] = declared(files)
	}
	for _, files := range byDir {
		own := declared(files)
		for _, f := range files {
			for _, group := range docsOf(f) {
				for _, found := range link.FindAllStringSubmatch(prose(group.Text()), -1) {
					name := found[1]
					pkg, rest, qualified := strings.Cut(name, ".")
					switch other, known := byName[pkg]; {
					case own[name], token.IsKeyword(name), !qualified && !ast.IsExported(name):
					case qualified && !ast.IsExported(pkg) && !known: // a name of another module, or of the standard library
					case qualified && known && other[rest]:
					default:
						assert.Fail(t, "a link to a name that does not exist", "%s: [%s]", set.Position(group.Pos()), name)
					}
				}
			}
		}
	}
}

// pageLink matches a link to a file in a page of Markdown, without the part after #.
var pageLink = regexp.MustCompile(`\]\(([^)\s#:]+)(?:#[^)]*)?\)`)

// Every link of a page to a file of this repository leads to a file or a directory that exists.
func TestPageLinks(t *testing.T) {
	links := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range pageLink.FindAllSubmatch(text, -1) {
			links++
			to := filepath.Join(filepath.Dir(path), string(found[1]))
			_, err := os.Stat(to)
			assert.NoError(t, err, "%s: a link to %s", path, found[1])
		}
		return err
	}))
	require.Greater(t, links, 300, "the test finds the links")
}

// prose returns the text of a comment without indented lines, which are code.
func prose(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// docsOf lists the comments that the documentation shows: of the package, of exported declarations, and of their
// fields.
func docsOf(f *ast.File) (groups []*ast.CommentGroup) {
	add := func(list ...*ast.CommentGroup) {
		for _, g := range list {
			if g != nil {
				groups = append(groups, g)
			}
		}
	}
	add(f.Doc)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				add(d.Doc)
			}
		case *ast.GenDecl:
			add(d.Doc)
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Field:
					add(n.Doc, n.Comment)
				case *ast.TypeSpec:
					add(n.Doc)
					return n.Name.IsExported()
				case *ast.ValueSpec:
					add(n.Doc, n.Comment)
				}
				return true
			})
		}
	}
	return groups
}

// declared lists the names that a package declares.
func declared(files []*ast.File) names {
	all := names{}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d.Recv.List[0].Type) + "." + name
				}
				all[name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, n := range s.Names {
							all[n.Name] = true
						}
					case *ast.TypeSpec:
						all[s.Name.Name] = true
						members(all, s)
					}
				}
			}
		}
	}
	return all
}

// members adds the named fields of a struct, or the methods of an interface.
func members(all names, s *ast.TypeSpec) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, n := range field.Names {
			all[s.Name.Name+"."+n.Name] = true
		}
	}
}
