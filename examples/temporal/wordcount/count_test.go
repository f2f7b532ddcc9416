package wordcount

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// text generates a little of it.
func text(t *testing.T, seed uint64, sizes ...int) []string {
	t.Helper()
	names, err := Generate(t.TempDir(), sizes, seed)
	require.NoError(t, err)
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

func TestGenerate(t *testing.T) {
	once, again, other := text(t, 1, 5000, 20000), text(t, 1, 5000, 20000), text(t, 2, 5000)
	assert.Equal(t, read(t, once[1]), read(t, again[1]), "the same seed, the same text")
	assert.NotEqual(t, read(t, once[0]), read(t, other[0]))
	assert.InDelta(t, 20000, len(read(t, once[1])), 20, "up to a word")
}

func TestEveryNumberHasItsOwnWord(t *testing.T) {
	seen := map[string]int{}
	for n := range vocabulary {
		before, ok := seen[word(n)]
		require.False(t, ok, "%d and %d are both %q", before, n, word(n))
		seen[word(n)] = n
	}
}

func TestCountFiles(t *testing.T) {
	names := text(t, 3, 30000, 100)
	want := Counts{}
	for _, name := range names {
		noLetter := func(r rune) bool { return !unicode.IsLetter(r) }
		for _, w := range strings.FieldsFunc(strings.ToLower(read(t, name)), noLetter) {
			want[w]++
		}
	}
	got, err := CountFiles(names)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	_, err = CountFiles([]string{names[0] + ".missing"})
	assert.Error(t, err)
}

func TestWordsAreUnevenlyFrequent(t *testing.T) {
	counts, err := CountFiles(text(t, 1, 100000))
	require.NoError(t, err)
	assert.Greater(t, counts[word(0)], counts.Total()/50)
	assert.Greater(t, len(counts), 1000)
}

func TestSplitWriteAndAddLoseNothing(t *testing.T) {
	counts, err := CountFiles(text(t, 1, 50000))
	require.NoError(t, err)
	sum, used := Counts{}, 0
	for _, part := range counts.Split(7) {
		var b bytes.Buffer
		n, err := part.WriteTo(&b)
		require.NoError(t, err)
		assert.EqualValues(t, b.Len(), n)
		require.NoError(t, sum.Add(&b))
		used += len(part)
	}
	assert.Equal(t, counts, sum)
	assert.Equal(t, len(counts), used, "no word is in two partitions")
	assert.ErrorContains(t, sum.Add(strings.NewReader("two words\n")), `"two words"`)
}

func TestDiff(t *testing.T) {
	want := Counts{"a": 1, "b": 2}
	assert.Empty(t, Counts{"a": 1, "b": 2}.Diff(want))
	assert.Equal(t, []string{`"c": counted 1, is 0`, `"b": counted 0, is 2`}, Counts{"a": 1, "c": 1}.Diff(want))
	assert.Equal(t, []string{`"a": counted 2, is 1`}, Counts{"a": 2, "b": 2}.Diff(want))
}
