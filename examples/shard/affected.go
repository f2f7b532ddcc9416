package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// affected removes the packages that no change since a commit of git reaches, and returns their number. A change of a
// file reaches the package of its directory, or of the nearest directory above, and each package that needs this
// package or whose tests need it. A change of go.mod, go.sum, go.work or a file outside of all packages reaches all
// packages. The file of the history, which each run changes, is no change.
func affected(ctx context.Context, ref, flags, history string, sources []source) ([]source, int, error) {
	root, files, err := changed(ctx, ref)
	if err != nil {
		return nil, 0, err
	}
	if own, err := os.Stat(history); err == nil {
		files = slices.DeleteFunc(files, func(file string) bool {
			info, err := os.Stat(file)
			return err == nil && os.SameFile(own, info)
		})
	}
	g, err := newGraph(ctx, root, flags, sources)
	if err != nil {
		return nil, 0, err
	}
	left, skipped := g.reach(files, sources)
	return left, skipped, nil
}

// reach removes the packages that no change of the files reaches, and returns their number.
func (g *graph) reach(files []string, sources []source) (left []source, skipped int) {
	reached := map[string]bool{}
	for _, file := range files {
		packages, all := g.owners(file)
		if all {
			return sources, 0
		}
		for _, pkg := range packages {
			reached[pkg] = true
		}
	}
	left = slices.DeleteFunc(slices.Clone(sources), func(s source) bool {
		return !reached[s.path] && !slices.ContainsFunc(g.needs[s.path], func(pkg string) bool { return reached[pkg] })
	})
	return left, len(sources) - len(left)
}

// output runs a command in a directory and returns its output.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(complaint.String()))
	}
	return out, err
}

// changed returns the directory of the repository, the files that differ from the last commit that HEAD and ref have in
// common, and new files.
func changed(ctx context.Context, ref string) (dir string, files []string, err error) {
	if strings.HasPrefix(ref, "-") {
		return "", nil, usage("-affected is %q, want a commit or a branch of git", ref)
	}
	root, err := output(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", nil, err
	}
	dir = strings.TrimRight(string(root), "\r\n")
	base, err := output(ctx, dir, "git", "merge-base", ref, "HEAD")
	if err != nil {
		return "", nil,
			fmt.Errorf("-affected is %q, which has no commit in common with HEAD here; a clone may need git fetch --unshallow: %w",
				ref, err)
	}
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "-z", strings.TrimSpace(string(base))},
		{"ls-files", "-z", "--others", "--exclude-standard"},
	} {
		out, err := output(ctx, dir, "git", args...)
		if err != nil {
			return "", nil, err
		}
		for _, file := range strings.Split(string(out), "\x00") {
			if file != "" {
				files = append(files, filepath.Join(dir, filepath.FromSlash(file)))
			}
		}
	}
	return dir, files, nil
}

// graph has the packages of each directory, and for each package the packages that it and its tests need.
type graph struct {
	root     string              // the directory of the repository
	packages map[string][]string // by directory
	needs    map[string][]string
}

// newGraph asks go list, which need not ask git for the commit of each program.
func newGraph(ctx context.Context, root, flags string, sources []source) (*graph, error) {
	args := append([]string{"list", "-deps", "-test", "-buildvcs=false", "-json=ImportPath,Dir,Deps,Standard"}, tags(flags)...)
	args = append(args, "--")
	for _, s := range sources {
		args = append(args, s.path)
	}
	out, err := output(ctx, "", "go", args...)
	if err != nil {
		return nil, err
	}
	g := &graph{root, map[string][]string{}, map[string][]string{}}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			Deps            []string
			Standard        bool
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard {
			continue
		}
		// A package may be listed as P, as P [P.test] when it is compiled for a test, and as P.test, the program of its
		// tests.
		path := plainPath(p.ImportPath)
		if dir, err := filepath.EvalSymlinks(p.Dir); err == nil && !slices.Contains(g.packages[dir], path) {
			g.packages[dir] = append(g.packages[dir], path)
		}
		of := strings.TrimSuffix(path, ".test")
		for _, dep := range p.Deps {
			g.needs[of] = append(g.needs[of], plainPath(dep))
		}
	}
}

// plainPath removes the test for which a package is compiled: the path of "P [Q.test]" is P.
func plainPath(listed string) string {
	path, _, _ := strings.Cut(listed, " ")
	return path
}

// owners returns the packages that a file belongs to. all means that the file may belong to all packages.
func (g *graph) owners(file string) (packages []string, all bool) {
	switch filepath.Base(file) {
	case "go.mod", "go.sum", "go.work", "go.work.sum":
		return nil, true
	}
	for dir := filepath.Dir(file); strings.HasPrefix(dir, g.root); dir = filepath.Dir(dir) {
		if found := g.packages[dir]; found != nil {
			return found, false
		}
		if code, _ := filepath.Glob(filepath.Join(dir, "*.go")); len(code) > 0 && !ignored(dir[len(g.root):]) {
			return nil, false // a package that nothing here needs
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil, true
}

// ignored reports whether go list finds no packages in a directory of a repository: such directories hold data.
func ignored(dir string) bool {
	for _, element := range strings.Split(filepath.ToSlash(dir), "/") {
		if element == "testdata" || strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
			return true
		}
	}
	return false
}
