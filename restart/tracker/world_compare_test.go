package tracker_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// compare checks two decisions of a tracker about a task against the policy's decision on the oracle's facts.
func (w *world) compare(task int, known bool, d, whole tracker.Answer) {
	if !same(d, whole) {
		w.fatal("a tracker that keeps less decides otherwise: %v, want %v", d, whole)
	}
	want := tracker.Answer{Task: max(task, -1), Decision: restart.Decision{Reason: restart.NotRunning}}
	if known {
		want = w.want(task, w.facts())
		w.settle(task, want.Decision)
	}
	if !same(d, want) {
		w.fatal("task %d: %v, want %v", task, d, want)
	}
	w.count(d)
	w.note("  %v", d)
}

// facts returns the oracle's facts of the phase, with the distributions of the tracker whole. These were compared
// before.
func (w *world) facts() restart.Phase {
	got := w.whole.Phase()
	want, durations, finishedRates, progressRates, _ := w.oracle.phase()
	if math.Abs(got.Peers.MeanScore-want.Peers.MeanScore) > 1e-12 || math.Abs(got.Peers.Throughput-want.Peers.Throughput) > 1e-12*want.Peers.Throughput {
		w.fatal("mean score and throughput are %v, %v, want %v, %v", got.Peers.MeanScore, got.Peers.Throughput, want.Peers.MeanScore, want.Peers.Throughput)
	}
	w.same("durations", got.Peers.Durations, durations)
	w.same("finished rates", got.Peers.UnitTimes, finishedRates)
	w.same("progress rates", got.Peers.ProgressRates, progressRates)
	peers := got.Peers
	got.Peers, want.Peers = restart.Peers{}, restart.Peers{}
	if got != want {
		w.fatal("phase is %+v, want %+v", got, want)
	}
	want.Peers = peers
	if _, mantri := w.policy.(certain); mantri {
		w.sameRates()
	}
	return want
}

func (w *world) sameRates() {
	want := w.oracle.rates
	for _, r := range []*estimate.UnitTimes{w.tracker.UnitTimes(), w.whole.UnitTimes()} {
		if r.Samples() != want.Samples() {
			w.fatal("%d samples of t_new, want %d", r.Samples(), want.Samples())
		}
		for i := 0; r.Known() && i < r.Samples(); i++ {
			p := (float64(i) + 0.5) / float64(r.Samples())
			if got, want := r.Quantile(p), want.Quantile(p); got != want {
				w.fatal("sample %d of t_new is %v, want %v", i, got, want)
			}
		}
	}
}

