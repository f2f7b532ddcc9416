package straggler_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewriteIndex = flag.Bool("index", false, "write docs/examples.md anew")

const indexHead = `# Examples by question

Each example is a file of its own, shows one feature, and runs as a test: ` + "`go test -run Example ./...`" + `. The list follows the
packages. ` + "`go test . -run TestIndexOfExamples -index`" + ` writes it from the comments of the examples.
`

// The index has the first sentence of each example that has a file of its own, in the order of the packages.
func TestIndexOfExamples(t *testing.T) {
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if d.IsDir() && (name == "examples" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return filepath.SkipDir
		}
		if strings.HasPrefix(d.Name(), "example_") && strings.HasSuffix(name, "_test.go") && path.Dir(name) != "." {
			files = append(files, filepath.ToSlash(name))
		}
		return err
	}))
	slices.SortFunc(files, func(a, b string) int {
		if d := strings.Compare(path.Dir(a), path.Dir(b)); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	assert.GreaterOrEqual(t, len(files), 100)
	text, room := indexHead, ""
	for _, name := range files {
		if dir := path.Dir(name); dir != room {
			room = dir
			text += fmt.Sprintf("\n## %s\n\n", dir)
		}
		text += fmt.Sprintf("- [%s](../%s)\n", firstSentence(t, name), name)
	}
	if *rewriteIndex {
		require.NoError(t, os.WriteFile("docs/examples.md", []byte(text), 0o644))
	}
	page, err := os.ReadFile("docs/examples.md")
	require.NoError(t, err)
	assert.Equal(t, text, string(page))
}

var sentenceEnd = regexp.MustCompile(`[.?]\s`)

// firstSentence returns the first sentence above the first example of a file.
func firstSentence(t *testing.T, name string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	require.NoError(t, err)
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Example") {
			doc := strings.Join(strings.Fields(f.Doc.Text()), " ") + " "
			end := sentenceEnd.FindStringIndex(doc)
			require.NotNil(t, end, "%s: %s has no comment that says what it shows", name, f.Name.Name)
			return doc[:end[0]+1]
		}
	}
	require.Fail(t, "no example", name)
	return ""
}
