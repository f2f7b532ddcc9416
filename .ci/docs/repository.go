package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// repository holds the sources and the pages, and the faults that the checks found.
type repository struct {
	files  fs.FS
	set    *token.FileSet
	source []source
	pages  []page

	symbols map[string]map[string]bool // by directory: Name or Type.Member, without tests
	dirs    map[string][]string        // directories, by the name of their package
	tests   map[string][]string        // by name of a test: the files that have it

	faults []string
}

// source is a file of Go.
type source struct {
	path string
	text string
	tree *ast.File
}

// page is a file of Markdown.
type page struct {
	path  string
	lines []string
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// read parses all sources and pages below the root, without testdata and without directories that begin with a dot.
func read(files fs.FS) (*repository, error) {
	r := &repository{
		files: files, set: token.NewFileSet(),
		symbols: map[string]map[string]bool{}, dirs: map[string][]string{}, tests: map[string][]string{},
	}
	return r, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			r.pages = append(r.pages, page{name, strings.Split(string(text), "\n")})
			return nil
		}
		tree, err := parser.ParseFile(r.set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		r.source = append(r.source, source{name, string(text), tree})
		r.declare(name, tree)
		return nil
	})
}

// fault notes a fault; the line 0 is the whole file.
func (r *repository) fault(file string, line int, format string, args ...any) {
	if line > 0 {
		file = fmt.Sprintf("%s:%d", file, line)
	}
	r.faults = append(r.faults, file+": "+fmt.Sprintf(format, args...))
}

// declare adds the declarations of a file.
func (r *repository) declare(name string, tree *ast.File) {
	dir, isTest := path.Dir(name), strings.HasSuffix(name, "_test.go")
	if !isTest && r.symbols[dir] == nil {
		r.symbols[dir] = map[string]bool{}
		of := tree.Name.Name
		if of == "main" {
			of = path.Base(dir)
		}
		r.dirs[of] = append(r.dirs[of], dir)
	}
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch {
			case isTest && decl.Recv == nil:
				r.tests[decl.Name.Name] = append(r.tests[decl.Name.Name], name)
			case isTest:
			case decl.Recv == nil:
				r.symbols[dir][decl.Name.Name] = true
			default:
				r.symbols[dir][receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if !isTest {
					declareSpec(r.symbols[dir], spec)
				}
			}
		}
	}
}

// declareSpec adds the names of a type, a constant or a variable, and of the type's members.
func declareSpec(symbols map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			symbols[name.Name] = true
		}
	case *ast.TypeSpec:
		symbols[spec.Name.Name] = true
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
				symbols[spec.Name.Name+"."+name.Name] = true
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

// problem says what is wrong with a name of the code.
type problem int

const (
	fine       problem = iota
	noSymbol           // the text is not of the form package.Name
	noPackage          // the repository has no such package
	ambiguous          // several packages have the name
	undeclared         // the package does not declare the name
)

// symbol looks for a name such as clone.Count or restart/tracker.Config.Lag.
func (r *repository) symbol(text string) problem {
	slash := strings.LastIndexByte(text, '/') + 1
	pkg, name, ok := strings.Cut(text[slash:], ".")
	if !ok || !ast.IsExported(name) {
		return noSymbol
	}
	dirs := r.dirs[pkg]
	if slash > 0 {
		dirs = []string{text[:slash] + pkg}
	}
	switch {
	case len(dirs) == 0 || r.symbols[dirs[0]] == nil:
		return noPackage
	case len(dirs) > 1:
		return ambiguous
	case !r.symbols[dirs[0]][name]:
		return undeclared
	}
	return fine
}

// explain describes the problem of a name.
func (r *repository) explain(text string, p problem) string {
	switch p {
	case noSymbol:
		return fmt.Sprintf("%q is no symbol: want package.Name or package.Type.Member", text)
	case noPackage:
		return "there is no package of " + text
	case ambiguous:
		pkg, _, _ := strings.Cut(text, ".")
		return fmt.Sprintf("%s is the name of several packages, %v: give the directory", pkg, r.dirs[pkg])
	case undeclared:
		return text + " does not exist"
	}
	return ""
}

// testFault returns the fault of a link to a test; "" if the file has the test.
func (r *repository) testFault(name, file string) string {
	switch homes := r.tests[name]; {
	case slices.Contains(homes, file):
		return ""
	case len(homes) == 0:
		return name + " does not exist"
	default:
		return fmt.Sprintf("%s is not in %s, but in %v", name, file, homes)
	}
}
