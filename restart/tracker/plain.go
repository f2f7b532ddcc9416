package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// Most reports are of attempts that are nowhere near slow. For the default policy, bounds show that at a small part of the
// cost of a full decision.

// plainFrom is how many tasks a phase has in which bounds stand for full decisions. A smaller phase costs little, and each of
// its decisions prints the very numbers that [restart.LeastCost.Decide] compares.
const plainFrom = 64

// plainTimes is after how many typical times of a task and intervals an attempt is not asked for bounds: it is slow, and they
// would be found in vain.
const plainTimes = 2

// plain keeps a task that is plainly not slow, and reports whether it did. It asks for two bounds: [survival.Shape.AtMost]
// says how long t_rem is at most, and [restart.LeastCost.NotSlow] whether an attempt of that t_rem is slow. Where it reports
// false, it has changed nothing that a full decision does not change as well.
//
// Both bounds are of a task with one attempt that reports progress, and of which no trial runs or was lost. The decision is
// a full one where the curve of the phase is to be made again, a machine leaves, no slot will come free, or the host has given
// t_rem or a prior.
func (j *judge) plain(d *restart.Decision, task int32, p *restart.Phase) bool {
	b, f := j.book, j.forecast
	s, m := &b.tasks[task], &f.ages
	policy, is := j.policy.(restart.LeastCost)
	if !is || j.whole || j.fleet.leaving > 0 || f.expects || b.several(s) || j.suspected(s) {
		return false
	}
	c := &b.copies.all[s.copies]
	if c.remaining != estimate.Unknown || c.badUnits || !f.reported || !(c.trail.Done() > 0) || m.stale(b.now, f.interval) {
		return false
	}
	w, age := s.stint(c.resumed), b.age(c)
	left := f.remaining(w, c)
	if left == estimate.Unknown {
		return false
	}
	if m.sure() && left.Seconds() > f.doubtful(w) {
		return false
	}
	m.doubts = float32(j.mayMislead())
	o := restart.Outline{Age: age, Behind: j.fleet.leavesBehind(b, s, askNone)}
	prediction, curve := f.predict(c, age, left, f.scale(float64(w))), &m.curve
	if m.evenSoFar && m.evenly(&c.trail) { // as foresee has it
		prediction.Even, prediction.Expected = true, true
	}
	if o.Behind && m.sure() { // as foresee has it, too
		prediction.Expected, curve = true, nil
	}
	known := false
	if o.Left, known = m.shape.AtMost(prediction, curve); !known && m.evenly(&c.trail) {
		prediction.Even = true // which makes AtMost know more, and tell the same
		o.Left, known = m.shape.AtMost(prediction, curve)
	}
	if !known || o.Left > 0 && p.Tasks < plainFrom || f.stuck(s.stint(b.saved(s))) {
		return false
	}
	if machine := j.fleet.number(c.machine); machine >= 0 {
		o.Location = j.fleet.location(b, task, machine)
	}
	own, location := [1]int{int(c.sample)}, j.exchanged(s, j.fleet.location(b, task, askNone))
	o.Fresh = f.fresh(s.stint(b.saved(s)), location, age, o.Behind, own[:], &j.others)
	fresh := o.Fresh.Expected()
	if fresh == estimate.Unknown {
		return false
	}
	value, threshold, sure := policy.NotSlow(&o, p)
	if !sure {
		return false
	}
	if !prediction.Expected && curve.Ends() < enoughEnds { // the prediction counts for little yet
		left, _ = num.Duration(o.Left)
	}
	*d = restart.Decision{
		Reason: restart.NotSlow, Remaining: left, Fresh: fresh, Basis: restart.ByProgress, Value: value, Threshold: threshold,
	}
	d.Won, d.Tried = p.Trials.Counts()
	return true
}

// doubtful is from how many seconds of t_rem on an attempt is not asked for bounds.
func (f *forecast) doubtful(w stint) float64 {
	usual := restart.Typical(&estimate.Fresh{UnitTime: f.rates, Work: f.rates.Work(float64(w))})
	return float64(plainTimes * (usual + f.interval).Seconds())
}

// suspected reports whether a trial of the task runs, or was lost.
func (j *judge) suspected(s *taskState) bool {
	return s.history != none && (j.trying(s) != nil || j.book.histories[s.history].trial.lost > 0)
}
