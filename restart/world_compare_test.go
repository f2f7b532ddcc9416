package restart_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

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
	if !w.oracle.runs(task) {
		return restart.Decision{Reason: restart.NotRunning}
	}
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
