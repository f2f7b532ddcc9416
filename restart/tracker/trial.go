package tracker

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// trials is what the phase's restarts and copies have come to, for a policy that reads it. Each says something of
// whether tasks are slow by themselves or by their attempts.
type trials struct {
	on          bool
	sized       bool    // the works are known
	same, other float64 // how many have shown that a new copy is as slow, and that it is not
	won, tried  int
	cost        time.Duration // of those that were lost, less what was saved by those that were won
	risk        total         // of those that may come out lost, less what those save that look won
	open        []int32       // histories, of those that have not come out
	mixed       mixture       // scratch of look
	pupil       *pupil        // nil: there is no experience
}

// trial is the latest action about a task.
type trial struct {
	kind    trialKind
	lost    int32         // of the task's, that have come out
	implied float32       // seconds of a unit of work that the old copy would have taken
	chance  float32       // that it was given to be won
	likely  bool          // it looks as if it were won
	began   time.Duration // when it began
	left    time.Duration // t_rem when it began
	risk    time.Duration // what it costs if it is lost
	saves   time.Duration // what it is taken to save as long as it is likely
}

type trialKind uint8

const (
	noTrial trialKind = iota
	byCopy
	byRestart
)

const (
	priorSame, priorOther       = 0.5, 1.5  // before any has come out: one in four is in vain
	reportedSame, reportedOther = 0.05, 5.0 // where works are known and copies report: one in a hundred
	mostDoubt                   = 0.4       // what one task shows must be able to outweigh what others have shown
	againOdds                   = 2.0       // by what one that was lost raises the odds that the next is in vain
	mostLikely                  = 0.5       // and never outweighs what others take: a task that hangs is not given up
	mostPatience                = 3         // trials of a task that were lost, of which each doubles the time that the next is given
	luck, reportedLuck          = 0.15, 0.4 // how many of those that are lost are lost by bad luck, at least
	lessBy                      = 1.5       // a restart is won by a time that is shorter by this factor
	showIntervals               = 3         // after which a copy that reports has shown whether it gains
	shownFrom                   = 2         // intervals after which it may look so
	usualTimes                  = 1.5       // after which one that does not report has
	silentTimes                 = 2         // errors not seen that it counts, where works are not known
	paidTimes                   = 4         // usual times that are counted at most of what one has saved
	trialPoints                 = 16
)

// try notes that a task is about to be restarted or copied because it is slow.
func (j *judge) try(task int32, kind trialKind) {
	b := j.book
	s := &b.tasks[task]
	if !b.runs(s) {
		return
	}
	var view restart.Task
	j.look(&view, task, askNone)
	c := fastest(view.Copies)
	if c == nil || view.Fresh.UnitTime == nil {
		return
	}
	b.history(s)
	x := &b.histories[s.history].trial
	j.drop(s.history)
	*x = trial{
		kind: kind, lost: x.lost,
		implied: float32(min(num.Add(c.Elapsed, c.Remaining).Seconds()/j.unit(s), math.MaxFloat32)),
		began:   b.now, left: c.Remaining, risk: c.Elapsed,
	}
	if kind == byCopy {
		x.risk = num.Add(num.Times(j.facts.Interval, showIntervals), view.Fresh.Lag)
		if c.Basis != restart.ByProgress {
			usual, _ := num.Duration(view.Fresh.UnitTime.Quantile(0.5) * view.Fresh.Work)
			patience := usualTimes * float64(int(1)<<min(max(x.lost, 0), mostPatience))
			x.risk = num.Add(num.Times(min(usual, view.Fresh.Expected()), patience), view.Fresh.Lag)
		}
	} else if view.Stuck {
		x.risk = j.pay(s, x.risk) // its slot was as good as lost
	}
	chance := 0.0
	for k := range trialPoints {
		left := c.Remaining.Seconds()
		if c.Left != nil {
			left = c.Left.Quantile((float64(k) + 0.5) / trialPoints)
		}
		chance += float64(view.Fresh.Below(left) / trialPoints) // not fused
	}
	x.chance = float32(min(max(chance, 0), 1))
	j.trials.open = append(j.trials.open, s.history)
	j.trials.risk = j.trials.risk.plus(totalOf(x.risk))
}

