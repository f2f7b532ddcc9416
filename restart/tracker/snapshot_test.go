package tracker_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// driver sends random events to a tracker, and from some event on also to a restored tracker.
type driver struct {
	t   *testing.T
	rng *rand.Rand
	now time.Time
	n   int
}

// event returns a random event, which may be nonsense.
func (d *driver) event() tracker.Event {
	r := d.rng
	switch r.IntN(30) {
	case 0:
		d.now = d.now.Add(-time.Duration(r.Int64N(9e9)))
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
	default:
		d.now = d.now.Add(time.Duration(r.Int64N(3e9)))
	}
	e := tracker.Event{
		Kind: tracker.EventKind(1 + r.IntN(int(tracker.Swept))), Time: d.now, Task: r.IntN(d.n+1) - r.IntN(2), Attempt: r.IntN(8) / 3,
		Machine: r.IntN(7) - 1, Slots: r.IntN(12), NoCopy: r.IntN(4) == 0, NoRestart: r.IntN(4) == 0,
		Leaves: d.now.Add(time.Duration(r.Int64N(60e9))),
		Report: tracker.Report{Done: r.Float64() * 1.1},
	}
	switch r.IntN(8) {
	case 0:
		e.Kind = tracker.Reported
		e.Report = tracker.Report{Score: r.Float64(), Remaining: time.Duration(r.Int64N(1e11)), Saved: r.Float64()}
	case 1, 2, 3:
		e.Kind = tracker.Reported
	case 4:
		e.Kind = tracker.Started
	}
	rare := map[tracker.EventKind]int{tracker.MachineLost: 4, tracker.MachineLeaves: 4, tracker.Closed: 20}
	if one := rare[e.Kind]; one > 0 && r.IntN(one) > 0 {
		e.Kind = tracker.Offered
	}
	return e
}

func (d *driver) config(policy restart.Policy) tracker.Config {
	c := tracker.Config{
		Tasks: d.n, Slots: d.rng.IntN(12), Machines: d.rng.IntN(6), Interval: time.Second, Policy: policy,
		Clones: d.rng.IntN(3), Lag: time.Second, Work: make([]float64, d.n),
	}
	for i := range c.Work {
		c.Work[i] = []float64{1, 1, 0, math.NaN(), 2.5}[d.rng.IntN(5)]
	}
	c.Work[0] = 1
	return c
}

// A tracker is restored after a random prefix of a history. It gives the same answers as if it had never stopped, and
// ends in the same state.
func TestRestoreAfterAnyPrefix(t *testing.T) {
	acts := map[restart.Action]int{}
	for name, policy := range policytest.Policies() {
		for seed := range cases(20, 40) {
			rng := rand.New(rand.NewPCG(seed, 77))
			d := driver{t: t, rng: rng, now: time.Unix(1e9, 5), n: 1 + rng.IntN(20)}
			c := d.config(policy)
			one := newTracker(t, c)
			for range rng.IntN(200) {
				one.Apply(d.event())
			}
			text, err := one.MarshalBinary()
			require.NoError(t, err)
			given := tracker.Config{}
			if seed%2 == 0 {
				given.Policy = policy
			}
			two, err := tracker.Restore(given, text)
			require.NoError(t, err, "%s, seed %d", name, seed)
			again, err := two.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, text, again, "%s, seed %d", name, seed)
			for i := range 150 {
				e := d.event()
				a, b := one.Apply(e), two.Apply(e)
				acts[a.Action]++
				if equal(a, b) {
					continue
				}
				if b.String() != a.String() || b.Task != a.Task || b.Ignored != a.Ignored || len(b.Found) != len(a.Found) {
					t.Fatalf("%s, seed %d, event %d: %+v: %+v, want %+v", name, seed, i, e, b, a)
				}
				if len(a.Overtaken)+len(a.Waiting)+len(b.Overtaken)+len(b.Waiting) > 0 {
					require.ElementsMatch(t, a.Overtaken, b.Overtaken)
					require.ElementsMatch(t, a.Waiting, b.Waiting)
				}
				for j := range a.Found {
					require.Equal(t, a.Found[j].String(), b.Found[j].String())
				}
			}
			require.Equal(t, one.Ledger(), two.Ledger())
			text, _ = one.MarshalBinary()
			again, _ = two.MarshalBinary()
			require.Equal(t, text, again, "%s, seed %d: the restored tracker must have the same state", name, seed)
		}
	}
	for action := restart.Keep; action <= restart.Start; action++ {
		assert.Greater(t, acts[action], 20, "the action %v must be frequent, or the test shows nothing", action)
	}
}

// 40 attempts run on a machine. A restored tracker sends as many observations to its own record as the tracker that
// never stopped.
func TestRestoreChangesNoObservationOfTheOwnRecord(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 120, Slots: 120, Machines: 3, Interval: 16 * time.Second})
	for task := range 120 {
		tr.Start(at(0), task, task%3)
	}
	reports := func(tr *tracker.Tracker, second float64) []byte {
		for task := range 120 {
			tr.Report(at(second), task, 0, tracker.Report{Done: second / float64(400+task)})
		}
		text, err := tr.MarshalBinary()
		require.NoError(t, err)
		return text
	}
	restored, err := tracker.Restore(tracker.Config{}, reports(tr, 17))
	require.NoError(t, err)
	for _, second := range []float64{18, 20, 27, 34, 35, 70} {
		require.Equal(t, reports(tr, second), reports(restored, second), "%v", second)
	}
}

