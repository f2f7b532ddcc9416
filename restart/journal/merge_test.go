package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The journal contains the observations of another process, so a replay makes the same decisions as the tracker.
func TestReplayMerges(t *testing.T) {
	start, usual := time.Unix(0, 0), 20*time.Second
	shared := func(origin string) *tracker.Knowledge {
		know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: origin}})
		require.NoError(t, err)
		for machine, name := range []string{"a", "b", "c", "d"} {
			require.True(t, know.Machines().SetName(machine, name))
		}
		return know
	}
	other, know := shared("there"), shared("here")
	for machine := range 4 {
		for range 3 {
			ran := usual
			if machine == 3 {
				ran *= 8
			}
			other.Machines().End(start, machine, 0, machines.Attempt{Ran: ran, Usual: usual}, machines.Finished)
		}
	}
	then, err := know.MarshalBinary()
	require.NoError(t, err)
	config := tracker.Config{Tasks: 8, Slots: 4, Machines: 4, Interval: time.Second, Knowledge: know}
	recorder := NewRecorder(config)
	config.OnEvent = recorder.OnEvent
	phase, err := tracker.New(config)
	require.NoError(t, err)
	for task := range 3 {
		phase.Start(start, task, task)
		phase.Finish(start.Add(usual), task, 0)
	}
	now := start.Add(usual)
	phase.Start(now, 3, 0)
	assert.Contains(t, phase.Next(now, 3).String(), "start", "machine 3 is not known yet")
	delta, err := other.AppendDelta(nil, know.AppendVersion(nil))
	require.NoError(t, err)
	phase.Merge(now, delta)
	assert.Contains(t, phase.Next(now, 3).String(), "slow-machine")
	phase.Merge(now, delta)
	assert.Zero(t, phase.Ledger().Ignored)
	phase.Merge(now, delta[1:])
	assert.Equal(t, 1, phase.Ledger().Ignored)

	options := Options{Configure: func(_ int, c *tracker.Config) {
		c.Knowledge = new(tracker.Knowledge)
		require.NoError(t, c.Knowledge.UnmarshalBinary(then))
	}}
	text := string(recorder.Bytes())
	assert.Equal(t, text, replay(t, text, options))
	assert.Contains(t, text, "20s merge delta=a")
	var without []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, "merge delta=") {
			without = append(without, line)
		}
	}
	assert.NotContains(t, replay(t, strings.Join(without, ""), options), "slow-machine")

	for _, text := range []string{"\n1s merge delta=bQ", " knowledge=new\n1s merge delta=bQ", " knowledge=new\n1s merge delta=b!"} {
		assert.Contains(t, replay(t, "phase tasks=1 interval=1s"+text+"\n", Options{}), "ignored")
	}
}

// The tracker ignores a text that is no delta. The journal shows it as ignored and can be replayed.
func TestReplayIgnoresInvalidDeltas(t *testing.T) {
	for _, delta := range []string{"", "two words", "a\nb", "#", "QUI=", "?", "\"", "QUI\u00e9"} {
		config := tracker.Config{Tasks: 2, Slots: 2, Machines: 2, Interval: time.Second}
		recorder := NewRecorder(config)
		config.OnEvent = recorder.OnEvent
		tr, err := tracker.New(config)
		require.NoError(t, err)
		a := tr.Apply(tracker.Event{Kind: tracker.Merged, Time: time.Unix(5, 0), Delta: delta})
		assert.True(t, a.Ignored, "%q", delta)
		tr.Start(time.Unix(6, 0), 0, 0)
		replayed, err := restore(recorder.Bytes(), Options{})
		if assert.NoError(t, err, "%q", delta) {
			assert.Equal(t, tr.Ledger(), replayed.Ledger(), "%q", delta)
		}
	}
}

// A phase without tasks reads back from its line.
func TestPhaseWithoutTasksReadsBack(t *testing.T) {
	config := tracker.Config{Work: []float64{}, Slots: 2, Interval: time.Second}
	_, err := tracker.New(config)
	require.NoError(t, err)
	_, err = restore(NewRecorder(config).Bytes(), Options{})
	assert.NoError(t, err)
}

// Several phases in a journal share a Knowledge. They replay with the Knowledge as it was before the first
// phase.
func TestReplayNeedsTheKnowledgeAsItWas(t *testing.T) {
	play := func(x *tracker.Knowledge) string {
		var text strings.Builder
		for phase := range 6 {
			from := time.Unix(1000*int64(phase), 0)
			tr, r := record(t, tracker.Config{Tasks: 2, Slots: 4, Interval: 10 * time.Second, Knowledge: x, Kind: "a kind"})
			for task := range 2 {
				tr.Start(from, task, task)
			}
			tr.Finish(from.Add(100*time.Second), 0, 0)
			for age := 110 * time.Second; age < 300*time.Second; age += 10 * time.Second {
				if tr.Decide(from.Add(age), 1).Action == restart.Copy {
					tr.Start(from.Add(age), 1, 3)
				}
			}
			tr.Finish(from.Add(300*time.Second), 1, 0)
			tr.Close(from.Add(300 * time.Second))
			text.Write(r.Bytes())
		}
		return text.String()
	}
	x := new(tracker.Knowledge)
	play(x)
	then, err := x.MarshalBinary()
	require.NoError(t, err)
	text := play(x)
	assert.Contains(t, text, ` kind="a\x20kind" knowledge=custom`)
	options := func(then []byte) Options {
		again := new(tracker.Knowledge)
		require.NoError(t, again.UnmarshalBinary(then))
		return Options{Configure: func(_ int, c *tracker.Config) { c.Knowledge = again }}
	}
	assert.Equal(t, text, replay(t, text, options(then)))
	empty, err := new(tracker.Knowledge).MarshalBinary()
	require.NoError(t, err)
	assert.NotEqual(t, text, replay(t, text, options(empty)), "the knowledge before the first phase must count")
	_, err = Replay([]byte(text), Options{})
	assert.ErrorContains(t, err, "the knowledge is custom")
}
