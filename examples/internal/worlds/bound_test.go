package worlds

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// greedy wants to copy or to restart every task at every report. Its decision has the bound as the page of
// restart.Trials has it, and a 1 if the trial is a guess.
type greedy struct{}

// Describe says that it reads what trials came to, so that they are bounded in these worlds.
func (greedy) Describe() rules.Description { return rules.Describe(restart.LeastCost{}) }

func (greedy) Decide(t restart.Task, p restart.Phase) (d restart.Decision) {
	d.Action, d.Reason, d.Gain = restart.Copy, restart.IdleSlot, time.Second
	if len(t.Attempts) == 1 && int(t.Attempts[0].Elapsed/time.Second)%4 == 0 {
		d.Action, d.Reason = restart.Restart, restart.FreshSooner
	}
	age, left, silent, location := time.Duration(0), estimate.Unknown, true, 0.
	for _, c := range t.Attempts {
		if c.Elapsed > age {
			age, location = c.Elapsed, c.Location
		}
		if c.Remaining != estimate.Unknown && (left == estimate.Unknown || c.Remaining < left) {
			left, silent = c.Remaining, c.Basis == restart.ByAge
		}
	}
	typical := max(age, p.Interval)
	if !math.IsInf(t.Fresh.Quantile(.5), 1) {
		typical = restart.Typical(&t.Fresh)
	}
	shows := t.Fresh.Lag.Seconds() + max(1.5*typical.Seconds(), age.Seconds()/4)
	if !silent {
		shows = (2*p.Interval + t.Fresh.Lag).Seconds()
	}
	d.Measure = restart.LostSlotSeconds
	d.Value = .03*float64(p.Tasks)*typical.Seconds() + 4*shows
	if !silent {
		d.Value = max(d.Value, left.Seconds())
	}
	if location < 3*max(t.Fresh.Location, 1) && !(d.Action == restart.Restart && p.Stuck(t.Longest)) {
		d.Threshold = 1
	}
	return d
}

// held holds the theorem on restart.Trials against each event of a phase.
type held struct {
	books
	t      *testing.T
	began  map[[2]int]time.Time
	most   float64 // B + s of the latest trial
	over   float64 // e, at most: what attempts have run that ended since then
	last   tracker.Answer
	trials int
	seen   int
}

func (h *held) risk() float64 {
	p := h.Phase()
	return (p.Trials.Cost + p.Trials.AtRisk).Seconds()
}

func (h *held) check() {
	h.seen++
	require.LessOrEqual(h.t, h.risk(), h.most+h.over+1e-6)
}

// begins notes a trial that was allowed.
func (h *held) begins(begin func()) {
	before := h.risk()
	begin()
	if h.last.Threshold == 1 {
		require.LessOrEqual(h.t, before, h.last.Value+1e-6, "%v", h.last)
		h.most, h.over = h.last.Value+h.risk()-before, 0
		h.trials++
	}
}

func (h *held) start(now time.Time, task int, start func() int) (attempt int) {
	if h.last.Action == restart.Copy {
		h.begins(func() { attempt = start() })
	} else {
		attempt = start()
	}
	h.began[[2]int{task, attempt}] = now
	h.check()
	return attempt
}

func (h *held) end(now time.Time, task int, attempts ...int) {
	for _, attempt := range attempts {
		h.over += now.Sub(h.began[[2]int{task, attempt}]).Seconds()
	}
	h.check()
}

func (h *held) Start(now time.Time, task, machine int) int {
	return h.start(now, task, func() int { return h.books.Start(now, task, machine) })
}

func (h *held) Submit(now time.Time, task, machine int) int {
	return h.start(now, task, func() int { return h.books.Submit(now, task, machine) })
}

func (h *held) Finish(now time.Time, task, attempt int) []int {
	overtaken := slices.Clone(h.books.Finish(now, task, attempt))
	h.end(now, task, append(overtaken, attempt)...)
	return overtaken
}

func (h *held) Kill(now time.Time, task, attempt int) {
	h.books.Kill(now, task, attempt)
	h.end(now, task, attempt)
}

func (h *held) Restart(now time.Time, task, attempt int) {
	h.begins(func() { h.books.Restart(now, task, attempt) })
	h.end(now, task, attempt)
}

func (h *held) Next(now time.Time, machine int) tracker.Answer {
	h.last = h.books.Next(now, machine)
	return h.last
}

func (h *held) Sweep(now time.Time, visit func(tracker.Answer)) {
	h.books.Sweep(now, func(a tracker.Answer) {
		h.last = a
		visit(a)
	})
}

func (h *held) Report(now time.Time, task, attempt int, r tracker.Report) tracker.Answer {
	h.last = h.books.Report(now, task, attempt, r)
	return h.last
}

// Whatever a policy wants, the theorem on restart.Trials holds at every moment of a world.
func TestTheBoundInWorlds(t *testing.T) {
	t.Parallel()
	played, trials, seen := 0, 0, 0
	for _, w := range worldsIn("first") {
		if w.Phases > 1 || w.Load > 0 || w.Tasks > 400 {
			continue
		}
		for _, model := range []Model{None, Linear} {
			h := host{
				World: &w, Game: Game{Policy: greedy{}, Model: model, Set: Proof, Seed: 1},
				luck: newLuck(Proof, 1), reports: newLuck(^Proof, 1),
			}
			for m := range w.machines() {
				h.slots = append(h.slots, slot{machine: m})
			}
			h.stops = w.changes()
			slices.Sort(h.stops)
			require.NoError(t, h.open(0))
			at := &held{books: h.jobs[0].tracker, t: t, began: map[[2]int]time.Time{}}
			h.jobs[0].tracker = at
			for len(h.jobs) > 0 {
				h.step(math.Inf(1))
			}
			played, trials, seen = played+1, trials+at.trials, seen+at.seen
		}
	}
	assert.Greater(t, played, 20)
	assert.Greater(t, trials, 500)
	assert.Greater(t, seen, 5000)
}
