package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

func read(t *testing.T, text string) *trace.Log {
	t.Helper()
	log, err := trace.Read(strings.NewReader(text), "test")
	require.NoError(t, err)
	return log
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func gzipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&out)
		_, err := w.Write(part)
		require.NoError(t, errors.Join(err, w.Close()))
	}
	return out.Bytes()
}

func zstded(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, part := range parts {
		w, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		_, err = w.Write(part)
		require.NoError(t, errors.Join(err, w.Close()))
	}
	return out.Bytes()
}

// taskLines makes lines of the normal form, with text that does not compress away.
func taskLines(from, to int) []byte {
	var out bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&out, `{"job":"j","phase":"p","task":%d,"start":%d,"finish":%d,"pad":"%x"}`+"\n", i, i*7919, i*7919+i%97, uint32(i*i)*2654435761)
	}
	return out.Bytes()
}

// However the bytes arrive, packed or not, in one piece or byte by byte, the log is the same.
func TestSameLogHoweverPacked(t *testing.T) {
	for _, name := range []string{"spark.log", "rumen.json", "lines.jsonl"} {
		data := fixture(t, name)
		want := read(t, string(data))
		half := len(data) / 2
		for how, r := range map[string]io.Reader{
			"bytewise":     iotest.OneByteReader(bytes.NewReader(data)),
			"data and EOF": iotest.DataErrReader(bytes.NewReader(data)),
			"gzip":         bytes.NewReader(gzipped(t, data)),
			"gzip members": bytes.NewReader(gzipped(t, data[:half], data[half:])),
			"zstd":         bytes.NewReader(zstded(t, data)),
			"zstd frames":  bytes.NewReader(zstded(t, data[:half], data[half:])),
			"skippable":    bytes.NewReader(append([]byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x"), zstded(t, data)...)),
			"byte order":   io.MultiReader(strings.NewReader("\uFEFF\n"), bytes.NewReader(data)),
			"zstd slowly":  iotest.HalfReader(bytes.NewReader(zstded(t, data))),
			"Windows":      bytes.NewReader(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))),
		} {
			got, err := trace.Read(r, name)
			require.NoError(t, err, "%s %s", name, how)
			assert.Equal(t, want, got, "%s %s", name, how)
		}
	}
}

func TestCutStreamKeepsWhatCameBefore(t *testing.T) {
	data := taskLines(0, 5000)
	for how, packed := range map[string][]byte{"gzip": gzipped(t, data), "zstd": zstded(t, data)} {
		cut := packed[:len(packed)*3/4]
		broken := bytes.Clone(packed)
		broken[len(packed)*3/4] ^= 0xff
		for kind, input := range map[string][]byte{"cut": cut, "broken": broken} {
			log, err := trace.Read(bytes.NewReader(input), "x")
			if how == "zstd" && err != nil { // one block: nothing came before
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, 1, log.Faults[trace.CutStream], "%s %s: %s", how, kind, log.Faults)
			require.Len(t, log.Phases, 1)
			assert.Greater(t, len(log.Phases[0].Attempts), 1000, "%s %s", how, kind)
			if kind == "cut" {
				assert.Less(t, len(log.Phases[0].Attempts), 5000, how)
			}
		}
	}
	log, err := trace.Read(bytes.NewReader(append(zstded(t, taskLines(0, 10)), zstded(t, taskLines(10, 20))[:30]...)), "x")
	require.NoError(t, err)
	assert.Len(t, log.Phases[0].Attempts, 10, "the second frame is cut")
	assert.Equal(t, 1, log.Faults[trace.CutStream])
}

func TestForeignInputIsOneClearLine(t *testing.T) {
	for input, want := range map[string]string{
		"":                          "the file is empty",
		" \n\n":                     "the file has only blank lines",
		"a,b,c\n1,2,3\n":            `no execution log of a known format: text that starts with "a,b,c 1,2,3"`,
		`{"name":"root","children"`: `known format: JSON that starts with "{\"name\":\"root\",\"children\""`,
		"{\"Msg\":1}\n{\"Msg\":2}":  "replay help format",
		"ZV\x01\x00":                "LZFCompressionCodec",
		"Obj\x01\x04":               "TraceBuilder",
		"Avro-Binary\n{}":           "TraceBuilder",
		"PK\x03\x04":                "unpack it first",
		string(make([]byte, 257)) + "ustar\x0000": "tar archive",
		string(gzipped(t, nil)):                   "is not text",
		string(gzipped(t, []byte("a,b")))[:12]:    "cannot be unpacked",
		"\x1f\x8bxx":                              "gzip",
		"\x00\x01\x02":                            `"\x00\x01\x02"`,
	} {
		log, err := trace.Read(strings.NewReader(input), "some/file")
		require.ErrorContains(t, err, want)
		assert.Nil(t, log)
		assert.NotContains(t, err.Error(), "\n")
		assert.True(t, strings.HasPrefix(err.Error(), "some/file: "), err)
	}
}

