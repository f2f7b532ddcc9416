package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// doubt is how probable it is that a new copy of a slow task is as slow.
func (j *judge) doubt() float64 {
	q, _ := j.lostShare()
	return min(q, mostDoubt)
}

// silence is how much it counts that progress may say nothing: the less, the more trials that it has led to were won.
func (j *judge) silence() float64 {
	if !j.trials.on {
		return 0
	}
	q, before := j.lostShare()
	if j.trials.sized {
		return min(q/before, 1)
	}
	return min(q/before, 1) * silentTimes
}

// lostShare is how probable it is that a trial shows a new copy to be as slow, and how probable it was before any had
// come out.
func (j *judge) lostShare() (q, before float64) {
	r, a, b := &j.trials, priorSame, priorOther
	if r.sized && j.forecast.reported {
		a, b = reportedSame, reportedOther
	}
	return (r.same + a) / (r.same + r.other + a + b), a / (a + b)
}

// mix lets a new copy take as long as the task's own seem to, as probably as trials have shown.
func (j *judge) mix(s *taskState, view *restart.Task) {
	f := &view.Fresh
	if f.UnitTime == nil || !(f.Work > 0) {
		return
	}
	own := 0.0
	for i := range view.Copies {
		c := &view.Copies[i]
		switch {
		case c.Remaining == estimate.Unknown:
		case c.Left == nil:
			return // what is left is known for certain, and no guess
		default:
			own = max(own, num.Add(c.Elapsed, c.Remaining).Seconds())
		}
	}
	if s.work > 0 {
		own *= float64(s.stint(j.book.saved(s))) / s.work // a new copy finds the rest done
	}
	location := f.Location
	if !(location > 0) {
		location = 1
	}
	q := j.doubt()
	if s.history != none && !(j.trials.sized && j.forecast.reported) {
		for range min(j.book.histories[s.history].trial.lost, mostPatience) {
			q = min(againOdds*q/(float64(againOdds*q)+1-q), mostLikely)
		}
	}
	m := &j.trials.mixed
	if *m = (mixture{of: f.UnitTime, q: q, x: own / (f.Work * location)}); m.x > m.of.Quantile(0.5) && num.Finite(m.x) {
		f.UnitTime = m
	}
}
