package trace_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

var errFull = errors.New("full")

// full is a writer that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// checkInvariants checks the promises of every log, of any format.
func checkInvariants(t *testing.T, log *trace.Log) {
	t.Helper()
	require.Equal(t, trace.Host{}, log.Hosts[0])
	require.Equal(t, trace.Executor{}, log.Executors[0])
	names := map[[2]string]bool{}
	for i, p := range log.Phases {
		require.False(t, names[[2]string{p.Job, p.Name}], "two phases %q %q", p.Job, p.Name)
		names[[2]string{p.Job, p.Name}] = true
		require.True(t, utf8.ValidString(p.Job+p.Name))
		for _, j := range p.DependsOn {
			require.True(t, j >= 0 && j < i, "phase %d depends on %d", i, j)
		}
		require.LessOrEqual(t, p.Submitted.Or(0), p.Completed.Or(1<<62))
		for k := range p.Attempts {
			a := &p.Attempts[k]
			require.True(t, a.Task >= 0 && int(a.Task) < p.Tasks, "task %d of %d", a.Task, p.Tasks)
			require.GreaterOrEqual(t, a.Number, int32(0))
			require.True(t, a.Host >= 0 && int(a.Host) < len(log.Hosts))
			require.True(t, a.Executor >= 0 && int(a.Executor) < len(log.Executors))
			require.True(t, a.Splits == 0 || a.Splits > 0 && len(log.Splits[a.Splits]) > 0)
			if d, ok := a.Duration(); ok {
				require.GreaterOrEqual(t, int64(d), int64(0))
			}
			if k > 0 {
				const late = 1 << 62
				require.LessOrEqual(t, p.Attempts[k-1].Start.Or(late), a.Start.Or(late))
			}
		}
	}
}

// fuzzFormat checks that whatever is read can be written, and read again with the same outcome. The seeds are the lines
// of the fixtures and each two that follow one another: small, so that the fuzzer spends its time on new inputs.
func fuzzFormat(f *testing.F, seeds ...string) {
	for _, name := range seeds {
		var before []byte
		for line := range bytes.Lines(fixture(f, name)) {
			if len(line) > 700 {
				continue
			}
			f.Add(bytes.Clone(line))
			f.Add(slices.Concat(before, line))
			before = line
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := trace.Read(bytes.NewReader(data), "x")
		if err != nil {
			require.Nil(t, log)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		checkInvariants(t, log)
		checkCounts(t, log, data)
		var text bytes.Buffer
		require.NoError(t, trace.Write(&text, log))
		if text.Len() == 0 {
			return
		}
		again, err := trace.Read(bytes.NewReader(text.Bytes()), "x")
		require.NoError(t, err, text.String())
		checkInvariants(t, again)
		assert.Zero(t, again.Faults[trace.Broken]+again.Faults[trace.HalfLast]+again.Faults[trace.NoTask], "%s\n%s", again.Faults, text.String())
		assert.Equal(t, len(log.Phases), len(again.Phases))
		var twice bytes.Buffer
		require.NoError(t, trace.Write(&twice, again))
		assert.Equal(t, text.String(), twice.String())
	})
}

// checkCounts checks that the numbers of kept, ignored and dropped records add up to the number of records.
func checkCounts(t *testing.T, log *trace.Log, data []byte) {
	t.Helper()
	attempts, passed := 0, 0
	for _, p := range log.Phases {
		attempts += len(p.Attempts)
	}
	for _, n := range log.Passed {
		passed += n
	}
	dropped := log.Faults[trace.Broken] + log.Faults[trace.HalfLast] + log.Faults[trace.TooLong]
	switch log.Format {
	case trace.Spark, trace.Lines:
		lines := 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF")))) > 0 {
				lines++
			}
		}
		// Each line, object, list and item of a list may be a record, or a broken one.
		marks := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("[")) + bytes.Count(data, []byte(","))
		require.LessOrEqual(t, log.Records, lines+marks)
		used := log.Records - passed - dropped
		require.GreaterOrEqual(t, used, 0)
		require.LessOrEqual(t, attempts+log.Faults[trace.NoTask], used, "every attempt has a line of its own")
	case trace.Rumen:
		require.LessOrEqual(t, len(log.Phases), 2*log.Records)
		require.LessOrEqual(t, attempts, len(data))
	}
}