// fastest returns the copy that ends first; nil if nothing is known of any.
func fastest(copies []restart.Copy) (c *restart.Copy) {
	for i := range copies {
		if o := &copies[i]; o.Remaining != estimate.Unknown && (c == nil || o.Remaining < c.Remaining) {
			c = o
		}
	}
	return c
}

// unit is the work that counts of a task.
func (j *judge) unit(s *taskState) float64 {
	if w := j.forecast.rates.Work(s.work); w > 0 {
		return w
	}
	return 1
}

// trying returns the history of a task whose trial has not come out; none if there is none.
func (j *judge) trying(s *taskState) int32 {
	if s.history == none || j.book.histories[s.history].trial.kind == noTrial {
		return none
	}
	return s.history
}

// drop forgets a trial that has not come out.
func (j *judge) drop(history int32) {
	if x := &j.book.histories[history].trial; x.kind != noTrial {
		j.seems(x, true, 0) // it is no risk any more, and saves nothing
		x.kind = noTrial
		at := slices.Index(j.trials.open, history)
		j.trials.open = slices.Delete(j.trials.open, at, at+1)
	}
}

// noteTrial takes note of whether the trial of a task looks as if it were won, by the progress of its copies.
func (j *judge) noteTrial(s *taskState, view *restart.Task) {
	h := j.trying(s)
	if h == none {
		return
	}
	x, k, longest := &j.book.histories[h].trial, 0, time.Duration(0)
	for i := range view.Copies {
		longest = max(longest, num.Add(view.Copies[i].Elapsed, view.Copies[i].Remaining))
	}
	if x.kind == byRestart {
		longest, _ = num.Duration(float64(x.implied) * j.unit(s))
	}
	likely, saves := false, time.Duration(0)
	for i := s.copies; i != none && k < len(view.Copies); i, k = j.book.copies.all[i].next, k+1 {
		c := &view.Copies[k]
		if c.Basis == restart.ByProgress && c.Elapsed >= num.Times(j.facts.Interval, shownFrom) &&
			(x.kind == byRestart || j.book.isExtra(s, &j.book.copies.all[i])) {
			if num.Times(num.Add(c.Elapsed, c.Remaining), lessBy) < longest {
				likely, saves = true, max(saves, num.Sub(x.leaves(j.book.now), c.Remaining))
			}
		}
	}
	j.seems(x, likely, j.pay(s, saves))
}

// leaves is how much the old copy would have left now, by what was known when the trial began.
func (x *trial) leaves(now time.Duration) time.Duration {
	return num.Sub(x.left, num.Sub(now, x.began))
}

// pay is what counts of the time that a trial saves: one task that hangs must not pay for all that follow.
func (j *judge) pay(s *taskState, saved time.Duration) time.Duration {
	if usual, known := j.forecast.usual(s.stint(0)); known {
		saved = min(saved, num.Times(usual, paidTimes))
	}
	return max(saved, 0)
}

// seems takes note of whether a trial looks as if it were won: then it risks nothing, and what it saves counts.
func (j *judge) seems(x *trial, likely bool, saves time.Duration) {
	before := x.counts()
	x.likely, x.saves = likely, saves
	j.trials.risk = j.trials.risk.minus(before).plus(x.counts())
}

// counts is what a trial adds to what is at risk.
func (x *trial) counts() total {
	if x.likely {
		return total{}.minus(totalOf(x.saves))
	}
	return totalOf(x.risk)
}

// atRisk is what the trials cost, those of the kind if there is an experience, if all that may come out are lost.
func (j *judge) atRisk() time.Duration {
	cost, risk := j.trials.pupil.all(&j.trials)
	return num.Add(cost, risk.duration())
}