// A disk that fails is no broken log: half of it must not pass for the whole.
func TestReadErrorIsReturned(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, start := range [][]byte{nil, taskLines(0, 3), taskLines(0, 9000), gzipped(t, taskLines(0, 9000))[:20000]} {
		_, err := trace.Read(io.MultiReader(bytes.NewReader(start), iotest.ErrReader(broken)), "x")
		assert.ErrorIs(t, err, broken)
	}
	_, err := trace.Open("testdata/there is no such file")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestLongLines(t *testing.T) {
	const plan, start, end = `{"Event":"x.y.SQLPlan","plan":"`,
		`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":%[1]d,"Index":%[1]d,"Launch Time":1,"Finish Time":2,"Accumulables":["`,
		`"]},"Task End Reason":{"Reason":"Success"}}` + "\n"
	long, tooLong := strings.Repeat(`a\\b`, 1<<20), strings.Repeat("x", 33<<20)
	var text []io.Reader // of one string, the megabytes would be copied
	for _, part := range []string{
		`{"Event":"SparkListenerLogStart"}` + "\n", plan, long, `"}` + "\n", fmt.Sprintf(start, 0), long, end,
		fmt.Sprintf(start, 1), tooLong, end, fmt.Sprintf(start, 2), end,
		plan, long, // the end of an event that nobody needs is not missed
	} {
		text = append(text, strings.NewReader(part))
	}
	log, err := trace.Read(io.MultiReader(text...), "x")
	require.NoError(t, err)
	assert.Equal(t, 6, log.Records)
	assert.Equal(t, map[string]int{"SQLPlan": 2, "SparkListenerLogStart": 1}, log.Passed)
	assert.Equal(t, 1, log.Faults[trace.TooLong])
	assert.Equal(t, 1, log.Faults.Total())
	require.Len(t, log.Phases, 1)
	assert.Len(t, log.Phases[0].Attempts, 2)
}

func TestRollingDirectory(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	event := func(id int) []byte {
		return fmt.Appendf(nil, `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":%d,"Index":%d,"Launch Time":5,"Finish Time":9}}`, id, id)
	}
	_, err := trace.Open(dir)
	require.ErrorContains(t, err, "the directory has no logs")
	put("events_3_app.zstd", zstded(t, event(3)))
	put("events_2_app.gz", gzipped(t, event(2)))
	put("events_4_app", nil) // begun, and nothing written yet
	put("appstatus_app", nil)
	put("events_x_app", event(7))
	log, err := trace.Open(dir)
	require.NoError(t, err)
	assert.Len(t, log.Phases[0].Attempts, 2)
	assert.Equal(t, 1, log.Faults[trace.MissingLog], "events_1")
	assert.Equal(t, 1, log.Faults.Total())

	put("events_1_app", event(0))
	put("events_2_app.compact", event(1)) // stands for files 1 and 2
	log, err = trace.Open(dir)
	require.NoError(t, err)
	assert.Equal(t, []int32{1, 3}, []int32{log.Phases[0].Attempts[0].Task, log.Phases[0].Attempts[1].Task})
	assert.Zero(t, log.Faults.Total(), log.Faults)

	put("events_5_app.zip", []byte("PK\x03\x04"))
	put("events_6_app.gz", []byte("\x1f\x8b\x08"))
	log, err = trace.Open(dir)
	require.NoError(t, err)
	assert.Len(t, log.Phases[0].Attempts, 2)
	assert.Equal(t, trace.Faults{trace.BadLog: 2}, log.Faults)
	require.Len(t, log.Hints, 2)
	assert.Contains(t, log.Hints[0], "events_5_app.zip: a zip archive")
}