func FuzzSpark(f *testing.F) { fuzzFormat(f, "spark.log", "eventlog_v2_app-2/events_1_app-2") }

func FuzzRumen(f *testing.F) {
	f.Add([]byte(`{"jobID":"j","launchTime":7,"totalMaps":2,"mapTasks":[{"taskID":"t_m_1","preferredLocations":[{"layers":["r","n"]}],` +
		`"attempts":[{"attemptID":"a_m_1_0","startTime":8,"finishTime":9,"result":"SUCCESS","hostName":"/r/n\\.x","mapInputBytes":3}]}]}`))
	f.Add([]byte(`{"jobID":"j","reduceTasks":[{"attempts":[{"location":{"layers":["r","s","n"]},"hdfsBytesWritten":1}],"taskID":"t_r_0"}],"otherTasks":null}`))
	fuzzFormat(f, "rumen.json")
}

func FuzzLines(f *testing.F) { fuzzFormat(f, "lines.jsonl", "spark.log.golden") }

func FuzzTable(f *testing.F)      { fuzzFormat(f, "table.csv") }
func FuzzJobHistory(f *testing.F) { fuzzFormat(f, "job.jhist") }
func FuzzHistory(f *testing.F)    { fuzzFormat(f, "history.log") }
func FuzzShark(f *testing.F)      { fuzzFormat(f, "shark.txt") }
func FuzzAlibaba(f *testing.F)    { fuzzFormat(f, "batch_instance.csv", "batch_task.csv") }
func FuzzSwim(f *testing.F)       { fuzzFormat(f, "swim.tsv") }
func FuzzTopology(f *testing.F)   { fuzzWhole(f, "topology.json") }
func FuzzGoTest(f *testing.F)     { fuzzFormat(f, "gotest.json") }
func FuzzBazel(f *testing.F)      { fuzzFormat(f, "bazel.json") }
func FuzzJournal(f *testing.F)    { fuzzWhole(f, "journal.txt") }
func FuzzTimeline(f *testing.F)   { fuzzWhole(f, "timeline.json") }
func FuzzKube(f *testing.F)       { fuzzWhole(f, "kube.json", "argo.json") }

// fuzzWhole is for formats whose lines mean nothing on their own.
func fuzzWhole(f *testing.F, seeds ...string) {
	for _, name := range seeds {
		f.Add(fixture(f, name))
	}
	fuzzFormat(f)
}

// Packed input that is cut or damaged anywhere ends in a log or in an error.
func FuzzPacked(f *testing.F) {
	f.Add(gzipped(f, taskLines(0, 3), taskLines(3, 4)))
	for _, pack := range packers(f) {
		f.Add(pack(taskLines(0, 3)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if log, err := trace.Read(bytes.NewReader(data), "x"); err == nil {
			checkInvariants(t, log)
		}
	})
}

// A table of steps may be anything. What is read has positive finite times, and each worker once in a step.
func FuzzSteps(f *testing.F) {
	f.Add("step,rank,stage,a,b\n1,0,0,1.5,2\n1,1,0,1,2\n2,0,0,x,2\n2,1,0,1,-2\n")
	f.Add("step\trank\tstage\ta\tb\nx\t0\t0\t1e300\t2\n\"\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := trace.ReadSteps(strings.NewReader(text), "x", trace.Columns{Step: "step", Worker: "rank", Seconds: "a+b", Group: "stage"})
		if err != nil {
			return
		}
		for i, rows := range s.Rows {
			seen := map[[2]string]bool{}
			for _, r := range rows {
				key := [2]string{r.Group, r.Worker}
				if !(r.Seconds > 0) || math.IsInf(r.Seconds, 0) || seen[key] {
					t.Fatalf("step %q: %+v", s.Labels[i], r)
				}
				seen[key] = true
			}
		}
	})
}
