package calibrate_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/calibrate"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// says is a policy that always answers the same.
type says struct{ restart.Decision }

func (s says) Decide(restart.Task, restart.Phase) restart.Decision { return s.Decision }

// report lets a watch see one report of a copy whose t_rem is left, and was so much in truth.
func report(
	w *calibrate.Watch, task int, basis restart.Basis, left estimate.Distribution, truth time.Duration, succeeds bool,
) {
	const age = time.Second
	w.Decide(restart.Task{Attempts: []restart.Attempt{{Elapsed: age, Left: left, Basis: basis}}}, restart.Phase{Finished: 3})
	w.Reported(tracker.Answer{Task: task}, []sim.Running{{Age: age, Left: truth, Succeeds: succeeds}}, 0)
}

// If the true times are drawn from the predicted distribution, each tenth of it has the same number of them. If the
// true times are twice as long, it does not.
func TestDecilesOfTrueDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	predicted := distuv.Exponential{Rate: 1e-3, Src: r}
	right, wrong := calibrate.NewWatch(says{}), calibrate.NewWatch(says{})
	right.Begins(nil)
	wrong.Begins(nil)
	for i := range n {
		x := predicted.Rand()
		report(right, i/2, restart.ByProgress, predicted, time.Duration(x*1e9), true)
		report(wrong, i/2, restart.ByAge, predicted, time.Duration(2*x*1e9), true)
	}
	tally := right.Tally()
	ranks := tally.Left[calibrate.Progress]
	assert.Equal(t, n, ranks.All.N)
	assert.Equal(t, n/2, ranks.First.N, "every second report is of the same task")
	for _, in := range ranks.All.Decile {
		assert.InDelta(t, n/10, in, 200, "%v", ranks.All.Decile)
	}
	assert.InDelta(t, 0, ranks.All.Off(), 0.02)
	assert.InDelta(t, 1, ranks.All.Predicted/ranks.All.True, 0.03)
	assert.Zero(t, tally.Left[calibrate.Age].All.N)

	// P(2X > x) is e^(-x/2): below the q-quantile of X lie 1 - sqrt(1-q) of the doubled truths, at worst a quarter too
	// few.
	late := wrong.Tally().Left[calibrate.Age].All
	assert.InDelta(t, -0.25, late.Off(), 0.02)
	assert.InDelta(t, 0.5, late.Predicted/late.True, 0.02)
}

// A prediction of one time only is right, in every decile alike, if it is the true one to half a percent of the whole.
func TestCertainPrediction(t *testing.T) {
	certain := &estimate.Empirical{}
	certain.Insert(99)
	w := calibrate.NewWatch(says{})
	w.Begins(nil)
	report(w, 0, restart.ByProgress, certain, 99*time.Second+200*time.Millisecond, true)
	for _, in := range w.Tally().Left[calibrate.Progress].All.Decile {
		assert.InDelta(t, 0.1, in, 1e-12)
	}
	report(w, 1, restart.ByProgress, certain, 98*time.Second, true)
	report(w, 2, restart.ByProgress, certain, 90*time.Second, false)
	tally := w.Tally()
	assert.InDelta(t, 1.1, tally.Left[calibrate.Progress].All.Decile[0], 1e-12, "it ended sooner")
	assert.Equal(t, 2, tally.Left[calibrate.Progress].All.N)
	assert.Equal(t, 1, tally.Failing, "an attempt that is to fail has no time left that could be predicted")
}

// settle lets a watch see a decision that is carried out, and how long the new copy takes.
func settle(
	w *calibrate.Watch, d restart.Decision, left estimate.Distribution, fresh estimate.Fresh, truth, takes time.Duration,
) {
	const age = time.Second
	w.Policy = says{d}
	seen := []restart.Attempt{{Elapsed: age, Left: left, Remaining: d.Remaining}}
	w.Decide(restart.Task{Attempts: seen, Fresh: fresh}, restart.Phase{})
	copies := []sim.Running{{Age: age, Left: truth, Succeeds: true}}
	w.Reported(tracker.Answer{Decision: d}, copies, 0)
	w.Acts(tracker.Answer{Decision: d}, copies)
	w.Launched(0, takes)
}

