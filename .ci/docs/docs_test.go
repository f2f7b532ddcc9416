package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a repository without faults.
var small = map[string]string{
	"clone/count.go": `// Package clone counts.
//
//	fmt.Println(clone.Count())
//	// keep not-slow remaining=1s
package clone

// Config has a [Config.Risk], as [Count] reads it, and a [time.Duration].
type Config struct { Risk, P float64; inner }
type Policy interface { Decide() }
func (c *Config) Validate() error { return nil }
func Count() {}
const Off = -1
`,
	"clone/paper_test.go": "package clone\nfunc TestCount_32() {}\n",
	"clone/example_count_test.go": `package clone

// How many? A second sentence.
func ExampleCount() {
	// Output:
	// keep not-slow remaining=1s
}
`,
	"docs/papers/dolly.md": paperColumns + `
|---|---|---|---|---|---|
| 3.2 | count | ` + "`clone.Count`" + ` | same | [TestCount_32](../../clone/paper_test.go) | |
`,
	"docs/glossary.md": "| term | meaning | word | in the code |\n|---|---|---|---|\n| count | clones | | `clone.Count` |\n",
	"docs/clones.md":   "The [code](../clone/count.go#L3) has `clone.Count(3)` and `time.Duration`.\n",
	"docs/examples.md": indexHead + "\n## clone\n\n- [How many?](../clone/example_count_test.go)\n",
}

// faults runs all checks on the small repository in which one text of one file is replaced.
func faults(t *testing.T, file, from, to string) string {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range small {
		if name == file {
			require.Contains(t, text, from, name)
			text = strings.Replace(text, from, to, 1)
		}
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := read(files)
	require.NoError(t, err)
	for _, c := range checks {
		c.run(r)
	}
	return strings.Join(r.faults, "\n")
}

func TestARepositoryWithoutFaultsPasses(t *testing.T) {
	assert.Empty(t, faults(t, "", "", ""))
	r, err := read(fstest.MapFS{"clone/count.go": {Data: []byte(small["clone/count.go"])}})
	require.NoError(t, err)
	assert.Equal(t, 3, r.docLinks())
	assert.Equal(t, 1, r.printedLines())
}

func TestEachCheckNamesTheLineOfItsFault(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"clone/count.go", "[Config.Risk]", "[Config.Share]", "clone/count.go:7: [Config.Share] is a link"},
		{"clone/count.go", "[Count]", "[Counts]", "clone/count.go:7: [Counts] is a link"},
		{"clone/count.go", "[time.Duration]", "[clone.Duration]", "clone/count.go:7: [clone.Duration] is a link"},
		{"clone/count.go", "remaining=1s", "remaining=2s", "clone/count.go:4: no example of the package prints"},
		{"clone/example_count_test.go", "remaining=1s", "remaining=2s", "clone/count.go:4: no example of the package prints"},
		{"clone/example_count_test.go", "How many?", "How much?", "docs/examples.md:8: the examples want"},
		{"clone/example_count_test.go", "// How many? A second sentence.", "", "clone/example_count_test.go:4: ExampleCount has no comment"},
		{"clone/example_count_test.go", "ExampleCount", "TestCount", "clone/example_count_test.go: the file has no example"},
		{"docs/examples.md", "- [How many?](../clone/example_count_test.go)\n", "", "docs/examples.md:8: the examples want"},
		{"docs/examples.md", "test.go)\n", "test.go)\nmore\n", "docs/examples.md:9: the examples want \"\" here"},
		{"docs/clones.md", "count.go", "counts.go", "docs/clones.md:1: a link to ../clone/counts.go"},
		{"docs/clones.md", "../clone", "../../clone", "docs/clones.md:1: a link to ../../clone/count.go"},
		{"docs/clones.md", "clone.Count", "clone.Counts", "docs/clones.md:1: clone.Counts does not exist"},
		{"docs/glossary.md", "clone.Count", "clone.Counts", "docs/glossary.md:3: clone.Counts does not exist"},
		{"docs/glossary.md", " | |", " |", "docs/glossary.md:3: the row has 3 cells"},
		{"docs/papers/dolly.md", "| § ", "| section ", "docs/papers/dolly.md: the page has no table"},
	} {
		assert.Contains(t, faults(t, c.file, c.from, c.to), c.want, "%s: %q becomes %q", c.file, c.from, c.to)
	}
}

// A row of a paper's table is compared with its verdict and with the source.
func TestRowsOfPapers(t *testing.T) {
	const page, link = "docs/papers/dolly.md", "[TestCount_32](../../clone/paper_test.go)"
	const row = "| 3.2 | count | `clone.Count` | same | " + link + " | |"
	for _, good := range []string{
		"| 3.2 | count | `clone.Config.Risk`, `clone.Config.Validate`, `clone.Policy.Decide` | deviates | " + link + " | ours |",
		"| 3.2 | heartbeats | | host | | it has them |",
		row + "\n| 3.3 | count | `clone.Count` | same | " + link + " | |",
	} {
		assert.Empty(t, faults(t, page, row, good), "the row is good: %s", good)
	}
	const count = "| 3.2 | count |"
	for bad, want := range map[string]string{
		count + " `clone.Count` | same | " + link + " |":                                   "5 cells",
		"| | count | `clone.Count` | same | " + link + " | |":                              "a section",
		count + " `clone.Count` | equal | " + link + " | |":                                "verdict",
		count + " clone.Count | same | " + link + " | |":                                   "a symbol",
		count + " `clone.Count` | same | TestCount_32 | |":                                 "a link",
		count + " `clone.Count` | deviates | " + link + " | |":                             "a reason",
		count + " `clone.Counts` | same | " + link + " | |":                                "clone.Counts does not exist",
		count + " `clone.Config.Share` | same | " + link + " | |":                          "clone.Config.Share does not exist",
		count + " `clones.Count` | same | " + link + " | |":                                "no package of clones.Count",
		count + " `Count` | same | " + link + " | |":                                       "is no symbol",
		count + " `clone.Count` | same | [TestCount_33](../../clone/paper_test.go) | |":    "TestCount_33 does not exist",
		count + " `clone.Count` | same | [TestCount_32](../../clone/property_test.go) | |": "clone/paper_test.go",
	} {
		found := faults(t, page, row, bad)
		assert.Contains(t, found, want, "the row is bad: %s", bad)
		assert.Contains(t, found, page+":3: ", "the row is bad: %s", bad)
	}
	assert.Contains(t, faults(t, page, row, row+"\n"+row), page+":4: the row is the same as that of line 3")
}

// A name that several packages have needs its directory.
func TestANameOfSeveralPackagesNeedsItsDirectory(t *testing.T) {
	r, err := read(fstest.MapFS{
		"clone/rules/a.go":   {Data: []byte("package rules\nfunc A() {}\n")},
		"restart/rules/b.go": {Data: []byte("package rules\nfunc B() {}\n")},
	})
	require.NoError(t, err)
	assert.Equal(t, ambiguous, r.symbol("rules.A"))
	assert.Contains(t, r.explain("rules.A", ambiguous), "give the directory")
	assert.Equal(t, fine, r.symbol("restart/rules.B"))
	assert.Equal(t, undeclared, r.symbol("restart/rules.A"))
}
