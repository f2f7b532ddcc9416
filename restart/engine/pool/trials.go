package pool

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// trials is what the restarts and copies of a Map have come to: by it restart.Guarded bounds what wrong guesses cost. A
// copy is won if it ends first; a restart if the new run takes less than two thirds of what the old one would have.
// Package restart/tracker reckons in the same way.
type trials struct {
	won, tried   int
	cost         time.Duration // of goroutines' time: of those that were lost, less what those that were won have saved
	open, wanted time.Duration // what those may cost that have not come out, and those that wait for a goroutine
}

// trial is the latest restart or copy of an item, until it comes out.
type trial struct {
	action  restart.Action // Keep: there is none
	began   time.Time
	left    time.Duration // t_rem when it began
	implied time.Duration // that the old run would have taken
	risk    time.Duration // what it costs if it is lost
}

const (
	lessBy     = 1.5 // a restart is won by a time that is shorter by this factor
	usualTimes = 1.5 // usual times that a copy costs which is lost
)

// newTrial is what a decision to restart or copy a task puts at risk.
func newTrial(t *restart.Task, d restart.Decision) trial {
	x := trial{action: d.Action, left: d.Remaining}
	fastest := &t.Copies[0]
	for i := range t.Copies {
		if c := &t.Copies[i]; c.Remaining < fastest.Remaining {
			fastest = c
		}
	}
	x.implied = fastest.Elapsed + fastest.Remaining
	if d.Action == restart.Restart {
		x.risk = t.Copies[d.Copy].Elapsed
	} else {
		x.risk = seconds(usualTimes * min(t.Fresh.Quantile(0.5), d.Fresh.Seconds()))
	}
	return x
}

// atRisk is what the trials cost if those that may come out are lost.
func (t *trials) atRisk() time.Duration { return t.cost + t.open + t.wanted }

func (t *trials) begin(d *disputed, x trial, now time.Time) {
	t.drop(d)
	d.trial, d.trial.began = x, now
	t.open += x.risk
}

// drop forgets an item's trial.
func (t *trials) drop(d *disputed) {
	t.open -= d.trial.risk
	d.trial = trial{}
}

// result takes note of what an item's trial has come to, as one of its runs has the result; the first of them would
// still take so long.
func (t *trials) result(d *disputed, at int, now time.Time, left time.Duration) {
	x, took := &d.trial, now.Sub(d.runs[at].begun)
	switch {
	case x.action == restart.Restart && float64(took)*lessBy < float64(x.implied):
		t.win(x.left - now.Sub(x.began))
	case x.action == restart.Restart:
		t.lose(x.risk)
	case x.action == restart.Duplicate && at > 0:
		t.win(left)
	case x.action == restart.Duplicate:
		for _, r := range d.runs[1:] {
			t.lose(now.Sub(r.begun))
		}
	}
}

// needless takes note that the run which a trial was to replace has ended with a result.
func (t *trials) needless(d *disputed, now time.Time) {
	if d.trial.action != restart.Keep {
		var cost time.Duration
		for _, r := range d.runs {
			cost += now.Sub(r.begun)
		}
		t.lose(cost)
	}
	t.drop(d)
}

func (t *trials) win(saved time.Duration) {
	t.won++
	t.tried++
	t.cost -= max(saved, 0)
}

func (t *trials) lose(cost time.Duration) {
	t.tried++
	t.cost += cost
}
