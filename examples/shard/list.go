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
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is a package and its tests, as the source files have them now.
type source struct {
	path string
	// tests are the names of the tests in the test files, in order. lines is the number of lines of the test files.
	// seen is false if the files are not known.
	seen  bool
	tests []string
	lines int
}

// testFunction matches the start of a test, an example or a fuzz test. As in go test, the word Test, Example or Fuzz
// must not be followed by a lower-case letter.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)(?:[^\s\p{Ll}(][^\s(]*)?)\(`)

// list returns the packages that go list finds, with the build tags of the flags.
func list(ctx context.Context, flags string, patterns []string) ([]source, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	args := append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, tags(flags)...)
	out, err := output(ctx, "", "go", append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
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

// tags returns the flags of go test that choose build tags.
func tags(flags string) (tags []string) {
	for _, flag := range strings.Fields(flags) {
		if strings.HasPrefix(strings.TrimLeft(flag, "-"), "tags=") {
			tags = append(tags, flag)
		}
	}
	return tags
}

// read adds the tests and lines of a test file.
func (s *source) read(text []byte, is map[string]bool) {
	s.lines += bytes.Count(text, []byte("\n"))
	for _, found := range testFunction.FindAllSubmatch(text, -1) {
		if test := string(found[1]); test != "TestMain" && !is[test] {
			is[test] = true
			s.tests = append(s.tests, test)
		}
	}
}

// named reads paths of packages, one in a line. Nothing else is known of these packages.
func named(in io.Reader) ([]source, error) {
	text, err := io.ReadAll(in)
	var sources []source
	for _, path := range strings.Fields(string(text)) {
		sources = append(sources, source{path: path})
	}
	return unique(sources), err
}

// unique sorts the packages by path and removes duplicates.
func unique(sources []source) []source {
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(a.path, b.path) })
	return slices.CompactFunc(sources, func(a, b source) bool { return a.path == b.path })
}
