// Package byhand is a host that keeps the facts of a phase itself, and asks [restart.Decide] about a task at each
// report. It does not use package tracker. It keeps the attempts, how far they are, how long they took, a
// [restart.Trials], and a [restart.Trial] of each task. Beside the tracker it plays by survey -worlds -list reference
// (or own) -seeds 30 -policies default,by-hand.
//
// The remaining time of an attempt that reports is what its speed lets it take, give or take a third. The remaining
// time of a silent attempt is what is left of the attempts that have run for longer. So the host believes what attempts
// report: where progress stalls for a while it makes copies in vain, and the tracker does not.
//
// The host leaves unknown what is hard to keep by hand: sizes of tasks, slow machines and ways to data (the
// locations), and for how long the phase was idle.
package byhand

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// Host is the host of one phase. Of the Phase keep Waiting and FreeSlots as they are. Times are since the phase began.
type Host struct {
	restart.Phase
	Model    estimate.Linear // of progress; a Grace of two intervals and a Window of six suit many tasks
	Lag      time.Duration   // from a launch until the attempt runs
	Tasks    []Task
	attempts []*Attempt
	took     survival.Curve
}

// Task is what is kept of a task: the counts that [restart.Decide] reads, and when its latest copy began.
type Task struct {
	restart.Task
	copied time.Duration
}

// Attempt is an attempt. Ended is in the future while it runs. Copy says that it began beside another.
type Attempt struct {
	Task, Number, Machine int
	Begun, Ended          time.Duration
	Copy                  bool
	progress              estimate.Progress
}

const forever = time.Duration(math.MaxInt64)

// Decide says what to do about a task that runs, on what facts, and about which attempts.
func (h *Host) Decide(now time.Duration, i int) (d restart.Decision, t restart.Task, of []*Attempt) {
	h.took.Reset()
	t = h.Tasks[i].Task
	for _, a := range h.attempts {
		age, left, reports := min(now, a.Ended)-a.Begun, time.Duration(0), a.progress.Done() > 0
		if reports {
			left = max(h.Model.Remaining(&a.progress, age, 1), 1)
		}
		h.took.Observe((age + left).Seconds(), reports)
		if a.Task == i && a.Ended == forever {
			c := restart.Attempt{Machine: a.Machine, Elapsed: age, Done: a.progress.Done(), Basis: restart.ByAge}
			c.Left = survival.Residual{Curve: &h.took, Age: age.Seconds()}
			if reports {
				c.Left, c.Basis = distuv.LogNormal{Mu: math.Log(left.Seconds()), Sigma: .3}, restart.ByProgress
			}
			t.Attempts, of = append(t.Attempts, c), append(of, a)
		}
	}
	h.took.Fit()
	for k := range t.Attempts {
		t.Attempts[k].Remaining = time.Duration(min(t.Attempts[k].Left.Mean()*1e9, 1e18))
	}
	t.Fresh = estimate.Fresh{UnitTime: &h.took, Work: 1, Lag: h.Lag}
	if t.Copies > 0 {
		t.SinceCopy = now - h.Tasks[i].copied
	}
	return restart.Decide(t, h.Phase), t, of
}

// Start notes that an attempt begins.
func (h *Host) Start(now time.Duration, i, machine int) *Attempt {
	t, a := &h.Tasks[i], &Attempt{Task: i, Machine: machine, Begun: now, Ended: forever}
	if _, facts, runs := h.Decide(now, i); len(runs) > 0 {
		h.Trials.Begin(&t.Trial, &facts, &h.Phase, restart.Copy)
		a.Copy, t.copied = true, now
		t.Copies++
	}
	t.PastMachines, h.attempts = slices.Insert(t.PastMachines, 0, machine), append(h.attempts, a)
	return a
}

// Report notes which share of its work an attempt has done.
func (h *Host) Report(now time.Duration, a *Attempt, done float64) {
	h.Model.Report(&a.progress, now-a.Begun, done)
}

// Finish notes that an attempt has ended its task. Then kill the others.
func (h *Host) Finish(now time.Duration, a *Attempt) {
	h.Report(now, a, 1)
	h.Trials.Finish(&h.Tasks[a.Task].Trial, now-a.Begun, !a.Copy)
	a.Ended = now
}

// End notes that an attempt has ended without success. The action says what the host did: Kill for one of several attempts,
// Restart, or Keep if the attempt has failed.
func (h *Host) End(now time.Duration, a *Attempt, action restart.Action) {
	t := &h.Tasks[a.Task]
	_, facts, of := h.Decide(now, a.Task)
	switch {
	case action == restart.Kill:
		h.Trials.Kill(&t.Trial, &facts, &h.Phase, slices.Index(of, a), !a.Copy)
	case action == restart.Restart:
		h.Trials.Begin(&t.Trial, &facts, &h.Phase, action)
		t.Restarts++
	case a.Copy:
		h.Trials.Fail(&t.Trial)
	}
	a.Ended = now
}
