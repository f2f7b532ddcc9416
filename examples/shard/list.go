package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is a package as it stands.
type source struct {
	path string
	// tests are those of its files, in order, and lines the lines of these; seen is false if its files are not known.
	seen  bool
	tests []string
	lines int
}

// testFunction is the begin of a test, an example or a fuzz test, as go test takes it: what follows the word is no
// small letter.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)(?:[^\s\p{Ll}(][^\s(]*)?)\(`)

// list asks the go command which packages there are, under the tags that the tests are built with.
func list(ctx context.Context, flags string, patterns []string) ([]source, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	args := []string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}
	for _, flag := range strings.Fields(flags) {
		if strings.HasPrefix(strings.TrimLeft(flag, "-"), "tags=") {
			args = append(args, flag)
		}
	}
	args = append(append(args, "--"), patterns...)
	c := exec.CommandContext(ctx, "go", args...)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	var sources []source
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return unique(sources), nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		s, is := source{path: p.ImportPath, seen: true}, map[string]bool{}
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, err
			}
			s.read(text, is)
		}
		sources = append(sources, s)
	}
}

// read takes in a file of tests.
func (s *source) read(text []byte, is map[string]bool) {
	s.lines += bytes.Count(text, []byte("\n"))
	for _, found := range testFunction.FindAllSubmatch(text, -1) {
		if test := string(found[1]); test != "TestMain" && !is[test] {
			is[test] = true
			s.tests = append(s.tests, test)
		}
	}
}

// named are packages of which no more is known than their paths, one in a line.
func named(in io.Reader) ([]source, error) {
	text, err := io.ReadAll(in)
	var sources []source
	for _, path := range strings.Fields(string(text)) {
		sources = append(sources, source{path: path})
	}
	return unique(sources), err
}

// unique puts packages in order, each once.
func unique(sources []source) []source {
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(a.path, b.path) })
	return slices.CompactFunc(sources, func(a, b source) bool { return a.path == b.path })
}
