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
	r := w.tracker.Rates()
	want := w.oracle.rates(r.Work)
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

// Next of a Tracker is Next over the same facts, when all tasks were judged on them.
func TestTrackerNextIsNext(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			compared := 0
			for seed := range uint64(200) {
				w := newWorld(t, policy, 1000+seed)
				for range 60 {
					w.step()
				}
				acts := false // a Sweep tells of restarts and kills at once; Next is for what is left
				w.tracker.Sweep(w.now, func(_ int, d restart.Decision) { acts = acts || d.Action != restart.Duplicate })
				if acts || w.tracker.Phase().FreeSlots == 0 {
					continue
				}
				w.oracle.tick(w.now)
				var running []restart.Task
				var works []float64
				var runs, waits []int
				for i := range w.oracle.tasks {
					if len(w.oracle.running(i)) > 0 {
						running = append(running, w.oracle.task(i, w.tracker.Rates()))
						runs = append(runs, i)
					} else if !w.oracle.tasks[i].finished {
						works = append(works, w.oracle.work[i])
						waits = append(waits, i)
					}
				}
				i, want := restart.Next(policy, running, works, w.tracker.Phase())
				task, got := w.tracker.Next(w.now, -1)
				if want.Action == restart.Keep {
					require.Equal(t, -1, task)
					require.Equal(t, restart.Keep, got.Action)
					continue
				}
				if want.Action == restart.Start {
					i = waits[i]
				} else {
					i = runs[i]
				}
				require.Equal(t, i, task, "%v, want %v", got, want)
				require.Equal(t, want, got)
				compared++
			}
			assert.Greater(t, compared, 20)
		})
	}
}

// Prune names what Decide kills one by one, and Decide never kills the last copy.
func TestPruneIsDecideAndKill(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	pruned := 0
	for range 20000 {
		m := restart.Mantri{FastestKept: rng.IntN(4), CopyPause: float64(rng.IntN(4))}
		p := restart.Phase{Interval: time.Duration(rng.IntN(4)-1) * time.Second, Waiting: rng.IntN(2)}
		copies := make([]restart.Copy, rng.IntN(7))
		for i := range copies {
			copies[i] = restart.Copy{
				Machine: i, Elapsed: time.Duration(rng.IntN(8)-1) * time.Second, Remaining: time.Duration(rng.IntN(5)-1) * time.Second,
			}
			if rng.IntN(5) == 0 {
				copies[i].Remaining = estimate.Unknown
			}
		}
		want := m.Prune(nil, copies, p)
		require.True(t, slices.IsSorted(want))
		pruned += len(want)
		task := restart.Task{Copies: slices.Clone(copies), Fresh: fresh(1e9)}
		var got []int
		for {
			d := m.Decide(task, p)
			if d.Action != restart.Kill {
				break
			}
			got = append(got, task.Copies[d.Copy].Machine)
			task.Copies = slices.Delete(task.Copies, d.Copy, d.Copy+1)
		}
		require.True(t, len(task.Copies) > 0 || len(copies) == 0)
		slices.Sort(got)
		require.Equal(t, len(want), len(got), "%+v %+v", m, copies)
		require.True(t, slices.Equal(want, got), "%+v %+v: %v, want %v", m, copies, got, want)
	}
	assert.Greater(t, pruned, 1000)
}

// loop runs a random phase with stragglers: a tenth of the attempts run 3 to 20 times as long as their work wants.
func loop(t *testing.T, seed uint64, c restart.Config, exact bool, watch func(s *sim, now time.Duration, task int, d restart.Decision)) *sim {
	rng := rand.New(rand.NewPCG(seed, 11))
	c.Work = make([]float64, 20+rng.IntN(100))
	for i := range c.Work {
		c.Work[i] = 20 + rng.ExpFloat64()*40
	}
	c.Machines, c.Interval = 4+rng.IntN(20), 5*time.Second
	if c.Budget != nil {
		var err error
		config := c.Budget.Config()
		config.Slots = c.Machines
		c.Budget, err = restart.NewBudget(config)
		require.NoError(t, err)
	}
	work := c.Work
	s := newSim(t, c, func(task, _, _ int) time.Duration {
		factor := 0.8 + 0.4*rng.Float64()
		if rng.IntN(10) == 0 {
			factor = 3 + 17*rng.Float64()
		}
		return seconds(work[task] * factor)
	})
	s.exact = exact
	s.watch = func(now time.Duration, task int, d restart.Decision) { watch(s, now, task, d) }
	s.run(t)
	return s
}

