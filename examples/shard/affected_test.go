package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository makes a module in a repository of git: b needs a, the tests of c need b, and d needs nothing.
func repository(t *testing.T) (git func(...string)) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", built)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOMAXPROCS", "1") // many short calls of go list; each would wake threads for nothing
	git = func(args ...string) {
		out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	for file, text := range map[string]string{
		"go.mod":            "module m\n\ngo 1.25\n",
		"a/a.go":            "package a\n",
		"b/b.go":            "package b\nimport _ \"m/a\"\n",
		"b/b_test.go":       "package b_test\nimport \"testing\"\nfunc TestB(t *testing.T) {}\n",
		"c/c.go":            "package c\n",
		"c/c_test.go":       "package c_test\nimport (\"testing\"; _ \"m/b\")\nfunc TestC(t *testing.T) {}\n",
		"d/d.go":            "package d\n",
		"d/testdata/x/x.go": "package x\n",
		"other/o.go":        "package o\n",
	} {
		put(t, file, text)
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "x")
	git("checkout", "-qb", "branch")
	return git
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if at := strings.LastIndexByte(file, '/'); at > 0 {
		require.NoError(t, os.MkdirAll(file[:at], 0o755))
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// A change reaches the packages that need the changed package, also by their tests. A change that belongs to no package
// reaches all. Two of the changes are made in a repository, one of them is committed; with STRAGGLER_LIVES all changes
// are made, committed and not.
func TestAffected(t *testing.T) {
	git := repository(t)
	root, err := filepath.EvalSymlinks(".")
	require.NoError(t, err)
	root, err = filepath.Abs(root)
	require.NoError(t, err)
	packages := []string{"./a", "./b", "./c", "./d"}
	before, err := list(t.Context(), "", packages)
	require.NoError(t, err)
	g, err := newGraph(t.Context(), root, "", before)
	require.NoError(t, err)
	for i, c := range []struct {
		file    string
		reached []string
	}{
		{"a/a.go", []string{"m/a", "m/b", "m/c"}},
		{"b/b_test.go", []string{"m/b", "m/c"}},
		{"c/c_test.go", []string{"m/c"}},
		{"d/new.go", []string{"m/d"}},
		{"d/testdata/x/x.go", []string{"m/d"}},
		{"d/some/file.txt", []string{"m/d"}},
		{"other/o.go", nil},
		{"go.mod", []string{"m/a", "m/b", "m/c", "m/d"}},
		{"d/go.sum", []string{"m/a", "m/b", "m/c", "m/d"}},
		{"README.md", []string{"m/a", "m/b", "m/c", "m/d"}},
	} {
		left, skipped := g.reach([]string{filepath.Join(root, c.file)}, before)
		assert.Equal(t, c.reached, paths(left), c.file)
		assert.Equal(t, 4-len(left), skipped)
		for _, committed := range []bool{false, true} {
			if !long && (i > 1 || committed != (i > 0)) {
				continue
			}
			text, _ := os.ReadFile(c.file)
			put(t, c.file, "// changed\n"+string(text))
			if c.file == "go.mod" || c.file == "d/new.go" {
				put(t, c.file, string(text)+"package d\n"[:10*strings.Count(c.file, "new")]+"// changed\n")
			}
			if committed {
				git("add", ".")
				git("commit", "-qm", "y")
			}
			sources, err := list(t.Context(), "", packages)
			require.NoError(t, err)
			left, skipped, err := affected(t.Context(), "main", "", "", sources)
			require.NoError(t, err)
			assert.Equal(t, c.reached, paths(left), c.file)
			assert.Equal(t, 4-len(left), skipped)
			git("reset", "-q", "--hard", "main")
			git("clean", "-fdq")
		}
	}
}

func paths(sources []source) (paths []string) {
	for _, s := range sources {
		paths = append(paths, s.path)
	}
	return paths
}

// A change on the other branch is no change of this one. A renamed file and a new name with spaces count.
func TestAffectedByGit(t *testing.T) {
	git := repository(t)
	git("checkout", "-q", "main")
	put(t, "a/a.go", "package a\n// on main\n")
	git("commit", "-qam", "z")
	git("checkout", "-q", "branch")
	put(t, "c/a file.txt", "x")
	git("mv", "d/testdata/x/x.go", "c/x.txt")
	_, files, err := changed(t.Context(), "main")
	require.NoError(t, err)
	for i, want := range []string{"c/x.txt", "d/testdata/x/x.go", "c/a file.txt"} {
		require.Len(t, files, 3)
		assert.True(t, strings.HasSuffix(files[i], want), "a renamed file is under both names: %v", files)
	}
	plan := func(args ...string) (string, int) {
		var out, complaint bytes.Buffer
		code := command(t.Context(), append([]string{"plan", "-n", "1"}, args...), nil, &out, &complaint)
		return out.String() + complaint.String(), code
	}
	out, code := plan("-affected", "main", "./...")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "No change reaches 3 further packages.\n")
	out, code = plan("-affected", "nowhere", "./...")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, `-affected is "nowhere", which has no commit in common with HEAD here; `+
		`a clone may need git fetch --unshallow: git merge-base`)
	out, code = plan("-affected", "-x", "./...")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, `-affected is "-x", want a commit or a branch of git`)
	git("stash", "-qu")
	out, code = plan("-affected", "branch", "-format", "sh", "./...")
	assert.Zero(t, code)
	assert.Equal(t, "true\n", out)
	out, code = plan("-affected", "branch", "-explain", "./...")
	assert.Zero(t, code)
	assert.Contains(t, out, "There is nothing to run.\n")
	for _, args := range [][]string{{"work", "-queue", t.TempDir() + "/run"}, {"run"}} {
		var out bytes.Buffer
		code := command(t.Context(), append(args, "-affected", "branch", "./..."), nil, &out, &out)
		assert.Zero(t, code, out.String())
		assert.NotContains(t, out.String(), "ok  \t")
	}
	assert.FileExists(t, ".shard", "the history reaches no package, though git does not know it")
	t.Chdir(t.TempDir())
	out, code = plan("-affected", "main", "fmt")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "git rev-parse")
}
