package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// facts is memory for the facts that a policy reads. The methods below collect these facts from the parts.
type facts struct {
	phase    restart.Phase
	attempts []restart.Attempt
	machines [maxMachines]int   // machines of earlier attempts of the task
	taken    [maxMachines]int   // machines of the attempts of the task that run
	others   estimate.PeerTimes // the unit times without the task's own samples
	foreseen []foreseen
	fresh    *survival.Without // the curve of run times without the oldest attempt of the task; nil until it is first used
}

// foreseen is the distribution of the remaining time of one attempt. It is predicted either from the attempt's
// progress (outlook) or from its age (residual). It is allocated apart from the Tracker, because few tasks have
// several attempts and a Tracker should stay small.
type foreseen struct {
	outlook  survival.Outlook
	residual survival.Residual
}

// These numbers are choices. The page docs/calibration.md shows how wrong predictions are with them.
const (
	// The weight of the possibility that an attempt has stalled. Its unit is the weight of an assumed error of
	// progress.
	stallWeight = 2
	// The largest number of attempts of a task that get a distribution of their remaining time. Few tasks have more
	// than two attempts.
	maxForeseen = 8
)

// phaseFacts returns the current facts of the phase; a policy decides by them. The result is valid until the next call.
func (x *phase) phaseFacts() *restart.Phase {
	b, p := &x.book, &x.facts.phase
	ended, done := b.lately()
	if p.Finished = done; x.recent.grows() {
		p.Tasks = b.open() + ended
	}
	p.Waiting, p.Copies = b.waiting.waits, b.copies()
	p.Slots, p.FreeSlots = b.slots, max(max(b.slots-b.running, 0)-x.fleet.refusedSlots(b.slots), 0)
	p.Silent, p.Machines = !x.forecast.reported && x.units.believes(), x.fleet.count
	if x.trials.on {
		p.Trials, p.Idle = x.account(), num.Sub(b.now, b.lastChange)
	}
	p.Peers = restart.Peers{}
	x.peers.fill(&p.Peers, b.working+done)
	return p
}

// taskFacts sets view to the current facts of a running task; a policy decides by them. Machine is the machine where a
// new attempt of the task would run. The view is valid until the next call, because it uses the memory of x.facts.
func (x *phase) taskFacts(view *restart.Task, task int32, machine int) {
	b := &x.book
	s := &b.tasks[task]
	attempts, leastResumed, oldest := x.facts.attempts[:0], part(mostPart), time.Duration(0)
	var samples [maxForeseen]int
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		a := &b.attempts.all[i]
		r, n := x.run(a), len(attempts)
		if n < len(samples) {
			samples[n] = int(r.sample)
		}
		attempts = append(attempts, restart.Attempt{
			Machine: x.fleet.number(a.machine), Elapsed: r.age, Remaining: x.forecast.remaining(r, b.now), Score: a.score,
			Done: r.track.done, Resumed: a.resumed.of(s.work),
		})
		if a.begun && n < maxForeseen {
			x.foresee(r, s, n, &attempts[n])
		}
		if m := attempts[n].Machine; m >= 0 && x.trials.on {
			attempts[n].Location = x.location(task, m)
		}
		leastResumed, oldest = min(leastResumed, a.resumed), max(oldest, r.age)
		if b.isClone(a) {
			view.Clones++
		}
		if r.bad {
			attempts[n].Score = math.NaN()
		}
	}
	past := x.facts.machines[:0]
	for _, m := range s.machines {
		if m != none {
			past = append(past, x.fleet.number(m))
		}
	}
	x.facts.attempts = attempts
	view.Attempts, view.PastMachines = attempts, past
	if s.flags&knownWork != 0 {
		view.Work = s.work - leastResumed.of(s.work)
	}
	view.NoCopy, view.NoRestart = s.flags&noCopy != 0, s.flags&noRestart != 0
	location := x.location(task, machine)
	if x.trials.on {
		location = x.exchanged(s, location)
	}
	own, rest := samples[:min(len(attempts), len(samples))], s.stint(b.saved(s))
	view.Fresh = x.fresh(rest, location, oldest, own)
	if x.trials.on {
		view.Longest = x.longest(rest)
		onSuspects := x.leavesSuspects(s, machine)
		for i := range attempts {
			if a := &attempts[i]; onSuspects && a.Remaining != estimate.Unknown {
				a.Location = x.blamedLocation(a.Location, num.Add(a.Elapsed, a.Remaining).Seconds(), view.Fresh)
			}
		}
	}
	if h := b.past(s); h != nil {
		view.Restarts, view.Copies = int(h.restarts), int(h.copies)
		if h.lastCopy != noTime {
			view.SinceCopy = max(b.now-h.lastCopy, 1)
		}
	}
}

