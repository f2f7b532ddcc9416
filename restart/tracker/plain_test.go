package tracker

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// Two trackers get the same random events. The first makes every decision in full. The second keeps most tasks by
// cheap bounds. Both give the same actions for the same reasons, and end in the same state. If the second decides by
// bounds, its numbers enclose the numbers of the full decision. The test has nine seeds that give many such decisions, or
// 40 seeds with STRAGGLER_LIVES.
func TestDecisionsByBoundsAreThoseInFull(t *testing.T) {
	t.Parallel()
	seeds := []uint64{1, 8, 16, 17, 20, 24, 26, 29, 35}
	if os.Getenv("STRAGGLER_LIVES") != "" {
		seeds = nil
		for seed := range uint64(40) { // 700 seeds, in two minutes, hold as well
			seeds = append(seeds, seed)
		}
	}
	early, late, acts := 0, 0, 0
	for _, seed := range seeds {
		w := newTwins(t, seed)
		for !w.over() {
			w.step()
		}
		one, err := w.full.MarshalBinary()
		require.NoError(t, err)
		two, err := w.quick.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, one, two, "seed %d: both trackers must have the same state", seed)
		require.Equal(t, w.full.Ledger(), w.quick.Ledger())
		require.Equal(t, w.full.phase.judge.counts, w.quick.phase.judge.counts)
		early, late, acts = early+w.early, late+w.late, acts+w.acts
	}
	t.Logf("by bounds %d decisions before it is known how far predictions are off, %d later; %d actions", early, late, acts)
	assert.Greater(t, early, 100*len(seeds), "bounds must decide, or the test shows nothing")
	assert.Greater(t, late, 100*len(seeds))
	assert.Greater(t, acts, 10*len(seeds), "some tasks must be slow, or the test shows nothing")
}

// twins is a phase with two trackers.
type twins struct {
	t                       *testing.T
	seed                    uint64
	rng                     *rand.Rand
	full, quick             *Tracker
	now                     time.Time
	interval                time.Duration
	work, takes             []float64 // seconds of each attempt on an average machine
	noise, slow, hang, long float64
	curve                   float64 // the share of the work is the share of the time to this power
	machines                int
	runs                    []running
	left                    int
	events                  int
	early, late, acts       int // decisions by bounds, before and after three tasks have ended, and actions
}

type running struct {
	task, attempt int
	began         time.Time
	takes, off    float64
	at            float64 // the time of its reports within an interval
}

func newTwins(t *testing.T, seed uint64) *twins {
	rng := rand.New(rand.NewPCG(seed, 77))
	w := &twins{
		t: t, seed: seed, rng: rng, now: time.Unix(1e9, 0), interval: time.Duration(1+rng.IntN(20)) * time.Second,
		noise: [...]float64{0, 0.02, 0.1, 0.4}[rng.IntN(4)], slow: [...]float64{0, 0.02, 0.1}[rng.IntN(3)],
		hang: [...]float64{0, 0.01}[rng.IntN(2)], long: [...]float64{0, 0.05, 0.3}[rng.IntN(3)],
		curve: [...]float64{1, 1, 0.5, 2}[rng.IntN(4)], machines: []int{0, 10, 50}[rng.IntN(3)],
	}
	tasks := []int{20, 64, 100, 400, 800}[rng.IntN(5)]
	spread := [...]float64{0.1, 0.3, 0.8}[rng.IntN(3)]
	usual := float64(5+rng.IntN(60)) * w.interval.Seconds()
	for range tasks {
		work, luck := 1+rng.Float64()*4*float64(rng.IntN(2)), math.Exp(spread*rng.NormFloat64())
		if rng.Float64() < w.long {
			luck *= 5
		}
		w.work, w.takes = append(w.work, work), append(w.takes, usual*work/2*luck)
	}
	policy := restart.LeastCost{}
	if rng.IntN(3) == 0 {
		policy = restart.LeastCost{Price: 0.1 + 3*rng.Float64(), IdlePrice: 0.1 + 5*rng.Float64()}
	}
	c := Config{
		Work: w.work, Slots: max(tasks/(1+rng.IntN(4)), 1) + rng.IntN(2)*tasks, Machines: w.machines, Interval: w.interval,
		Policy: policy, Stream: rng.IntN(4) == 0, Lag: time.Duration(rng.IntN(2)) * w.interval,
	}
	if rng.IntN(3) == 0 {
		c.Work, c.Tasks = nil, tasks
	}
	if rng.IntN(6) == 0 {
		c.Path = func(task, machine int) float64 { return 0.7 + 0.1*float64((task+machine+7)%7) }
	}
	if rng.IntN(4) == 0 {
		c.Clones = 2
	}
	for _, of := range []**Tracker{&w.full, &w.quick} {
		config := c
		if seed%4 == 1 {
			config.Knowledge, config.Kind = w.kind(), daily
		}
		tr, err := New(config)
		require.NoError(t, err)
		*of = tr
	}
	w.full.phase.judge.inFull = true
	w.left = tasks
	w.work = slices.Clone(w.work)
	return w
}

// kind returns the Knowledge that an earlier phase of the same kind has filled.
func (w *twins) kind() *Knowledge {
	kind, rng, now := kindsOnly(0), rand.New(rand.NewPCG(w.seed, 5)), w.now.Add(-1e6*time.Second)
	tr, err := New(Config{Tasks: 30, Slots: 30, Interval: w.interval, Knowledge: kind, Kind: daily})
	require.NoError(w.t, err)
	for i := range 30 {
		tr.Start(now, i, i)
	}
	for k := range 5 {
		for i := range 30 {
			tr.Record(now.Add(time.Duration(k+1)*2*w.interval), i, 0, Report{Done: float64(k+1) / 6 * (0.9 + 0.2*rng.Float64())})
		}
	}
	for i := range 30 {
		tr.Finish(now.Add(12*w.interval).Add(time.Duration(i)*w.interval/20), i, 0)
	}
	tr.Close(now.Add(20 * w.interval))
	return kind
}

