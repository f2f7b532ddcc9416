package main

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// docLink matches a reference in a doc comment: [Name], [Type.Name], [package.Name] or [package.Type.Name]. An address
// must not follow it.
var docLink = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.[A-Z]\w*){0,2})\](?:[^(:\[\w]|$)`)

// docLinks checks each [Name] in a doc comment of a package to import.
func (r *repository) docLinks() (count int) {
	for _, s := range r.source {
		if s.isTest() || s.tree.Name.Name == "main" {
			continue
		}
		for _, group := range docsOf(s.tree) {
			for _, found := range docLink.FindAllStringSubmatch(prose(group.Text()), -1) {
				count++
				if !r.linked(s.dir(), found[1]) {
					r.fault(s.path, r.lineOf(group, found[1]), "[%s] is a link to a name that does not exist", found[1])
				}
			}
		}
	}
	return count
}

// linked reports whether a name in a comment of a directory exists, or is none of this repository's.
func (r *repository) linked(dir, name string) bool {
	pkg, rest, qualified := strings.Cut(name, ".")
	dirs, known := r.dirs[pkg]
	switch {
	case r.symbols[dir][name], token.IsKeyword(name), !qualified && !ast.IsExported(name):
		return true
	case !qualified:
		return false
	case !known:
		return !ast.IsExported(pkg) // a package of another module, or of the standard library
	}
	return slices.ContainsFunc(dirs, func(of string) bool { return r.symbols[of][rest] })
}

// lineOf returns the line of a comment that has the link.
func (r *repository) lineOf(group *ast.CommentGroup, name string) int {
	for _, c := range group.List {
		if strings.Contains(c.Text, name+"]") {
			return r.set.Position(c.Pos()).Line
		}
	}
	return r.set.Position(group.Pos()).Line
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

// pageLink matches a link to a file in a page of Markdown, without the part after #.
var pageLink = regexp.MustCompile(`\]\(([^)\s#:]+)(?:#[^)]*)?\)`)

// pageLinks checks each link of a page to a file or a directory of this repository.
func (r *repository) pageLinks() (count int) {
	for _, p := range r.pages {
		for i, line := range p.lines {
			for _, found := range pageLink.FindAllStringSubmatch(line, -1) {
				count++
				to := path.Join(path.Dir(p.path), found[1])
				if _, err := fs.Stat(r.files, to); err != nil {
					r.fault(p.path, i+1, "a link to %s, which does not exist", found[1])
				}
			}
		}
	}
	return count
}
