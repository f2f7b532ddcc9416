package journal

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// addJournals adds short texts. The fuzzer would spend most of its time on shrinking long texts.
func addJournals(f *testing.F) {
	for _, text := range []string{
		"phase tasks=3 policy=late,early=yes,min-age=off budget=3,rate=off machines=2\nwork 1,?,3\n0s sweep\n9s close\n10s next\n",
		"phase work=1,1,5 slots=2 interval=1s\n0s start task=2 machine=1\n# slow\n\n1s report task=2 done=0.1\n    keep not-slow\n",
		"phase tasks=2 slots=9\r\n0s start task=0\r\n0s start task=0\r\n2s next\r\n3s finish task=0\r\n    ends attempt=1\r\n",
		"phase tasks=2 slots=2 interval=1s\n0s submit task=0 machine=1\n1s decide task=0\n2s begin task=0 machine=0\n2s begin task=0\n    ignored\n",
		"phase tasks=1 slots=1\nslots 4\neligible task=0 restart=no\n0s lose machine=3\n1m lose task=0\nphase policy=never\n9s decide task=0",
	} {
		f.Add([]byte(text))
	}
}

// A line that parses, is printed, and is parsed again, prints the same. No input panics.
func FuzzEvent(f *testing.F) {
	for text := range samples() {
		f.Add([]byte(text))
	}
	f.Add([]byte("1s merge delta=bQ\x01A_-"))
	f.Add([]byte("1s merge delta=bQ\xb1"))
	f.Add([]byte("0s report task=1 done=-0 score=0x1p-1074 remaining=-1ns"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseEvent(line)
		if err != nil {
			return
		}
		text := AppendEvent(nil, start(), e)
		again, err := ParseEvent(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(text), string(AppendEvent(nil, start(), again)))
		require.Equal(t, e.Kind, again.Kind)
		require.True(t, e.Time.Equal(again.Time))
	})
}

// Replay returns an error, or a text that replays to itself with the same events.
func FuzzReplay(f *testing.F) {
	addJournals(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		o := Options{MaxTasks: 1000}
		out, err := Replay(data, o)
		if err != nil {
			require.Less(t, len(err.Error()), 1000)
			return
		}
		again, err := Replay(out, o)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))

		before, err := Parse(data)
		require.NoError(t, err)
		after, err := Parse(out)
		require.NoError(t, err)
		require.Equal(t, len(before), len(after))
		for i := range before {
			require.Equal(t, len(before[i].Events), len(after[i].Events))
			for j, e := range before[i].Events {
				require.Equal(t, string(AppendEvent(nil, start(), e)), string(AppendEvent(nil, start(), after[i].Events[j])))
			}
		}
	})
}

// Events with any values are read back from the journal without a change, and the recording replays exactly.
func FuzzRecorder(f *testing.F) {
	f.Add(int64(1e9), 3, 0, 1, 0.5, 0.25, int64(1e10), uint8(0))
	f.Add(int64(math.MinInt64), -1, math.MaxInt, math.MinInt, math.Inf(1), math.NaN(), int64(math.MinInt64), uint8(3))
	f.Fuzz(func(t *testing.T, at int64, task, attempt, machine int, done, score float64, remaining int64, policy uint8) {
		chosen, err := rules.Parse(policyNames[int(policy)%len(policyNames)])
		require.NoError(t, err)
		tr, r := record(t, tracker.Config{
			Tasks: 4, Slots: 3, Machines: 3, Interval: time.Second, Work: []float64{1, done, score, 2}, Policy: chosen,
		})
		now := time.Unix(1e9, 0)
		for i := range 4 {
			tr.Start(now, i, machine%3)
		}
		now = now.Add(time.Duration(at))
		progress := tracker.Report{Done: done, Score: score, Remaining: time.Duration(remaining)}
		tr.Report(now, task, attempt, progress)
		tr.Submit(now, task, machine)
		tr.Begin(now, task, attempt, machine)
		tr.Begin(now, task&3, tr.Submit(now, task&3, attempt), machine)
		tr.Report(now, task&3, 0, progress)
		tr.LoseMachine(now, machine)
		tr.Next(now, machine)
		tr.SetSlots(attempt)
		tr.Kill(now, task, attempt)
		tr.Finish(now, task&3, 0)
		tr.Sweep(now, func(a tracker.Answer) { tr.Restart(now, a.Task, a.Attempt) })

		replayed, err := Replay(r.Bytes(), Options{})
		require.NoError(t, err)
		require.Equal(t, string(r.Bytes()), string(replayed))
	})
}