// §5.1 in a closed loop, with accurate and with extrapolated estimates: a task is restarted at most γ times, has never
// more than three copies, and gets none soon after another was launched or killed.
func TestMantriClosedLoop(t *testing.T) {
	var all restart.Ledger
	for seed := range uint64(150) {
		restarts, changed := map[int]int{}, map[int]time.Duration{}
		config := restart.Config{Policy: restart.Mantri{}}
		if seed%3 == 0 {
			config.Policy = restart.Mantri{MaxRestarts: restart.Off} // so that duplicates have to do
		}
		s := loop(t, seed, config, seed%2 == 0, func(s *sim, now time.Duration, task int, d restart.Decision) {
			running := 0
			for attempt := range 40 {
				if _, ok := s.copies[[2]int{task, attempt}]; ok {
					running++
				}
			}
			switch d.Action {
			case restart.Duplicate:
				require.Less(t, running, 3, "never more than three")
				if last, ok := changed[task]; ok {
					require.GreaterOrEqual(t, now-last, 2*s.interval, "task %d at %v", task, now)
				}
				changed[task] = now
				if d.Reason == restart.SavesResources && running == 1 {
					require.Greater(t, d.Value, 0.25)
				}
			case restart.Restart:
				restarts[task]++
				require.LessOrEqual(t, restarts[task], 3)
				require.Greater(t, d.Remaining, d.Fresh+s.interval)
				if running > 1 {
					changed[task] = now
				}
			case restart.Kill:
				changed[task] = now
				require.Greater(t, running, 2)
			}
		})
		l := s.tracker.Ledger()
		require.Equal(t, len(s.work), l.Finished)
		require.Equal(t, 0, l.Ignored)
		require.Equal(t, s.tracker.Phase().Slots, s.tracker.Phase().FreeSlots)
		require.LessOrEqual(t, l.Wasted, l.Used)
		all.Copies += l.Copies
		all.Won += l.Won
		all.Restarts += l.Restarts
		all.Pruned += l.Pruned
		all.Saved += l.Saved
	}
	assert.Greater(t, all.Copies, 100)
	assert.Greater(t, all.Restarts, 100)
	assert.Positive(t, all.Saved)
}

// No policy starves a phase, and every run is the same to the last bit.
func TestClosedLoopsAreDeterministic(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(8) {
				run := func() (log []string, l restart.Ledger) {
					s := loop(t, seed, restart.Config{Policy: policy}, false, func(_ *sim, now time.Duration, task int, d restart.Decision) {
						log = append(log, fmt.Sprintf("%v %d %v %d", now, task, d, d.Copy))
					})
					return log, s.tracker.Ledger()
				}
				log, ledger := run()
				again, second := run()
				require.Equal(t, log, again)
				require.Equal(t, ledger, second)
			}
		})
	}
}

// A host that asks before it launches never exceeds a budget, and copies that run are never refused afterwards.
func TestBudgetIsKept(t *testing.T) {
	refused, launched := 0, 0
	for seed := range uint64(60) {
		budget, err := restart.NewBudget(restart.BudgetConfig{Slots: 10, Share: 0.15, Rate: 0.05, Floor: 1})
		require.NoError(t, err)
		copies, first := 0, map[int]bool{}
		config := restart.Config{Budget: budget, Policy: restart.Mantri{MaxRestarts: restart.Off}}
		s := loop(t, seed, config, true, func(s *sim, _ time.Duration, task int, d restart.Decision) {
			switch d.Action {
			case restart.Start:
				first[task] = true
			case restart.Duplicate:
				copies++
				running := s.tracker.Phase().Speculative + 1
				require.True(t, running <= 1 || float64(running)/float64(s.tracker.Phase().Slots) <= 0.15)
				require.LessOrEqual(t, float64(copies), 1+0.05*float64(len(first))+1e-9, "the floor, and what the started tasks earned")
			}
		})
		b := s.tracker.Config().Budget
		require.Zero(t, b.Running(), "all given back")
		launched += copies
		if !b.Allows() {
			refused++
		}
	}
	assert.Greater(t, launched, 50)
	assert.Greater(t, refused, 10)
}