// foresee predicts the remaining time of the task's i-th attempt as a distribution, and stores it in the facts that
// the policy reads (the argument to). It predicts by the attempt's progress if possible, otherwise by its age. It
// changes nothing if the host has given the remaining time, or if too little is known.
func (x *phase) foresee(r run, s *taskState, i int, to *restart.Attempt) {
	if x.forecast.shape == nil || r.track.remaining != estimate.Unknown || r.bad {
		return
	}
	x.refit()
	if i >= len(x.facts.foreseen) {
		// The distributions of attempts 0 to i-1 stay in the old slice: the facts of these attempts point there.
		x.facts.foreseen = append(x.facts.foreseen, make([]foreseen, i+1-len(x.facts.foreseen))...)
	}
	left, curve := &x.facts.foreseen[i], &x.ages.curve
	age, scale := r.age.Seconds(), x.scale(r.work)
	reports := to.Remaining != estimate.Unknown && r.trail.Done() > 0
	if reports {
		p := x.predict(r, s, to.Remaining, scale)
		p.Even = x.even.believes(&r.trail)
		if x.forecast.shape.Outlook(&left.outlook, p, curve) {
			to.Left, to.Basis = &left.outlook, restart.ByProgress
			if left.outlook.Early() {
				to.Basis = restart.ByEarlyProgress
			}
			to.Remaining, _ = num.Duration(left.outlook.Mean())
			if !r.standsStill() || !x.ages.hasCurve() {
				return
			}
			if left.residual.Set(curve, age, scale); left.residual.Mean() <= left.outlook.Mean() {
				return
			}
		}
	}
	if x.ages.hasCurve() && age > 0 {
		left.residual.Set(curve, age, scale)
		to.Left, to.Basis = &left.residual, restart.ByAge
		to.Remaining, _ = num.Duration(left.residual.Mean())
	} else if reports {
		to.Remaining = estimate.Unknown
	}
}

// predict returns a prediction from the progress of an attempt of a task. The caller must set the field Even, if needed,
// because this field takes as much time as all other fields together. A prediction is expected to be right if enough
// attempts have ended. Before that, it must stand out, and a copy must cost little: a slot is idle, no task waits, and
// the task has a single attempt.
func (x *phase) predict(r run, s *taskState, left time.Duration, scale float64) survival.Prediction {
	p, b := r.predict(left, scale), &x.book
	if x.trials.on {
		p.StallWeight = stallWeight
	}
	p.Expected = x.forecast.hasPrior || x.ages.hasCurve() ||
		b.waiting.waits == 0 && b.running < b.slots && !b.several(s) && x.forecast.standsOut(r, p.Total)
	return p
}

// fresh returns the time of a new attempt (t_new) of a task. W is the work that the attempt would have to do.
// Location is how many times longer it would take on its machine than on an average machine. Oldest is the age of the
// task's oldest attempt.
//
// The time is predicted from samples of unit times, which are times for a unit of work. Own lists the samples of the
// task's own attempts, which are left out.
func (x *phase) fresh(w stint, location float64, oldest time.Duration, own []int) estimate.Fresh {
	rates := x.forecast.rates
	n := estimate.Fresh{Work: rates.Work(float64(w)), Lag: x.lag.mean(), Location: location}
	if rates.Known() {
		rates.Peers(&x.facts.others, own...)
		n.UnitTime = &x.facts.others
	}
	// If the remaining time is predicted from ages, the time of a new attempt must be predicted from ages as well,
	// because times from two sources cannot be compared. In a phase without samples, the curve of ages contains the
	// run times of other phases of the same kind.
	if x.forecast.shape != nil && (!x.forecast.reported || !rates.Known()) && x.ages.hasCurve() {
		scale := x.scale(w)
		if x.facts.fresh == nil {
			x.facts.fresh = new(survival.Without)
		}
		x.facts.fresh.Set(&x.ages.curve, oldest.Seconds()/scale)
		n.UnitTime, n.Work = x.facts.fresh, scale
	}
	return n
}

