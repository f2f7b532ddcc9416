package trace

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func structural(text string) bool {
	c := cursor{data: []byte(text)}
	c.skip()
	return c.done()
}

// walk passes over a value by stepping into all that it holds, as the decoders do.
func walk(c *cursor) {
	switch c.space() {
	case '{':
		c.fields(func([]byte) { walk(c) })
	case '[':
		c.elements(func() { walk(c) })
	default:
		c.skip()
	}
}

// encoding/json is the oracle: the cursor accepts all that it accepts, and notices damage to the structure.
func TestSkipAgainstEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tokens := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"b\"\\"`, "1", "-2.5e3", "true", "null", " ", "\n", `"`}
	accepted := 0
	for range 300_000 {
		var text strings.Builder
		for range 1 + rng.IntN(9) {
			text.WriteString(tokens[rng.IntN(len(tokens))])
		}
		got, want := structural(text.String()), json.Valid([]byte(text.String()))
		if want {
			accepted++
		}
		// Scalars that touch one another, such as 1true, are the one thing that the cursor does not look into.
		if got != want && !(got && touching(text.String())) {
			t.Fatalf("%q: well-formed %v, want %v", text.String(), got, want)
		}
		c := cursor{data: []byte(text.String())}
		if walk(&c); c.done() != got {
			t.Fatalf("%q: well-formed %v if passed over, else %v", text.String(), got, !got)
		}
	}
	assert.Greater(t, accepted, 10_000)
}

func touching(text string) bool {
	for _, pair := range []string{"11", "1-", "1t", "1n", "31", "3-", "3t", "3n", "e1", "e-", "et", "en", "l1", "l-", "lt", "ln"} {
		if strings.Contains(text, pair) {
			return true
		}
	}
	return false
}

func TestSkipRejects(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a",1}`, `{1:2}`, `{,}`, "[", "[1,", "[1,]", "[1 2]", "[}", `{"a":1]`,
		`"a`, `"a\`, `"a\"`, "\"a\nb\"", "1 2", `{} {}`, "]", ":", `{"Event":"x",_"a":{}}`, strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		assert.False(t, structural(text), "%.40q", text)
	}
	assert.True(t, structural(strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth)))
	assert.True(t, structural(strings.Repeat(`{"a":`, maxDepth)+"NaN"+strings.Repeat("}", maxDepth)), "Spark writes NaN")
}

