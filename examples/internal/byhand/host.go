// Package byhand is a host that keeps the facts of a phase itself and calls [restart.Decide] at each report. It is an
// example of a host without package tracker. It keeps the attempts with their progress and times, a [restart.Trials],
// and a [restart.Trial] for each task. The command survey -worlds -list reference (or own) -seeds 30 -policies
// default,by-hand compares it with the tracker.
//
// The remaining time of an attempt that reports comes from its speed, with a spread of a third. The remaining time of
// a silent attempt comes from the attempts that have run for longer. So the host believes all reports: if progress
// stalls for a while, the host makes copies in vain, and the tracker does not.
//
// Some facts are hard to keep by hand, so the host leaves them unknown: the sizes of tasks, slow machines, the
// distance to data (the locations), and how long the phase was idle.
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

// Host is the host of one phase. The program must keep Phase.Waiting and Phase.FreeSlots up to date. All times are
// measured from the beginning of the phase.
type Host struct {
	restart.Phase
	Model    estimate.Linear // model of progress; a Grace of two intervals and a Window of six suit many tasks
	Lag      time.Duration   // time from the decision to start an attempt to its start
	Tasks    []Task
	attempts []*Attempt
	took     survival.Curve
}

// Task has the facts about a task that [restart.Decide] reads, and the beginning of its latest copy.
type Task struct {
	restart.Task
	trial  restart.Trial
	copied time.Duration
}

// Attempt is an attempt. While it runs, Ended is in the future. Copy is true if the attempt began beside another
// attempt.
type Attempt struct {
	Task, Number, Machine int
	Begun, Ended          time.Duration
	Copy                  bool
	progress              estimate.Progress
}

const forever = time.Duration(math.MaxInt64)

// Decide returns the decision about a running task, the facts on which it rests, and the attempts in the order of
// these facts.
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

// Start records the beginning of an attempt.
func (h *Host) Start(now time.Duration, i, machine int) *Attempt {
	t, a := &h.Tasks[i], &Attempt{Task: i, Machine: machine, Begun: now, Ended: forever}
	if _, facts, runs := h.Decide(now, i); len(runs) > 0 {
		h.Trials.Begin(&t.trial, &facts, &h.Phase, restart.Copy)
		a.Copy, t.copied, t.Copies = true, now, t.Copies+1
	}
	t.PastMachines, h.attempts = slices.Insert(t.PastMachines, 0, machine), append(h.attempts, a)
	return a
}

// Report records the share of its work that an attempt has done, from 0 to 1.
func (h *Host) Report(now time.Duration, a *Attempt, done float64) {
	h.Model.Report(&a.progress, now-a.Begun, done)
}

// Finish records that an attempt has ended its task. The caller then kills the other attempts of the task.
func (h *Host) Finish(now time.Duration, a *Attempt) {
	h.Report(now, a, 1)
	h.Trials.Finish(&h.Tasks[a.Task].trial, now-a.Begun, !a.Copy)
	a.Ended = now
}

// End records that an attempt has ended without success. The action is Kill if the host killed one of several
// attempts, Restart if it killed the attempt to start the task anew, and Keep if the attempt failed.
func (h *Host) End(now time.Duration, a *Attempt, action restart.Action) {
	t := &h.Tasks[a.Task]
	_, facts, of := h.Decide(now, a.Task)
	switch {
	case action == restart.Kill:
		h.Trials.Kill(&t.trial, &facts, &h.Phase, slices.Index(of, a), !a.Copy)
	case action == restart.Restart:
		h.Trials.Begin(&t.trial, &facts, &h.Phase, action)
		t.Restarts++
	case a.Copy:
		h.Trials.Fail(&t.trial)
	}
	a.Ended = now
}
