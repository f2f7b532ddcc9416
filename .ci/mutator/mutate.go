package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// listed is what the go command says of a package.
type listed struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// load returns the one package of a pattern; imports holds the compiled form of all that it imports.
func load(pattern string) (*source, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Name,Export,GoFiles,DepOnly", pattern)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	s := &source{imports: map[string]string{}, set: token.NewFileSet()}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		s.imports[p.ImportPath] = p.Export
		if !p.DepOnly {
			if s.Name != "" {
				return nil, fmt.Errorf("%s is more than one package", pattern)
			}
			s.listed = p
		}
	}
	return s, s.check()
}

// source is a package with its types.
type source struct {
	listed
	imports map[string]string
	set     *token.FileSet
	files   []*ast.File
	info    types.Info
}

func (s *source) check() error {
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(s.set, filepath.Join(s.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		s.files = append(s.files, f)
	}
	s.info = types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	c := types.Config{Importer: importer.ForCompiler(s.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(s.imports[path])
	})}
	_, err := c.Check(s.ImportPath, s.set, s.files, &s.info)
	return err
}

// mutant is one change.
type mutant struct {
	id          int
	at          token.Pos
	where, what string
}

// edit puts text at an offset of a file, in the place of the next cut bytes.
type edit struct {
	at, cut int
	text    string
}

// mutate writes the package with all changes in it to dir, and returns the changes and the overlay of the build.
func mutate(s *source, dir string) (all []mutant, overlay string, err error) {
	replace := map[string]string{}
	for i, f := range s.files {
		name := filepath.Join(s.Dir, s.GoFiles[i])
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, "", err
		}
		w := walker{source: s, file: s.set.File(f.Pos()), text: text, all: all}
		ast.Inspect(f, w.visit)
		all = w.all
		replace[name] = filepath.Join(dir, s.GoFiles[i])
		if err := os.WriteFile(replace[name], w.edited(), 0o600); err != nil {
			return nil, "", err
		}
	}
	name := filepath.Join(s.Dir, "zz_mutant.go")
	replace[name] = filepath.Join(dir, "zz_mutant.go")
	if err := os.WriteFile(replace[name], []byte("package "+s.Name+switches), 0o600); err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return all, overlay, os.WriteFile(overlay, text, 0o600)
}

// edited returns the text with all edits. Of two that begin at one place, the one made first stands first if it opens an
// expression, and last if it closes one; edits are made from the outside in.
func (w *walker) edited() []byte {
	slices.SortStableFunc(w.opening, func(a, b edit) int { return a.at - b.at })
	slices.Reverse(w.closing)
	slices.SortStableFunc(w.closing, func(a, b edit) int { return a.at - b.at })
	var out []byte
	at := 0
	for len(w.opening)+len(w.closing) > 0 {
		list := &w.opening
		if len(w.opening) == 0 || len(w.closing) > 0 && w.closing[0].at <= w.opening[0].at {
			list = &w.closing
		}
		e := (*list)[0]
		*list = (*list)[1:]
		out = append(append(out, w.text[at:e.at]...), e.text...)
		at = e.at + e.cut
	}
	return append(out, w.text[at:]...)
}
