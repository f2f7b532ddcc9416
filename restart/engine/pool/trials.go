package pool

import (
	"time"

	"github.com/straggler-go/straggler/restart"
)

// trials is the account of the restarts and copies of a Map, by which the policy bounds what wrong guesses cost.
type trials struct {
	restart.Trials               // AtRisk is of those that run
	wanted         time.Duration // the stakes of those that wait for a goroutine
}

// trial is the latest restart or copy of an item, until it comes out.
type trial struct {
	action  restart.Action // Keep: there is none
	began   time.Time
	left    time.Duration // t_rem when it began
	implied time.Duration // that the old run would have taken
	typical time.Duration // that a new run takes
	stake   time.Duration // what it costs if it is lost
}

// newTrial is what a decision to restart or copy a task puts at risk.
func newTrial(t *restart.Task, d restart.Decision) trial {
	fastest := &t.Copies[0]
	for i := range t.Copies {
		if c := &t.Copies[i]; c.Remaining < fastest.Remaining {
			fastest = c
		}
	}
	x := trial{action: d.Action, left: d.Remaining, typical: restart.Typical(&t.Fresh)}
	x.implied = fastest.Elapsed + fastest.Remaining
	if x.stake = restart.Patience(0, x.typical, fastest.Elapsed, true); d.Action == restart.Restart {
		x.stake = t.Copies[d.Copy].Elapsed
	}
	return x
}

// account is what the policy reads: trials that wait for a goroutine are at risk, too.
func (t *trials) account() restart.Trials {
	a := t.Trials
	a.AtRisk += t.wanted
	return a
}

func (t *trials) begin(d *disputed, x trial, now time.Time) {
	t.drop(d)
	d.trial, d.trial.began = x, now
	t.Begin(x.stake)
}

// drop forgets an item's trial.
func (t *trials) drop(d *disputed) {
	t.Drop(d.trial.stake)
	d.trial = trial{}
}

// lose takes note that an item's trial was lost.
func (t *trials) lose(d *disputed, cost time.Duration) {
	d.lost++
	t.Lose(cost, d.trial.implied)
}

// result takes note of what an item's trial has come to, as one of its runs has the result; the first of them would
// still take so long.
func (t *trials) result(d *disputed, at int, now time.Time, left time.Duration) {
	x, took := &d.trial, now.Sub(d.runs[at].begun)
	switch {
	case x.action == restart.Restart && float64(took)*restart.WonBy < float64(x.implied):
		t.Win(x.left-now.Sub(x.began), x.typical)
	case x.action == restart.Restart:
		t.lose(d, x.stake)
	case x.action == restart.Duplicate && at > 0:
		t.Win(left, x.typical)
	case x.action == restart.Duplicate:
		for _, r := range d.runs[1:] {
			t.lose(d, now.Sub(r.begun))
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
		t.lose(d, cost)
	}
	t.drop(d)
}