func (w *twins) over() bool { return w.left == 0 || w.events > 30_000 }

// both applies an event to both trackers, and compares their answers.
func (w *twins) both(e Event) Answer {
	w.events++
	e.Time = w.now
	one, two := w.full.Apply(e), w.quick.Apply(e)
	if one.Decision != two.Decision && e.Kind != Swept {
		if w.bounds(one, two); one.Remaining == two.Remaining {
			w.early++
		} else {
			w.late++
		}
		two.Decision = one.Decision
	}
	if one.Decision != two.Decision || one.Task != two.Task || !slices.Equal(one.Overtaken, two.Overtaken) {
		require.Equal(w.t, one, two, "seed %d, event %d: %v", w.seed, w.events, e)
	}
	if len(one.Found)+len(two.Found) > 0 {
		require.Equal(w.t, one.Found, two.Found)
	}
	if one.Action != restart.Keep && one.Action != restart.Start {
		w.acts++
	}
	return one
}

// bounds checks that the numbers of an answer by bounds enclose the numbers of the full answer.
func (w *twins) bounds(full, by Answer) {
	same := full
	same.Value, same.Threshold, same.Remaining = by.Value, by.Threshold, by.Remaining
	if full.Reason != restart.NotSlow || !(by.Value < by.Threshold) || !(by.Value*(1+1e-9) >= full.Value) ||
		by.Decision != same.Decision {
		w.t.Fatalf("seed %d, event %d: %v, in full %v", w.seed, w.events, by, full)
	}
}

// start begins an attempt of a task on a machine.
func (w *twins) start(task, machine int) {
	a := w.both(Event{Kind: Started, Task: task, Machine: machine})
	takes := w.takes[task] * (0.9 + 0.2*w.rng.Float64())
	if machine%10 == 3 && w.slow > 0 {
		takes *= 4 // a bad machine
	}
	if w.rng.Float64() < w.slow {
		takes *= 6
	}
	if w.rng.Float64() < w.hang {
		takes = 1e9
	}
	w.runs = append(w.runs, running{task, a.Attempt, w.now, takes, math.Exp(w.noise * w.rng.NormFloat64()), w.rng.Float64()})
}

// end removes a single attempt of a task, or all its attempts.
func (w *twins) end(task, attempt int) {
	w.runs = slices.DeleteFunc(w.runs, func(r running) bool { return r.task == task && (attempt < 0 || r.attempt == attempt) })
}

// has reports whether an attempt runs.
func (w *twins) has(task, attempt int) bool {
	return slices.ContainsFunc(w.runs, func(r running) bool { return r.task == task && r.attempt == attempt })
}

// do carries out an answer.
func (w *twins) do(a Answer) {
	machine := w.rng.IntN(max(w.machines, 10))
	switch a.Action {
	case restart.Copy:
		if w.quick.Phase().FreeSlots > 0 {
			w.start(a.Task, machine)
		}
	case restart.Restart:
		w.both(Event{Kind: Restarted, Task: a.Task, Attempt: a.Attempt})
		w.end(a.Task, a.Attempt)
	case restart.Kill:
		w.both(Event{Kind: Killed, Task: a.Task, Attempt: a.Attempt})
		w.end(a.Task, a.Attempt)
	case restart.Start:
		w.start(a.Task, machine)
	}
}

// step advances the time by a fifth of an interval.
func (w *twins) step() {
	for w.quick.Phase().FreeSlots > 0 {
		a := w.both(Event{Kind: Offered, Machine: w.rng.IntN(max(w.machines, 10))})
		if w.do(a); a.Action == restart.Keep {
			break
		}
	}
	w.now = w.now.Add(w.interval / 5)
	if w.rng.IntN(50) == 0 {
		w.both(Event{Kind: Swept})
	}
	if w.rng.IntN(200) == 0 && w.machines > 0 {
		w.both(Event{Kind: MachineLeaves, Machine: w.rng.IntN(w.machines), Leaves: w.now.Add(w.interval)})
	}
	for _, r := range slices.Clone(w.runs) {
		if !w.has(r.task, r.attempt) { // an answer has ended it
			continue
		}
		age := w.now.Sub(r.began).Seconds()
		switch part := math.Mod(age/w.interval.Seconds(), 1) - r.at; {
		case age >= r.takes && w.rng.IntN(100) == 0:
			w.both(Event{Kind: Failed, Task: r.task, Attempt: r.attempt})
			w.end(r.task, r.attempt)
		case age >= r.takes:
			w.both(Event{Kind: Finished, Task: r.task, Attempt: r.attempt})
			w.end(r.task, -1)
			w.left--
		case part >= 0 && part < 0.2:
			report := Report{Done: math.Pow(age/r.takes, w.curve)}
			report.Done = min(report.Done*r.off*math.Exp(w.noise/4*w.rng.NormFloat64()), 1)
			if w.quick.phase.book.tasks[r.task].flags&knownWork != 0 {
				report.Done *= w.work[r.task]
			}
			if w.rng.IntN(300) == 0 {
				report.Saved = report.Done / 2
			}
			w.do(w.both(Event{Kind: Reported, Task: r.task, Attempt: r.attempt, Report: report}))
		}
	}
}
