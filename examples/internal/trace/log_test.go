package trace_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Every zero value means unknown, so that a field that was not set is never read as 0.
func TestUnknownIsNotZero(t *testing.T) {
	var a trace.Attempt
	for _, o := range []trace.Opt{a.Ready, a.Start, a.Finish, a.Input, a.Shuffle, a.Output, trace.Known(-1), trace.Known(math.MinInt64), trace.Known(math.MaxInt64)} {
		n, ok := o.Get()
		assert.False(t, ok)
		assert.Zero(t, n)
		assert.Equal(t, int64(-9), o.Or(-9))
		assert.Equal(t, "unknown", o.String())
		assert.NotEqual(t, trace.Known(0), o)
	}
	for _, want := range []int64{0, 1, math.MaxInt64 - 1} {
		n, ok := trace.Known(want).Get()
		assert.True(t, ok)
		assert.Equal(t, want, n)
		assert.Equal(t, want, trace.Known(want).Or(-9))
		text, err := json.Marshal(trace.Known(want))
		require.NoError(t, err)
		assert.Equal(t, trace.Known(want).String(), string(text))
	}
	text, err := json.Marshal([]any{trace.Opt{}, trace.AnswerUnknown, trace.Yes, trace.No, trace.Any, trace.Lost})
	require.NoError(t, err)
	assert.JSONEq(t, `[null,null,true,false,"ANY","lost"]`, string(text))
	_, ok := a.Duration()
	assert.False(t, ok)
	a.Start, a.Finish = trace.Known(0), trace.Known(1500)
	d, ok := a.Duration()
	assert.True(t, ok)
	assert.Equal(t, 1500*time.Millisecond, d)
	assert.Equal(t, trace.Unfinished, a.State)
	assert.Equal(t, "unknown unknown unfinished State(9)", a.Locality.String()+" "+a.Speculative.String()+" "+a.State.String()+" "+trace.State(9).String())
}

// Logs have millions of attempts.
func TestAttemptIsSmall(t *testing.T) {
	if strconv.IntSize == 64 {
		assert.LessOrEqual(t, unsafe.Sizeof(trace.Attempt{}), uintptr(96))
	}
}

func TestFaultsPrintOnOneLine(t *testing.T) {
	var faults trace.Faults
	assert.Equal(t, "no faulty lines", faults.String())
	faults[trace.Broken], faults[trace.NoStart] = 2, 1
	assert.Equal(t, "broken or foreign lines or objects, dropped: 2; attempts without a start time, kept: 1", faults.String())
	assert.Equal(t, 3, faults.Total())
	for f := range faults {
		assert.NotEmpty(t, trace.Fault(f).String())
	}
}

// randomLog makes a log that a host could have made by hand.
func randomLog(rng *rand.Rand) *trace.Log {
	log := &trace.Log{Hosts: make([]trace.Host, 1), Executors: make([]trace.Executor, 1), Passed: map[string]int{}, NotRun: map[string]int{}}
	name := func(kind string, i int) string {
		return kind + strconv.Itoa(i) + []string{"", ` "quoted"`, `\`, "é<&>", "a;b", "[,"}[rng.IntN(6)]
	}
	for i := range rng.IntN(5) {
		log.Hosts = append(log.Hosts, trace.Host{Name: name("n", i), Rack: []string{"", "r"}[rng.IntN(2)]})
	}
	for i := range rng.IntN(4) {
		log.Executors = append(log.Executors, trace.Executor{Name: name("e", i), Host: rng.Int32N(int32(len(log.Hosts))), Cores: rng.Int32N(3)})
	}
	opt := func(most int64) trace.Opt { return trace.Known(rng.Int64N(most+2) - 1) }
	for i := range rng.IntN(4) {
		p := trace.Phase{Job: name("j", i%2), Name: name("p", i), Tasks: 1 + rng.IntN(9), Submitted: opt(3), Completed: trace.Known(4 + rng.Int64N(1<<43-3))}
		if i > 0 && rng.IntN(2) == 0 {
			p.DependsOn = []int{rng.IntN(i)}
		}
		for start := range int64(rng.IntN(6)) { // in order of start
			a := trace.Attempt{
				Task: rng.Int32N(int32(p.Tasks)), Number: 3*int32(start) + rng.Int32N(3), Ready: opt(2),
				Start: trace.Known(start), Finish: trace.Known(start + rng.Int64N(5)),
				Input: opt(1 << 52), Shuffle: opt(1), Output: opt(1), Host: rng.Int32N(int32(len(log.Hosts))), Executor: rng.Int32N(int32(len(log.Executors))),
				State: trace.State(rng.IntN(5)), Locality: trace.Locality(rng.IntN(6)), Speculative: trace.Answer(rng.IntN(3)),
			}
			if e := log.Executors[a.Executor]; e.Host == 0 && a.Executor != 0 {
				a.Executor = 0 // reading would learn the executor's host from the attempt
			}
			for range rng.IntN(2) * (len(log.Hosts) - 1) {
				a.Preferred = append(a.Preferred, 1+rng.Int32N(int32(len(log.Hosts)-1)))
			}
			if parts := rng.IntN(4); parts > 0 { // in the order of the attempts
				if log.Splits == nil {
					log.Splits = make([][]int64, 1)
				}
				a.Splits = int32(len(log.Splits))
				log.Splits = append(log.Splits, make([]int64, parts))
				for i := range parts {
					log.Splits[a.Splits][i] = rng.Int64N(1 << 43)
				}
			}
			p.Attempts = append(p.Attempts, a)
		}
		log.Phases = append(log.Phases, p)
	}
	return log
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		want := randomLog(rand.New(rand.NewPCG(seed, 1)))
		var text bytes.Buffer
		require.NoError(t, trace.Write(&text, want))
		if text.Len() == 0 {
			continue
		}
		got, err := trace.Read(bytes.NewReader(text.Bytes()), "x")
		require.NoError(t, err)
		assert.Zero(t, got.Faults.Total(), "seed %d: %s", seed, got.Faults)
		got.Records, got.Hints = 0, nil
		require.Equal(t, want, got, "seed %d\n%s", seed, text.String())

		text.Reset()
		require.NoError(t, trace.WriteTable(&text, want))
		got, err = trace.Read(bytes.NewReader(text.Bytes()), "x")
		require.NoError(t, err)
		assert.Zero(t, got.Faults.Total(), "seed %d: %s", seed, got.Faults)
		got.Records, got.Format, got.Hints = 0, trace.Lines, nil
		require.Equal(t, want, got, "seed %d\n%s", seed, text.String())
	}
}

func TestWriteError(t *testing.T) {
	log := &trace.Log{Hosts: make([]trace.Host, 1000), Executors: make([]trace.Executor, 1)}
	for i := range log.Hosts {
		log.Hosts[i].Name = strconv.Itoa(i)
	}
	assert.ErrorIs(t, trace.Write(full{}, log), errFull)
	assert.ErrorIs(t, trace.WriteTable(full{}, log), errFull)
}