func TestABudgetIsRestored(t *testing.T) {
	b := newBudget(t, tracker.BudgetConfig{Share: restart.Off, Rate: 0.3, Floor: 7})
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 5, Interval: time.Second, Budget: b})
	tr.Start(at(0), 0, 0)
	tr.Start(at(0), 0, 1)
	text, err := b.MarshalBinary()
	require.NoError(t, err)
	var c tracker.Budget
	require.NoError(t, c.UnmarshalBinary(text))
	assert.Equal(t, *b, c)
	phase, err := tr.MarshalBinary()
	require.NoError(t, err)
	restored, err := tracker.Restore(tracker.Config{Budget: &c}, phase)
	require.NoError(t, err)
	assert.Equal(t, *b, c, "Restore must not change the budget")
	restored.Finish(at(1), 0, 1)
	assert.Zero(t, c.Running())
	assert.Error(t, c.UnmarshalBinary(text[:len(text)-1]))
	assert.Error(t, c.UnmarshalBinary(nil))
	snapshottest.Flips(t, text, c.UnmarshalBinary)
}

// Restore rejects a Config without a part that the tracker had.
func TestRestoreNamesMissingParts(t *testing.T) {
	full := tracker.Config{
		Tasks: 3, Slots: 5, Interval: time.Second, Knowledge: new(tracker.Knowledge), Budget: new(tracker.Budget),
		Path: func(int, int) float64 { return 1 }, UnitTimes: estimate.UnitTimesConfig{Prior: new(estimate.Empirical)},
	}
	text, err := newTracker(t, full).MarshalBinary()
	require.NoError(t, err)
	for name, drop := range map[string]func(c *tracker.Config){
		"Config.Knowledge":       func(c *tracker.Config) { c.Knowledge = nil },
		"Config.Budget":          func(c *tracker.Config) { c.Budget = nil },
		"Config.Path":            func(c *tracker.Config) { c.Path = nil },
		"Config.UnitTimes.Prior": func(c *tracker.Config) { c.UnitTimes.Prior = nil },
	} {
		given := full
		drop(&given)
		_, err := tracker.Restore(given, text)
		assert.ErrorContains(t, err, name+" is nil")
	}
	_, err = tracker.Restore(full, text)
	assert.NoError(t, err)
	plain, err := newTracker(t, tracker.Config{Tasks: 3, Interval: time.Second}).MarshalBinary()
	require.NoError(t, err)
	_, err = tracker.Restore(full, plain)
	assert.NoError(t, err, "the host may give new parts")
	_, err = tracker.Restore(tracker.Config{Budget: (*tracker.Budget)(nil)}, plain)
	assert.ErrorContains(t, err, `Config.Budget is "a nil *tracker.Budget"`)
}

// A phase without tasks, such as a stage with nothing to read, can be restored.
func TestAPhaseWithoutTasksIsRestored(t *testing.T) {
	text, err := newTracker(t, tracker.Config{Work: []float64{}, Slots: 2, Interval: time.Second}).MarshalBinary()
	require.NoError(t, err)
	tr, err := tracker.Restore(tracker.Config{}, text)
	require.NoError(t, err)
	assert.Equal(t, restart.NothingToDo, tr.Next(start, 0).Reason)
	again, err := tr.MarshalBinary()
	require.NoError(t, err)
	restored, err := tracker.Restore(tracker.Config{}, again)
	require.NoError(t, err)
	assert.Equal(t, tr.Phase(), restored.Phase())
}

// Data that is not a snapshot gives an error, and takes no memory beyond its length. Data that is a snapshot by
// chance gives a tracker that works.
func FuzzRestore(f *testing.F) {
	for i, policy := range []restart.Policy{nil, rules.LATE{}, rules.Spark{}} {
		d := driver{rng: rand.New(rand.NewPCG(uint64(i), 3)), now: start, n: 6}
		tr, err := tracker.New(d.config(policy))
		require.NoError(f, err)
		for range 40 {
			tr.Apply(d.event())
		}
		text, _ := tr.MarshalBinary()
		f.Add(snapshottest.Body(text), uint64(i))
		f.Add(text[:len(text)/2], uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		if len(text) > 1<<16 {
			return
		}
		tr, err := tracker.Restore(tracker.Config{}, snapshot.Seal(text, 0))
		if err != nil {
			return
		}
		again, _ := tr.MarshalBinary()
		other, err := tracker.Restore(tracker.Config{}, again)
		require.NoError(t, err)
		d := driver{rng: rand.New(rand.NewPCG(seed, 4)), now: start, n: tr.Phase().Tasks}
		for range 60 {
			e := d.event()
			require.Equal(t, tr.Apply(e).String(), other.Apply(e).String())
		}
	})
}

// If a byte of a snapshot is changed or lost, the checksum shows it. Without the checksum, a changed byte gives an
// error, or a tracker that works without a panic.
func TestFlippedBytesOfASnapshotAreErrors(t *testing.T) {
	d := driver{rng: rand.New(rand.NewPCG(9, 9)), now: start, n: 9}
	tr := newTracker(t, d.config(nil))
	for range 200 {
		tr.Apply(d.event())
	}
	text, err := tr.MarshalBinary()
	require.NoError(t, err)
	refused := 0
	body := snapshottest.Body(text)
	for i := range body {
		damaged := slices.Clone(body)
		damaged[i] ^= byte(1 + d.rng.IntN(255))
		damaged = snapshot.Seal(damaged, 0)
		if got, err := tracker.Restore(tracker.Config{}, damaged); err != nil {
			refused++
		} else {
			for range 20 {
				got.Apply(d.event())
			}
		}
		_, err = tracker.Restore(tracker.Config{}, text[:i])
		assert.Error(t, err)
	}
	assert.Greater(t, refused, len(body)/4)
	snapshottest.Flips(t, text, func(damaged []byte) error {
		_, err := tracker.Restore(tracker.Config{}, damaged)
		return err
	})
}
