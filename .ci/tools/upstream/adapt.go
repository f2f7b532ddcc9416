package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// absent are the beginnings of the packages that are not compiled. The fake declares what the tests need of them: of
// metrics.Add a metricsAdd.
var absent = []string{
	"k8s.io/kubernetes/", "k8s.io/apiserver/", "k8s.io/component-base/", "k8s.io/api/scheduling/",
}

// standIns are names of packages that are compiled, in the place of which the fake declares another.
var standIns = map[string]string{
	"clientset.NewForConfigOrDie":               "newForConfigOrDie",
	"jobcontroller.DefaultJobPodFailureBackOff": "firstBackoff", // of the controller
	"jobcontroller.MaxJobPodFailureBackOff":     "maxBackoff",
}

func quote(text string) string { return regexp.QuoteMeta(text) }

// adapt makes upstream's suite a file of the controller's package. It leaves out the functions that the fake declares, and
// those that need anything that the fake does not declare. tests are all of upstream's.
func adapt(source, fake []byte) (adapted []byte, tests []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "job_test.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	stand, err := parser.ParseFile(token.NewFileSet(), "fake_test.go", fake, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	a := &adaption{set: set, file: file, declared: declared(stand), left: map[string]bool{}}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
			tests = append(tests, f.Name.Name)
		}
	}
	a.leaveOut()
	adapted, err = a.write(source)
	return adapted, tests, err
}

type adaption struct {
	set      *token.FileSet
	file     *ast.File
	declared map[string]bool // by the fake
	left     map[string]bool // functions that are left out
	edits    []edit
}

// edit replaces a part of the source.
type edit struct {
	from, to token.Pos
	text     string
}

// declared are the names that a file declares.
func declared(file *ast.File) map[string]bool {
	names := map[string]bool{"firstBackoff": true, "maxBackoff": true}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	return names
}

// imported is what a file calls a package.
func imported(spec *ast.ImportSpec) (name, of string) {
	of = strings.Trim(spec.Path.Value, `"`)
	if spec.Name != nil {
		return spec.Name.Name, of
	}
	name = path.Base(of)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(of))
	}
	return name, of
}

// names calls f with each name of a package in a part of the file.
func names(in ast.Node, f func(s *ast.SelectorExpr, pkg string)) {
	ast.Inspect(in, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				f(s, id.Name)
			}
		}
		return true
	})
}

// stand is the name in the place of one of a package, or "" if that is compiled.
func (a *adaption) stand(pkg, name string) string {
	if is := standIns[pkg+"."+name]; is != "" {
		return is
	}
	for _, spec := range a.file.Imports {
		is, of := imported(spec)
		if is == pkg && slices.ContainsFunc(absent, func(p string) bool { return strings.HasPrefix(of, p) }) {
			return pkg + name
		}
	}
	return ""
}

// leaveOut finds the functions that can't be compiled, or of which the fake has its own.
func (a *adaption) leaveOut() {
	for more := true; more; {
		more = false
		for _, d := range a.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || a.left[f.Name.Name] {
				continue
			}
			out := f.Recv == nil && a.declared[f.Name.Name] || strings.HasPrefix(f.Name.Name, "Benchmark")
			names(f, func(s *ast.SelectorExpr, pkg string) {
				is := a.stand(pkg, s.Sel.Name)
				out = out || is != "" && !a.declared[is]
			})
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id != f.Name {
					out = out || a.left[id.Name] && !a.declared[id.Name]
				}
				return true
			})
			a.left[f.Name.Name], more = out, more || out
		}
	}
}

// write returns the source with all changes.
func (a *adaption) write(source []byte) ([]byte, error) {
	a.change(a.file.Name.Pos(), a.file.Name.End(), "jobs")
	used := map[string]bool{}
	for _, d := range a.file.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		if isFunc && a.left[f.Name.Name] {
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			a.change(from, f.End(), "")
			continue
		}
		names(d, func(s *ast.SelectorExpr, pkg string) {
			if is := a.stand(pkg, s.Sel.Name); is != "" {
				a.change(s.Pos(), s.End(), is)
			} else {
				used[pkg] = true
			}
		})
	}
	for _, spec := range a.file.Imports {
		if name, _ := imported(spec); !used[name] {
			a.change(spec.Pos(), spec.End(), "")
		}
	}
	slices.SortFunc(a.edits, func(x, y edit) int { return cmp.Compare(x.from, y.from) })
	base, at := a.file.FileStart, 0
	var out strings.Builder
	out.WriteString("//go:build go1.26\n\n") // upstream writes for a newer Go than the module names
	for _, e := range a.edits {
		from, to := int(e.from-base), int(e.to-base)
		if from < at {
			return nil, fmt.Errorf("%v: changed twice", a.set.Position(e.from))
		}
		out.Write(source[at:from])
		out.WriteString(e.text)
		at = to
	}
	out.Write(source[at:])
	return format.Source([]byte(out.String()))
}

func (a *adaption) change(from, to token.Pos, text string) {
	a.edits = append(a.edits, edit{from, to, text})
}