func TestInteger(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7,": 7, "-1": -1, " 12 ": 12, "999999999999999999": 999999999999999999, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
		"1.9": 1, "-1.9": -1, "1.5e12": 1.5e12, "1E3]": 1000,
	} {
		c := cursor{data: []byte(text)}
		got, ok := c.integer()
		assert.True(t, ok && !c.bad, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{`"7"`, "null", "true", "{}", "[1]", "9223372036854775808", "1e300", "-", "1e", "--1", "NaN", "1-1"} {
		c := cursor{data: []byte(text)}
		_, ok := c.integer()
		assert.False(t, ok, text)
		assert.True(t, c.done(), "%s is passed over", text)
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{`"a"`: "a", `""`: "", `"a\"b\\c"`: `a"b\c`, `"\u00e9"`: "é", `"/r\\.x/n"`: `/r\.x/n`} {
		c := cursor{data: []byte(text)}
		assert.Equal(t, want, string(c.text()), text)
		assert.True(t, c.done())
	}
	c := cursor{data: []byte(`"\q"`)}
	c.text()
	assert.True(t, c.bad)
	c = cursor{data: []byte(`7`)}
	assert.Nil(t, c.text())
	assert.True(t, c.done())
}

// Lines of every length around the sizes of the buffer, with small limits to make all cases happen.
func TestLineReader(t *testing.T) {
	const limit = 64
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var want, text []string
		for range rng.IntN(12) {
			line := strings.Repeat("x", rng.IntN(limit*2))
			text = append(text, line+"\n")
			if len(line) >= limit {
				line = "too long"
			}
			want = append(want, line)
		}
		var got []string
		l := newLineReader(&dribble{rng, []byte(strings.Join(text, ""))}, limit, nil)
		l.buf = l.buf[:1+rng.IntN(limit)]
		for {
			line, end := l.next()
			if end == none {
				break
			}
			if end == tooLong {
				line = []byte("too long")
			}
			got = append(got, string(line))
		}
		require.Equal(t, want, got)
		require.LessOrEqual(t, len(l.buf), limit)
	}
}

// dribble hands out its text in pieces of random length.
type dribble struct {
	rng  *rand.Rand
	text []byte
}

func (d *dribble) Read(p []byte) (int, error) {
	if len(d.text) > 0 {
		n := copy(p[:min(len(p), d.rng.IntN(40))], d.text)
		d.text = d.text[n:]
		return n, nil
	}
	return strings.NewReader("").Read(p)
}

func TestLastLineWithoutBreak(t *testing.T) {
	l := newLineReader(strings.NewReader("a\nb"), 8, nil)
	_, end := l.next()
	assert.Equal(t, whole, end)
	line, end := l.next()
	assert.Equal(t, last, end)
	assert.Equal(t, "b", string(line))
	_, end = l.next()
	assert.Equal(t, none, end)
}

// A long line that is not needed is neither stored nor read, however large the buffer is.
func TestUnwantedLineIsNotHeld(t *testing.T) {
	unwanted := func(beginning []byte) bool { return beginning[0] == 'u' }
	long := "u" + strings.Repeat("x", 20*firstBuffer)
	l := newLineReader(strings.NewReader(long+"\nw\n"), maxRecord, unwanted)
	line, end := l.next()
	assert.Equal(t, unneeded, end)
	assert.Equal(t, byte('u'), line[0])
	assert.Len(t, l.buf, firstBuffer)
	line, end = l.next()
	assert.Equal(t, whole, end)
	assert.Equal(t, "w", string(line))

	edge := "u" + strings.Repeat("x", firstBuffer-1)
	for _, before := range []string{"", "w" + long + "\n", "w\n"} {
		for _, after := range []string{"", "\n", "\nw"} {
			l := newLineReader(strings.NewReader(before+edge[1:]+"\n"+before+edge+after), maxRecord, unwanted)
			for line, end = l.next(); end != none && line[0] != 'u'; line, end = l.next() {
				assert.NotEqual(t, unneeded, end)
			}
			assert.Equal(t, unneeded, end)
		}
	}
}

// A value of a Rumen trace that is too long is passed over, and its job goes on.
func TestStreamLimit(t *testing.T) {
	long := strings.Repeat("x", 200)
	b := readRumen(strings.NewReader(`{"jobID":"j","totalMaps":"`+long+`","mapTasks":[{"taskID":"`+long+`"},{"taskID":"t_0","attempts":[{"attemptID":"a_0_0"}]}],"conf":"`+long+`"}`), 100)
	assert.Equal(t, 2, b.log.Faults[TooLong])
	require.Len(t, b.log.Phases, 1)
	assert.Len(t, b.log.Phases[0].Attempts, 1)
}

// An attempt is known by the ID of its task or by its own.
func TestRumenTaskIndex(t *testing.T) {
	b := readRumen(strings.NewReader(`{"jobID":"j","mapTasks":[{"taskID":"t_m_3","attempts":[{"startTime":5}]},{"attempts":[{"attemptID":"a_m_000002_7","startTime":6}]},`+
		`{"attempts":[{"startTime":7}]}]}`), maxRecord)
	log := b.finish()
	require.Len(t, log.Phases, 1)
	assert.Equal(t, []Attempt{{Task: 3, Start: Known(5)}, {Task: 2, Number: 7, Start: Known(6)}}, log.Phases[0].Attempts)
	assert.Equal(t, 4, log.Phases[0].Tasks)
	assert.Equal(t, 1, log.Faults[NoTask])
}

// Broken anywhere, a job is lost alone: the one before it and the one after it are kept.
func TestRumenResumesAfterAnyCut(t *testing.T) {
	job := func(id string) string {
		return `{"jobID":"` + id + `","mapTasks":[{"taskID":"t_0","attempts":[{"attemptID":"a_m_0_0","startTime":5,"result":"KILLED"}]},` +
			`{"taskID":"t_1","attempts":[]}],"launchTime":7,"cdf":[{"a":[1,{}]}]}`
	}
	for _, indent := range []string{"", " ", "  "} {
		for cut := 1; cut < len(job("b")); cut++ {
			text := indent + job("a") + "\n" + indent + job("b")[:cut] + "\n" + indent + job("c") + "\n"
			b := readRumen(strings.NewReader(text), maxRecord)
			require.Len(t, b.log.Phases, 2, "cut at %d", cut)
			require.Equal(t, []string{"a", "c"}, []string{b.log.Phases[0].Job, b.log.Phases[1].Job})
			require.Equal(t, 1, b.log.Faults[Broken], "cut at %d", cut)
			require.Equal(t, 3, b.log.Records)
		}
	}
}

// The same trace, compact and indented, is the same log.
func TestRumenIndented(t *testing.T) {
	jobs := `{"jobID":"a","mapTasks":[{"taskID":"t_0","attempts":[{"attemptID":"a_m_0_0","startTime":5,"result":"KILLED"}]}]}`
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, []byte(jobs), "", " "))
	want := readRumen(strings.NewReader(jobs+jobs), maxRecord).finish()
	assert.Len(t, want.Phases, 2)
	assert.Equal(t, want, readRumen(strings.NewReader(indented.String()+"\n"+indented.String()), maxRecord).finish())
	assert.Equal(t, want, readRumen(strings.NewReader("["+jobs+",\n"+jobs+"]"), maxRecord).finish(), "as one array")
}

// The hash's published values.
func TestXXH32(t *testing.T) {
	for text, want := range map[string]uint32{"": 0x02cc5d05, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f} {
		assert.Equal(t, want, xxh32([]byte(text), 0), text)
	}
}