// remainingOnLeaving returns the remaining time of an attempt on a machine that will leave. The argument seen is the
// remaining time that the policy reads. If enough attempts have ended for a curve of run times, the result is this
// argument. Before that, the result is the plain extrapolation of the attempt's progress.
//
// If the result is unknown, remainingOnLeaving returns the larger of two times: the longest run time so far less the
// attempt's age, and the attempt's age. If no attempt has ended, it returns Unknown.
func (x *phase) remainingOnLeaving(r run, seen time.Duration) time.Duration {
	left := x.forecast.remaining(r, x.book.now)
	if left == estimate.Unknown || x.ages.hasCurve() {
		left = seen
	}
	if left != estimate.Unknown || x.ages.longest == 0 {
		return left
	}
	long, _ := num.Duration(x.ages.longest * x.scale(r.work))
	return max(num.Sub(long, r.age), r.age)
}

// location returns how many times longer a new attempt of the task takes on a machine than on an average machine; see
// [fleet.location].
func (x *phase) location(task int32, machine int) float64 {
	taken := x.facts.taken[:0]
	if machine < 0 && x.fleet.record != nil {
		for i := x.book.tasks[task].newest; i != none && len(taken) < cap(taken); i = x.book.attempts.all[i].next {
			if on := x.fleet.number(x.book.attempts.all[i].machine); on != none {
				taken = append(taken, on)
			}
		}
	}
	return x.fleet.location(x.book.index(task), machine, taken)
}

// exchanged returns the location factor with which the time of a new attempt of the task is predicted: how many times
// longer an attempt takes on its machine than on an average machine. If other tasks wait, a kill frees a slot on the
// task's own machine, and a waiting task gets this slot. That task will be as slow on this machine. So the result is
// at least the factor of the task's own machine, unless no waiting task would start there.
func (x *phase) exchanged(s *taskState, location float64) float64 {
	if x.fleet.record == nil || x.book.waiting.waits == 0 || s.newest == none {
		return location
	}
	own := x.fleet.number(x.book.attempts.all[s.newest].machine)
	if own == none {
		return location
	}
	if v := x.fleet.record.Judge(own); v.Avoid() && !x.pays(own, v) {
		return location
	}
	return max(location, x.fleet.record.Factor(own))
}

// blamedLocation returns the location factor of an attempt on a suspect machine: how many times longer the attempt
// takes there than elsewhere. It puts the blame for a slow attempt on the machine. So the factor is the predicted
// total time of the attempt (whole, in seconds), divided by the typical time of a new attempt, but at least location.
// If more trials were lost than won, the blame may be wrong, and the result is location.
func (x *phase) blamedLocation(location, whole float64, fresh estimate.Fresh) float64 {
	fresh.Location = 1
	typical := restart.Typical(&fresh).Seconds()
	if x.trials.Won < x.trials.Lost || !(typical > 0) {
		return location
	}
	return max(location, whole/typical)
}

// leavesSuspects reports whether all attempts of the task run on suspect machines, but a new attempt would not. Machine
// is the machine of the new attempt. If it is negative, the new attempt is taken to run on a machine that is not
// suspect.
func (x *phase) leavesSuspects(s *taskState, machine int) bool {
	if x.fleet.suspects(x.fleet.find(machine)) {
		return false
	}
	for i := s.newest; i != none; i = x.book.attempts.all[i].next {
		if !x.fleet.suspects(x.book.attempts.all[i].machine) {
			return false
		}
	}
	return true
}
