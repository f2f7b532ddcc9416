package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// A picture has the times of the replay. Its lanes include the slot on which the phase ended, without action and under
// the policy, and each lane has the name of its machine or slot.
func TestPicturesHaveTheTimesOfTheReplay(t *testing.T) {
	r := build(t, workload.Generate(60, 2), Input{Name: "generated", Generated: true})
	require.Len(t, r.Schedules, mostSchedules)
	last := func(bars []Bar) (end float64) {
		for _, b := range bars {
			end = max(end, b.End)
		}
		return end
	}
	change := func(s Schedule) float64 { return max(s.Seconds[0]-s.Seconds[1], s.Seconds[1]-s.Seconds[0]) }
	acted := 0
	for i, s := range r.Schedules {
		for _, row := range r.Phases {
			if row.ID == s.Phase {
				assert.Equal(t, [2]float64{row.Time, row.With[0]}, s.Seconds)
			}
		}
		assert.Equal(t, s.Seconds, [2]float64{last(s.Before), last(s.After)}, "phase %d", s.Phase)
		assert.Len(t, s.Names, s.Lanes)
		acted += s.Copies + s.Restarts
		if i > 0 {
			assert.GreaterOrEqual(t, change(r.Schedules[i-1]), change(s), "the phase that the policy changes most is first")
		}
	}
	for _, row := range r.Phases {
		assert.GreaterOrEqual(t, change(r.Schedules[0]), max(row.Time-row.With[0], row.With[0]-row.Time))
	}
	assert.Positive(t, acted)
}

// Short attempts that follow each other are one bar, so that a slot of a million attempts has few bars. A bar has the
// kind of its most notable attempt, and no attempt is lost or counted twice.
func TestShortAttemptsAreJoined(t *testing.T) {
	const attempts, within = 100_000, 10.0
	r := rand.New(rand.NewPCG(1, 1))
	var bars []Bar
	at, copies := 0.0, 0
	for range attempts {
		kind := kinds[r.IntN(len(kinds))]
		took := r.ExpFloat64() * 0.01
		if r.IntN(1000) == 0 {
			took = 30
		}
		if kind == kindCopy {
			copies++
		}
		bars = append(bars, Bar{Lane: r.IntN(2), Start: at, End: at + took, Kind: kind})
		at += took
	}
	whole := at
	joined := join(bars, within)
	assert.Less(t, len(joined), 2*(2*int(whole/within)+1))
	total := 0
	for i, b := range joined {
		total += max(b.Joined, 1)
		if b.Joined > 0 {
			assert.LessOrEqual(t, b.End-b.Start, within)
		}
		if i > 0 && joined[i-1].Lane == b.Lane {
			assert.GreaterOrEqual(t, b.Start, joined[i-1].End)
		}
	}
	assert.Equal(t, attempts, total)
	assert.Equal(t, []Bar{{Lane: 1, Start: 0, End: 2, Kind: kindCopy, Joined: 3, Name: "b"}, {Lane: 1, Start: 2, End: 20,
		Kind: kindTask}},
		join([]Bar{
			{Lane: 1, Start: 2, End: 20, Kind: kindTask}, {Lane: 1, Start: 0, End: 1, Kind: kindTask, Name: "a"},
			{Lane: 1, Start: 1, End: 1.5, Kind: kindCopy, Name: "b"}, {Lane: 1, Start: 1.5, End: 2, Kind: kindStraggler,
				Name: "c"},
		}, 5))
	assert.Equal(t, "task b and 2 other attempts: 2 s, from 0 s to 2 s; copy", Bar{Name: "b", Joined: 3, End: 2,
		Kind: kindCopy}.String())
}

func TestDecisionsInWords(t *testing.T) {
	for want, d := range map[string]restart.Decision{
		"restarted: 21 min to go, a new attempt needs 19 min": {Action: restart.Restart, Reason: restart.FreshSooner,
			Remaining: 1260e9, Fresh: 1140e9},
		"copied: 60 s to go, a new attempt needs 25 s": {Action: restart.Copy, Reason: restart.IdleSlot,
			Remaining: 60e9, Fresh: 25e9},
		"one attempt killed: other attempts of the task are faster": {
			Action: restart.Kill, Reason: restart.SlowerAttempt, Remaining: 60e9, Fresh: 25e9,
			Comparison: restart.Compare(restart.FasterAttempts, 1, 1),
		},
		"copied: it still needs for ever, and a new attempt takes 25 s": {Action: restart.Copy, Reason: restart.FreshSooner,
			Remaining: math.MaxInt64, Fresh: 25e9},
		"copied: nearly all tasks have finished": {Action: restart.Copy, Reason: restart.NearEnd},
	} {
		assert.Equal(t, want, inWords(d))
	}
}

// even returns a phase of equal tasks, each slot with as many.
func even(slots, each int) *sim.Phase {
	p := &sim.Phase{Job: "j", Name: "n", Interval: time.Second}
	for i := range slots * each {
		if i < slots {
			p.Slots = append(p.Slots, sim.Slot{Machine: -1})
		}
		p.Tasks = append(p.Tasks, sim.Task{Attempts: []sim.Attempt{{Duration: time.Second}}})
		p.Order = append(p.Order, int32(i))
	}
	return p
}

// A picture has at most mostBars bars, and at least one lane.
func TestPicturesStaySmall(t *testing.T) {
	for _, c := range []struct{ slots, each, lanes, bars int }{
		{1, 3, 1, 3}, {2, 30, 2, 60}, {40, 20, mostBars / (2 * 20), mostBars / 2}, {40, 1, mostLanes, mostLanes}, {40,
			4 * mostJoined, 1, mostJoined},
	} {
		p := even(c.slots, c.each)
		all, _, err := spans(p, compare.Entry{Policy: restart.Never{}}, 1, 0, sim.Result{})
		require.NoError(t, err)
		s := schedule(p, 0, all, all)
		assert.Equal(t, []int{c.lanes, c.bars, c.bars, c.slots - c.lanes}, []int{s.Lanes, len(s.Before), len(s.After),
			s.LanesLeftOut}, "%+v", c)
		assert.Equal(t, "slot 0", s.Names[0])
		assert.Len(t, s.Names, s.Lanes)
	}
	assert.Equal(t, "0 s", Schedule{}.after())
}
