package restart_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// everything hides the kind of a policy from the Tracker, which then has to keep all facts.
type everything struct{ restart.Policy }

// policies are the policies under test, with thresholds low enough that short random runs cross them.
func policies() map[string]restart.Policy {
	return map[string]restart.Policy{
		"mantri":      restart.Mantri{},
		"mantri-bold": restart.Mantri{IdleGain: 0.1, DuplicateThreshold: 0.01, CopyPause: 0.5, RaisedBar: 1, MaxRestarts: 2},
		"late":        restart.LATE{MinAge: restart.Off, SpeculativeCap: 0.5, SlowTask: 0.6},
		"late-early":  restart.LATE{MinAge: 5 * time.Second, SlowNode: 0.5, SpeculativeCap: 1, Early: true, UseRemaining: true},
		"hadoop":      restart.Hadoop{MinAge: 5 * time.Second, ScoreLag: 0.05},
		"mapreduce":   restart.MapReduce{NearEnd: 0.3},
		"dryad":       restart.Dryad{MinFinished: 1, Percentile: 0.3},
		"spark":       restart.Spark{Quantile: 0.25, Multiplier: 1.1, MinRuntime: time.Second},
		"flink":       restart.Flink{Ratio: 0.25, Multiplier: 1.1, LowerBound: time.Second},
		"never":       restart.Never{},
	}
}

// world drives a Tracker, one with all facts, and the oracle through the same random events.
type world struct {
	t       *testing.T
	rng     *rand.Rand
	policy  restart.Policy
	tracker *restart.Tracker // under test
	whole   *restart.Tracker // the same policy, but all facts are kept
	oracle  *oracle
	now     time.Time
	log     []string
}