func TestBets(t *testing.T) {
	const s = time.Second
	chance := func(p float64) restart.Comparison { return restart.Compare(restart.Probability, p, 0.25) }
	left, fresh := distuv.Uniform{Min: 0, Max: 100}, estimate.Fresh{UnitTime: distuv.Uniform{Min: 0, Max: 50}, Work: 1}
	w := calibrate.NewWatch(nil)
	w.Begins(nil)
	restarted := restart.Decision{Action: restart.Restart, Remaining: 50 * s, Fresh: 25 * s, Bar: 30 * s, Comparison: chance(0.7)}
	settle(w, restarted, left, fresh, 40*s, 45*s) // the bar is met, and yet the new copy takes longer
	settle(w, restarted, left, fresh, 29*s, 20*s)
	saves := restart.Decision{
		Action: restart.Copy, Reason: restart.SavesResources, Remaining: 50 * s, Fresh: 25 * s, Comparison: chance(0.5),
	}
	settle(w, saves, left, fresh, 40*s, 19*s) // less than half
	settle(w, saves, left, fresh, 40*s, 21*s)
	idle := restart.Decision{
		Action: restart.Copy, Reason: restart.IdleSlot, Remaining: 50 * s, Fresh: 25 * s, Bar: 55 * s, Comparison: chance(0.45),
	}
	settle(w, idle, left, fresh, 60*s, 10*s)
	w.Launched(7, s) // which was not launched by a decision

	tally := w.Tally()
	assert.Zero(t, tally.Unmatched)
	b := tally.Bets[1]
	assert.Equal(t, 2, b.N)
	assert.InDelta(t, 2*0.75, b.Win, 1e-3, "P(U(0,100) > U(0,50)) is 3/4")
	assert.Equal(t, []float64{1, 1.4, 1, 50, 4}, []float64{b.Won, b.Value, b.Met, b.Expected, b.Saved})
	assert.Equal(t, 2, b.Decile[7].N+b.Decile[6].N)
	assert.Equal(t, []float64{2, 1}, []float64{b.Sooner, b.Quicker}, "than the medians, 50 s and 25 s")
	assert.Equal(t, []float64{2, 1}, []float64{tally.Bets[2].Won, tally.Bets[2].Met})
	assert.Equal(t, []float64{1, 1}, []float64{tally.Bets[3].Won, tally.Bets[3].Met})

	var twice calibrate.Tally
	twice.Add(tally)
	twice.Add(tally)
	assert.Equal(t, 4, twice.Bets[1].N)
	assert.Equal(t, 2*b.Saved, twice.Bets[1].Saved)
}

// To be watched changes nothing, and all that is launched is accounted for.
func TestWatchChangesNothing(t *testing.T) {
	for i, p := range workload.Generate(12, 4) {
		for _, model := range []sim.Progress{sim.Linear, sim.Typical, sim.None} {
			o := sim.Options{Policy: restart.Mantri{}, LargestFirst: true, Progress: model, Seed: uint64(i)}
			plain, err := sim.Run(p, o)
			require.NoError(t, err)
			w := calibrate.NewWatch(o.Policy)
			o.Policy, o.Witness = w, w
			watched, err := sim.Run(p, o)
			require.NoError(t, err)
			require.Equal(t, plain, watched)
			tally := w.Tally()
			assert.Zero(t, tally.Unmatched)
			assert.Equal(t, plain.Restarts, tally.Bets[0].N+tally.Bets[1].N, "%v", model)
			assert.Equal(t, plain.Copies, tally.Bets[2].N+tally.Bets[3].N, "%v", model)
		}
	}
}

// In this phase the truth is known: one task of 100 s among tasks of 10 s, a new attempt of it takes 10 s, and
// progress is linear.
func TestKnownWorld(t *testing.T) {
	always := func(*rand.Rand, int, int, bool) time.Duration { return 10 * time.Second }
	p := &sim.Phase{Interval: time.Second, Machines: 4, Draw: always}
	for i := range 40 {
		d := 10 * time.Second
		if i == 20 {
			d = 100 * time.Second
		}
		p.Tasks = append(p.Tasks, sim.Task{Work: 1, Attempts: []sim.Attempt{{Duration: d}}})
		p.Order = append(p.Order, int32(i))
	}
	for i := range 4 {
		p.Slots = append(p.Slots, sim.Slot{Machine: i})
	}
	w := calibrate.NewWatch(restart.Mantri{})
	_, err := sim.Run(p, sim.Options{Policy: w, Witness: w})
	require.NoError(t, err)
	b := w.Tally().Bets[1]
	require.Equal(t, 1, b.N)
	assert.Equal(t, 1.0, b.Won)
	assert.InEpsilon(t, b.Saved, b.Expected, 0.05, "what is expected of progress that has shown no errors comes true")
}

// Predictions before three tasks have ended are counted apart, because they are shorter on purpose.
func TestFirstEnds(t *testing.T) {
	w := calibrate.NewWatch(says{})
	w.Begins(nil)
	for ended := range 5 {
		left := distuv.Uniform{Min: 0, Max: 10}
		seen := []restart.Attempt{{Elapsed: 1, Left: left, Basis: restart.ByProgress}}
		w.Decide(restart.Task{Attempts: seen}, restart.Phase{Finished: ended, Tasks: 80})
		w.Reported(tracker.Answer{}, []sim.Running{{Age: 1, Left: time.Second, Succeeds: true}}, 0)
	}
	tally := w.Tally()
	for basis, want := range []int{calibrate.FirstEnds: 3, calibrate.Early: 1, calibrate.Progress: 1, calibrate.Age: 0} {
		r := tally.Left[basis]
		assert.Equal(t, []int{want, min(want, 1)}, []int{r.All.N, r.First.N}, calibrate.Bases[basis])
	}
}