func (w *world) same(what string, got estimate.Distribution, want []float64) {
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

// count counts a decision that acts.
func (w *world) count(a tracker.Answer) {
	if a.Action == restart.Copy || a.Action == restart.Restart {
		w.acted++
	}
}

// same compares the decisions of two answers.
func same(a, b tracker.Answer) bool {
	return a.Decision == b.Decision && a.Task == b.Task && a.Attempt == b.Attempt
}

// want returns the policy's decision on the oracle's facts, with the number of the attempt.
func (w *world) want(task int, facts restart.Phase) (a tracker.Answer) {
	a.Task = task
	if !w.oracle.runs(task) {
		a.Reason = restart.NotRunning
		return a
	}
	view := w.oracle.task(task)
	a.Decision = restart.Hold(w.policy.Decide(view, facts), view, facts)
	if late, ok := w.policy.(rules.LATE); ok && a.Action == restart.Copy {
		if bad := w.oracle.behind(late.Effective().SlowNode); len(bad) > 0 {
			all := map[int]bool{}
			for _, c := range view.Attempts {
				all[c.Machine] = true
			}
			for _, machine := range append(slices.Clone(bad), view.PastMachines...) {
				all[machine] = true
			}
			delete(all, -1)
			if facts.Machines == 0 || len(all) < facts.Machines {
				bad = append(bad, view.PastMachines...)
			}
			view.PastMachines = bad
			a.Avoid = restart.Avoid(view, facts)
		}
	}
	for _, c := range w.oracle.running(task) {
		bad := len(c.reports) > 0 && w.oracle.odd(c, c.reports[len(c.reports)-1]) || w.oracle.tiny
		if bad && a.Action == restart.Keep && a.Decision.Reason == restart.NoEstimate {
			a.Reason = restart.BadUnits
		}
	}
	if a.Action == restart.Restart || a.Action == restart.Kill {
		a.Attempt = w.oracle.running(task)[a.Attempt].attempt
	}
	return a
}

// behind returns the machines with a total progress below the percentile, least first.
func (o *oracle) behind(percentile float64) []int {
	_, _, _, _, totals := o.phase()
	var slow []int
	for place, machine := range o.machines {
		if percentile != restart.Off && totals[place] < empirical(totals).Quantile(percentile) {
			slow = append(slow, machine)
		}
	}
	slices.SortStableFunc(slow, func(a, b int) int {
		return cmp.Compare(totals[slices.Index(o.machines, a)], totals[slices.Index(o.machines, b)])
	})
	return slow[:min(len(slow), restart.MaxAvoid)]
}

func empirical(values []float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for _, x := range values {
		e.Insert(x)
	}
	return e
}

// settle records whether the decision makes the task a candidate for the next free slot.
func (w *world) settle(task int, d restart.Decision) {
	w.oracle.tasks[task].candidate = candidate(d)
}

func candidate(d restart.Decision) bool {
	switch d.Reason {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return d.Action == restart.Keep
	}
	return d.Action == restart.Copy
}

func (w *world) sweep() {
	w.note("sweep")
	w.oracle.tick(w.now)
	var got, whole []string
	w.tracker.Sweep(w.now, func(a tracker.Answer) { got = append(got, fmt.Sprint(a.Task, " ", a)) })
	w.whole.Sweep(w.now, func(a tracker.Answer) { whole = append(whole, fmt.Sprint(a.Task, " ", a)) })
	facts := w.facts()
	var want []string
	for i := range w.oracle.tasks {
		if len(w.oracle.running(i)) == 0 {
			continue
		}
		a := w.want(i, facts)
		w.settle(i, a.Decision)
		if a.Action != restart.Keep {
			want = append(want, fmt.Sprint(i, " ", a))
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

// next checks the answer to the offer of a free slot. All candidates are decided as if a slot were free, and the
// largest gain wins.
func (w *world) next() {
	machine := w.rng.IntN(8) - 1
	w.oracle.tick(w.now)
	facts := w.facts()
	if facts.FreeSlots < 1 {
		facts.FreeSlots = 1
	}
	if _, _, _, _, totals := w.oracle.phase(); machine >= 0 && len(totals) > 0 {
		facts.Peers.Machine.Of = empirical(totals)
		if place := slices.Index(w.oracle.machines, machine); place >= 0 {
			facts.Peers.Machine.Total = totals[place]
		}
	}
	want := tracker.Answer{Task: -1, Decision: restart.Decision{Reason: restart.NothingToDo}}
	blocked, candidates, refused := []restart.Reason{}, map[int]restart.Decision{}, false
	for i := range w.oracle.tasks {
		if !w.oracle.tasks[i].candidate {
			continue
		}
		a := w.want(i, facts)
		candidates[i] = a.Decision
		refused = refused || candidate(a.Decision) && a.Action == restart.Keep
		if a.Action == restart.Copy && a.Avoid.Has(machine) {
			a.Decision = restart.Decision{Reason: restart.SameMachine}
		}
		if candidate(a.Decision) && a.Action == restart.Keep {
			blocked = append(blocked, a.Reason)
		}
		if a.Action != restart.Keep && (want.Task < 0 || a.Gain > want.Gain) {
			want = a
		}
	}
	if w.oracle.config.Slots == 0 {
		a := w.tracker.Next(w.now, machine)
		w.note("next on %d without slots: %v", machine, a)
		wants := len(candidates) > 0 || w.oracle.firstWaiting(machine) >= 0
		if !same(a, w.whole.Next(w.now, machine)) || a.Action != restart.Keep || wants != (a.Reason == restart.NoFreeSlot) {
			w.fatal("next is %d %v without slots, where there is something to do: %v", a.Task, a, wants)
		}
		return
	}
	for i, d := range candidates {
		if !refused || !rules.Describe(w.policy).CopiesOnly { // a slot that is refused changes nothing
			w.settle(i, d)
		}
	}
	if want.Task < 0 {
		if task := w.oracle.firstWaiting(machine); task >= 0 {
			want = tracker.Answer{
				Task: task, Decision: restart.Decision{Action: restart.Start, Reason: restart.NextWaiting},
			}
		}
	}
	d := w.tracker.Next(w.now, machine)
	whole := w.whole.Next(w.now, machine)
	w.count(d)
	w.note("next on %d: %d %v", machine, d.Task, d)
	if !same(d, whole) {
		w.fatal("a tracker that keeps less answers otherwise: %d %v, want %d %v", d.Task, d, whole.Task, whole)
	}
	if d.Action == restart.Keep && d.Task == -1 && want.Task == -1 && len(blocked) > 0 {
		if !slices.Contains(blocked, d.Reason) {
			w.fatal("next keeps for %v, want one of %v", d.Reason, blocked)
		}
		return
	}
	if !same(d, want) {
		w.fatal("next is %d %v, want %d %v", d.Task, d, want.Task, want)
	}
}