func newWorld(t *testing.T, policy restart.Policy, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := &world{t: t, rng: rng, policy: policy, now: start}
	work := make([]float64, 1+rng.IntN(14))
	for i := range work {
		work[i] = float64(1 + rng.IntN(4)) // equal works are common
	}
	config := restart.Config{
		Work: work, Slots: 1 + rng.IntN(8), Machines: rng.IntN(7), Interval: 5 * time.Second, Lag: time.Second, Policy: policy,
	}
	if rng.IntN(3) == 0 {
		config.Rates.MinSamples = 1
	}
	var err error
	w.tracker, err = restart.NewTracker(config)
	require.NoError(t, err)
	config.Policy = everything{policy}
	w.whole, err = restart.NewTracker(config)
	require.NoError(t, err)
	w.oracle = newOracle(w.tracker, work)
	return w
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%v ", w.now.Sub(start))+fmt.Sprintf(format, args...))
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log[max(0, len(w.log)-40):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

// attempt picks a running attempt most of the time, and rubbish otherwise.
func (w *world) attempt() (task, attempt int) {
	var running []*oracleCopy
	for i := range w.oracle.tasks {
		running = append(running, w.oracle.running(i)...)
	}
	if len(running) == 0 || w.rng.IntN(20) == 0 {
		return w.rng.IntN(20) - 2, w.rng.IntN(6) - 2
	}
	c := running[w.rng.IntN(len(running))]
	return c.task, c.attempt
}

func (w *world) progress(task, attempt int) restart.Progress {
	rubbish := []float64{math.NaN(), math.Inf(1), -1, 1e308}
	p := restart.Progress{}
	switch w.rng.IntN(10) {
	case 0:
		p.Done = rubbish[w.rng.IntN(len(rubbish))]
	case 1:
		p.Score = rubbish[w.rng.IntN(len(rubbish))]
	case 2:
		p.Remaining = time.Duration(w.rng.IntN(60)-5) * time.Second
		p.Done = w.rng.Float64()
	case 3:
		p.Score = float64(w.rng.IntN(6)) / 5
	default: // an honest report: each attempt has a speed of its own
		if task >= 0 && task < len(w.oracle.tasks) && attempt >= 0 && attempt < len(w.oracle.tasks[task].copies) {
			c := w.oracle.tasks[task].copies[attempt]
			p.Done = w.oracle.work[task] * (w.now.Sub(start) - c.start).Seconds() / float64(10+(task*7+attempt*13)%50)
			p.Done = max(p.Done, 0)
		}
	}
	return p
}

// step does one random event everywhere, and compares what comes back.
func (w *world) step() {
	if w.rng.IntN(3) > 0 {
		w.now = w.now.Add(time.Duration(w.rng.IntN(16)-2) * time.Second / 2) // now and then the clock steps back
	}
	o, n := w.oracle, len(w.oracle.tasks)
	switch k := w.rng.IntN(100); {
	case k < 22:
		task, machine := w.rng.IntN(n+1)-w.rng.IntN(2), w.rng.IntN(8)-1
		w.note("start %d on %d", task, machine)
		got, whole, want := w.tracker.Start(w.now, task, machine), w.whole.Start(w.now, task, machine), o.start(w.now, task, machine)
		if got != want || whole != want {
			w.fatal("Start = %d, %d, want %d", got, whole, want)
		}
	case k < 67:
		task, attempt := w.attempt()
		p := w.progress(task, attempt)
		w.note("report %d/%d %+v", task, attempt, p)
		d, whole := w.tracker.Report(w.now, task, attempt, p), w.whole.Report(w.now, task, attempt, p)
		known := o.report(w.now, task, attempt, p)
		w.compare(task, known, d, whole)
	case k < 75:
		task, attempt := w.attempt()
		w.note("finish %d/%d", task, attempt)
		got, whole := w.tracker.Finish(w.now, task, attempt, nil), w.whole.Finish(w.now, task, attempt, nil)
		if want := o.finish(w.now, task, attempt); !slices.Equal(got, want) || !slices.Equal(whole, want) {
			w.fatal("Finish = %v, %v, want %v", got, whole, want)
		}
	case k < 78:
		task, attempt := w.attempt()
		w.note("fail %d/%d", task, attempt)
		w.tracker.Fail(w.now, task, attempt)
		w.whole.Fail(w.now, task, attempt)
		o.kill(w.now, task, attempt, "failed")
	case k < 81:
		task, attempt := w.attempt()
		w.note("kill %d/%d", task, attempt)
		w.tracker.Kill(w.now, task, attempt)
		w.whole.Kill(w.now, task, attempt)
		o.kill(w.now, task, attempt, "killed")
	case k < 84:
		task, attempt := w.attempt()
		w.note("restart %d/%d", task, attempt)
		w.tracker.Restart(w.now, task, attempt)
		w.whole.Restart(w.now, task, attempt)
		o.kill(w.now, task, attempt, "restarted")
	case k < 85:
		machine := w.rng.IntN(8) - 1
		w.note("lose machine %d", machine)
		got, whole := w.tracker.LoseMachine(w.now, machine, nil), w.whole.LoseMachine(w.now, machine, nil)
		want := o.loseMachine(w.now, machine)
		slices.Sort(got) // the order is that of the tracker's own places
		slices.Sort(whole)
		if !slices.Equal(got, want) || !slices.Equal(whole, want) {
			w.fatal("LoseMachine = %v, %v, want %v", got, whole, want)
		}
	case k < 87:
		task := w.rng.IntN(n+2) - 1
		w.note("lose output %d", task)
		w.tracker.LoseOutput(w.now, task)
		w.whole.LoseOutput(w.now, task)
		o.loseOutput(w.now, task)
	case k < 88:
		slots := w.rng.IntN(10) - 1
		w.note("slots %d", slots)
		w.tracker.SetSlots(slots)
		w.whole.SetSlots(slots)
		o.config.Slots = max(slots, 0)
	case k < 89:
		task, dup, restart := w.rng.IntN(n), w.rng.IntN(2) > 0, w.rng.IntN(2) > 0
		w.note("eligible %d %t %t", task, dup, restart)
		w.tracker.SetEligible(task, dup, restart)
		w.whole.SetEligible(task, dup, restart)
		o.tasks[task].noDup, o.tasks[task].noRestart = !dup, !restart
	case k < 93:
		w.sweep()
	default:
		w.next()
	}
}

// compare holds two decisions of a tracker about a task against the policy's on the oracle's facts.
func (w *world) compare(task int, known bool, d, whole restart.Decision) {
	w.t.Helper()
	if d != whole {
		w.fatal("a tracker that keeps less decides otherwise: %v, want %v", d, whole)
	}
	want := restart.Decision{Reason: restart.NotRunning}
	if known {
		want = w.want(task, w.facts(), true)
		w.settle(task, want)
	}
	if d != want {
		w.fatal("task %d: %v, want %v", task, d, want)
	}
	w.note("  %v", d)
}

// facts are the whole tracker's distributions, once compared, in the oracle's phase.
func (w *world) facts() restart.Phase {
	w.t.Helper()
	got := w.whole.Phase()
	want, durations, finishedRates, progressRates, _ := w.oracle.phase()
	if math.Abs(got.Peers.MeanScore-want.Peers.MeanScore) > 1e-12 || math.Abs(got.Peers.Throughput-want.Peers.Throughput) > 1e-12*want.Peers.Throughput {
		w.fatal("mean score and throughput are %v, %v, want %v, %v", got.Peers.MeanScore, got.Peers.Throughput, want.Peers.MeanScore, want.Peers.Throughput)
	}
	w.same("durations", got.Peers.Durations, durations)
	w.same("finished rates", got.Peers.Rates, finishedRates)
	w.same("progress rates", got.Peers.ProgressRates, progressRates)
	peers := got.Peers
	got.Peers, want.Peers = restart.Peers{}, restart.Peers{}
	if got != want {
		w.fatal("phase is %+v, want %+v", got, want)
	}
	want.Peers = peers
	if _, mantri := w.policy.(restart.Mantri); mantri {
		w.sameRates()
	}
	return want
}

func (w *world) sameRates() {
	w.t.Helper()
	want := w.oracle.rates()
	r := w.tracker.Rates()
	if r.Samples() != len(want) || w.whole.Rates().Samples() != len(want) {
		w.fatal("%d samples of t_new, want %d", r.Samples(), len(want))
	}
	for i := 0; r.Known() && i < len(want); i++ {
		if got := r.Quantile((float64(i) + 0.5) / float64(len(want))); got != want[i] {
			w.fatal("sample %d of t_new is %v, want %v", i, got, want[i])
		}
	}
}

func (w *world) same(what string, got estimate.Distribution, want []float64) {
	w.t.Helper()
	if got == nil {
		if len(want) > 0 {
			w.fatal("%s: none, want %v", what, want)
		}
		return
	}
	e := got.(*estimate.Empirical)
	if e.Len() != len(want) {
		w.fatal("%s: %d, want %d", what, e.Len(), len(want))
	}
	for i, x := range want {
		if e.At(i) != x {
			w.fatal("%s: value %d is %v, want %v", what, i, e.At(i), x)
		}
	}
}

// want is the policy's decision on the oracle's facts, with the attempt's number for the index of a copy.
func (w *world) want(task int, facts restart.Phase, number bool) restart.Decision {
	d := w.policy.Decide(w.oracle.task(task, w.tracker.Rates()), facts)
	if number && (d.Action == restart.Restart || d.Action == restart.Kill) {
		d.Copy = w.oracle.running(task)[d.Copy].attempt
	}
	return d
}

// settle notes whether the decision leaves the task a candidate for the next free slot.
func (w *world) settle(task int, d restart.Decision) {
	w.oracle.tasks[task].candidate = candidate(d)
}

func candidate(d restart.Decision) bool {
	switch d.Reason {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return d.Action == restart.Keep
	}
	return d.Action == restart.Duplicate
}

func (w *world) sweep() {
	w.note("sweep")
	w.oracle.tick(w.now)
	var got, whole []string
	w.tracker.Sweep(w.now, func(task int, d restart.Decision) { got = append(got, fmt.Sprint(task, " ", d, d.Copy)) })
	w.whole.Sweep(w.now, func(task int, d restart.Decision) { whole = append(whole, fmt.Sprint(task, " ", d, d.Copy)) })
	facts := w.facts()
	var want []string
	for i := range w.oracle.tasks {
		if len(w.oracle.running(i)) == 0 {
			continue
		}
		d := w.want(i, facts, true)
		w.settle(i, d)
		if d.Action != restart.Keep {
			want = append(want, fmt.Sprint(i, " ", d, d.Copy))
		}
	}
	if !slices.Equal(got, whole) {
		w.fatal("a tracker that keeps less sweeps otherwise: %v, want %v", got, whole)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.fatal("sweep gives %v, want %v", got, want)
	}
}

// next asks for the use of a free slot. All candidates are judged as if a slot were free; the best by gain wins.
func (w *world) next() {
	machine := w.rng.IntN(8) - 1
	w.oracle.tick(w.now)
	facts := w.facts()
	if facts.FreeSlots < 1 {
		facts.FreeSlots = 1
	}
	if _, _, _, _, totals := w.oracle.phase(); machine >= 0 && machine < len(totals) {
		of := new(estimate.Empirical)
		for _, x := range totals {
			of.Insert(x)
		}
		facts.Peers.Machine = restart.MachineProgress{Total: totals[machine], Of: of}
	}
	best, want := -1, restart.Decision{Reason: restart.NothingToDo}
	blocked := []restart.Reason{}
	for i := range w.oracle.tasks {
		if !w.oracle.tasks[i].candidate {
			continue
		}
		d := w.want(i, facts, true)
		w.settle(i, d)
		if d.Action == restart.Duplicate && d.Avoid.Has(machine) {
			d = restart.Decision{Reason: restart.SameMachine}
		}
		if candidate(d) && d.Action == restart.Keep {
			blocked = append(blocked, d.Reason)
		}
		if d.Action != restart.Keep && (best < 0 || d.Gain > want.Gain) {
			best, want = i, d
		}
	}
	if best < 0 {
		if best = w.oracle.firstWaiting(machine); best >= 0 {
			want = restart.Decision{Action: restart.Start, Reason: restart.LargestWork}
		}
	}
	task, d := w.tracker.Next(w.now, machine)
	wholeTask, whole := w.whole.Next(w.now, machine)
	w.note("next on %d: %d %v", machine, task, d)
	if task != wholeTask || d != whole {
		w.fatal("a tracker that keeps less answers otherwise: %d %v, want %d %v", task, d, wholeTask, whole)
	}
	if d.Action == restart.Keep && task == -1 && best == -1 && len(blocked) > 0 {
		if !slices.Contains(blocked, d.Reason) {
			w.fatal("next keeps for %v, want one of %v", d.Reason, blocked)
		}
		return
	}
	if task != best || d != want {
		w.fatal("next is %d %v, want %d %v", task, d, best, want)
	}
}

// The Tracker against the oracle, under random events with rubbish among them.
func TestTrackerAgainstOracle(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			acted := 0
			for seed := range uint64(60) {
				w := newWorld(t, policy, seed)
				for range 250 {
					w.step()
					if got, want := w.tracker.Ledger(), w.oracle.ledger(); got != want || w.whole.Ledger() != want {
						w.fatal("ledger is %+v, want %+v", got, want)
					}
				}
				w.facts()
				for _, line := range w.log {
					if strings.Contains(line, " duplicate ") || strings.Contains(line, " restart fresh") {
						acted++
					}
				}
			}
			if name != "never" {
				assert.Greater(t, acted, 50, "the events must make the policy act, or this shows nothing")
			}
		})
	}
}
