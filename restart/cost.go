package restart

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
)

// weights contains the numbers from which the costs of what can be done about a task are computed. Times are in seconds.
type weights struct {
	stakes
	list     [candidates]candidate // what can be done about the task
	left     [leftPoints]float64   // remaining time of the fastest attempt (t_rem), as points
	points   int                   // number of points in left; 1 if t_rem is certain
	fresh    [freshPoints]float64  // time of a new attempt (t_new) if the task is not long by itself, as points
	age      float64               // age of the oldest attempt
	moved    float64               // factor by which an attempt takes longer on the new machine than on the oldest's
	lag      float64               // time between the decision to start an attempt and its start
	long     float64               // probability that the task is long by itself; 0 if t_rem is certain
	sooner   float64               // probability that a new attempt ends sooner than the task, if it is not long
	price    float64               // value of ending the task one second sooner, in seconds of slots
	attempts float64               // number of running attempts of the task
	interval float64               // time between two progress reports
}

// The places of the candidates in weights.list: a copy, a restart, the kill of an attempt, and a kill that the limits
// refuse.
const (
	aCopy = iota
	aRestart
	aKill
	aRefusedKill
	candidates
)

// fill computes the weights from the facts of a task and its phase. It needs a task whose remaining time (t_rem) and
// whose time of a new attempt (t_new) are known.
func (w *weights) fill(c *LeastCost, t *Task, p *Phase) {
	w.attempts, w.interval = float64(len(t.Attempts)), max(p.Interval, 0).Seconds()
	w.age, w.lag = w.oldest.Elapsed.Seconds(), max(t.Fresh.Lag, 0).Seconds()
	w.moved = place(t.Fresh.Location) / place(w.oldest.Location)
	if left := w.fastest.Left; left == nil {
		w.left[0], w.points = max(w.fastest.Remaining, 0).Seconds(), 1
	} else {
		w.points, w.long = leftPoints, p.Trials.Long(0)
		readLeft(&w.left, left)
	}
	// A new attempt that is slow is replaced in turn. So its time is at most the time after which a copy has shown
	// whether it gains, plus the typical time.
	longest, f := num.Add(w.shows, w.typical).Seconds(), 0.0
	for j := range w.fresh {
		if f < longest {
			f = min(point(&t.Fresh, j, freshPoints), longest)
		}
		w.fresh[j] = f
	}
	if w.price = c.Price; p.Waiting <= 0 && !p.Stream {
		w.price = c.IdlePrice
	}
}

// fillList lists what can be done about the task, and returns the cost of keeping it and the cost of the cheapest
// new attempt.
//
//   - One of several attempts is killed before a further copy is considered.
//   - Only a single attempt is restarted, and only if tasks wait or the task can't get a copy now. Otherwise a restart
//     would throw away work for a slot that no task needs.
func (w *weights) fillList(t *Task, p *Phase) (keep, least float64) {
	keep, again, another := w.costs(&p.Trials)
	least = another
	if len(t.Attempts) == 1 {
		if no, _ := w.forbids(Copy, t, p); no != NoReason || p.Waiting > 0 {
			w.list[aRestart], least = candidate{Action: Restart, cost: again}, min(again, another)
		}
	} else if w.kills(t, p, keep); w.list[aKill].cost+marginPeriods*w.interval < keep && w.list[aKill].Action == Kill {
		return keep, least
	}
	w.list[aCopy] = candidate{Action: Copy, cost: another}
	return keep, least
}

// costs returns the costs of keeping, restarting and copying the task (keep, again, another), and sets w.sooner. Each
// result is a mean over all pairs of a point of t_rem and a point of t_new.
//
// Both lists of points ascend. So the points of t_new that are smaller than one point of t_rem are also smaller than
// the next. The variable n is their number, and below is their sum.
func (w *weights) costs(trials *Trials) (keep, again, another float64) {
	all, below, n, pairs := 0.0, 0.0, 0, 0
	for _, f := range w.fresh {
		all += f
	}
	one, shows := w.attempts+w.price, w.shows.Seconds()
	two, longest := one+1, trials.Longest.Seconds()
	for _, l := range w.left[:w.points] {
		for ; n < freshPoints && w.fresh[n] < l; n++ {
			below += w.fresh[n]
		}
		pairs += n
		kept, long := float64(one*l), w.long
		if whole := w.age + l; long > 0 && longest > 0 && whole > longest {
			long = trials.Long(whole) // lost trials of shorter tasks say less about a copy; a restart throws away work
		}
		// Time of a new attempt if the task is long.
		same := float64(w.moved*(w.age+l)) + w.lag
		// Cost of a copy that does not end sooner.
		late := kept + min(l, shows)
		another += float64((1 - long) / freshPoints * (float64(two*below) + float64((freshPoints-float64(n))*late)))
		if same < l {
			late = two * same
		}
		keep, another = keep+kept, another+float64(long*late)
		again += same
	}
	of := float64(w.points)
	w.sooner = float64(pairs) / (of * freshPoints)
	again = float64((1 + w.price) * (float64(w.long*again/of) + float64((1-w.long)*all/freshPoints)))
	return keep / of, again, another / of
}

// kills lists the kills of one of several attempts: the allowed kill that saves most slot time, and the kill that
// saves most of those that the limits refuse. A copy is judged only once it has run for its patience.
func (w *weights) kills(t *Task, p *Phase, keep float64) {
	if len(t.Attempts) <= t.Clones {
		return
	}
	for i := range t.Attempts {
		c, other := &t.Attempts[i], fastestOther(t.Attempts, i)
		if c.Left == nil || other == nil || c.Elapsed < w.patience {
			continue
		}
		place := aKill
		switch refused := !w.mayKill(i, t, p.Limits.Restarts); {
		case w.spares(i) && !c.Basis.progress():
			continue // by age alone the older attempt always seems slower
		case refused && other.Remaining >= c.Remaining, !refused && w.stays(i, t, p):
			continue
		case refused:
			place = aRefusedKill
		}
		why := NoFaster
		if c.Elapsed > other.Elapsed {
			why = CopyFaster
		}
		if cost := keep - w.saves(c, other); w.list[place].Action == Keep || cost < w.list[place].cost {
			w.list[place] = candidate{Kill, i, cost, why}
		}
	}
}

// stays reports whether attempt i is not killed while a slot is idle and no task waits, because no task needs its slot.
// The old attempt is killed for its copy only after an attempt has ended: before that, a pause of the old attempt
// cannot be told from a slow attempt. A silent copy is killed only if it has run for as long as the old attempt had run
// when the copy began: then both attempts have shown the same. The factors of the machines convert both ages.
func (w *weights) stays(i int, t *Task, p *Phase) bool {
	c := &t.Attempts[i]
	switch {
	case p.FreeSlots <= 0 || p.Waiting > 0:
		return false
	case w.spares(i):
		return t.Longest <= 0
	case c.Basis.progress():
		return false
	}
	return c.Elapsed.Seconds()/place(c.Location) < float64(num.Half*w.age)/place(w.oldest.Location)
}

// saves returns the slot time, in seconds, that is expected to be saved if attempt c is killed and attempt other of
// the same task goes on. It first computes how probable it is that the task is long, from the likeness of the two
// attempts. If the task is long, both attempts take the same time in all, whatever the younger attempt has reported.
func (w *weights) saves(c, other *Attempt) (saved float64) {
	young, old, isOld := c, other, c.Elapsed > other.Elapsed
	if isOld {
		young, old = other, c
	}
	p := pairOf(young, old)
	of, left := &p.young, &p.old
	if isOld {
		of, left = left, of
	}
	odds := float64(w.long * w.likeness(&p))
	long := odds / (1 - w.long + odds)
	both, one := w.attempts+w.price, w.attempts-1+w.price
	for j := range leftPoints {
		stays, ends := p.old[j], max(0, float64(w.moved*(p.old[j]+p.oldAge))-p.youngAge)
		if isOld {
			stays, ends = ends, stays
		}
		saved += float64(long * (float64(both*min(stays, ends)) - float64(one*stays)))
		saved -= float64((1 - long) * one * left[j])
		for i := range leftPoints {
			saved += float64((1 - long) * both * min(of[i], left[j]) / leftPoints)
		}
	}
	return saved / leftPoints
}

// pair describes two attempts of a task, a younger and an older attempt. Fields young and old are the remaining times
// of the attempts, each as leftPoints values that represent its distribution. All fields are in seconds.
type pair struct {
	young, old       [leftPoints]float64
	youngAge, oldAge float64
}

// pairOf makes a pair of a copy and the attempt that it is compared with. Both must have a distribution Left.
func pairOf(young, old *Attempt) (p pair) {
	readLeft(&p.young, young.Left)
	readLeft(&p.old, old.Left)
	p.youngAge, p.oldAge = young.Elapsed.Seconds(), old.Elapsed.Seconds()
	return p
}

// likeness compares two hypotheses about the predicted times of two attempts of a task, and returns their likelihood
// ratio. The first hypothesis is that the task is long: then the two attempts take about the same time in all. The
// second is that the task is not long: then the younger attempt takes about as long as other tasks (t_new). Each
// count starts at 1, so that neither hypothesis has the likelihood 0.
func (w *weights) likeness(p *pair) float64 {
	same, anew := 1.0, 1.0
	for i := range leftPoints {
		whole := p.young[i] + p.youngAge
		for j := range leftPoints {
			if near(whole, float64(w.moved*(p.old[j]+p.oldAge))) {
				same++
			}
		}
		for _, f := range w.fresh {
			if near(whole, f) {
				anew += leftPoints / freshPoints
			}
		}
	}
	return same / anew
}

// near reports whether two times are alike.
func near(a, b float64) bool { return a < float64(b*survival.Alike) && b < float64(a*survival.Alike) }

// shows returns the part of a lost trial as which the killed copy i is recorded. It is 1 if the copy is silent.
// Otherwise it is the probability that the task is long by likeness alone, with both hypotheses equally probable
// before.
func shows(t *Task, p *Phase, i int) float64 {
	c, old := &t.Attempts[i], (*Attempt)(nil)
	for j := range t.Attempts {
		if o := &t.Attempts[j]; j != i && o.Left != nil && (old == nil || older(o, old)) {
			old = o
		}
	}
	if old == nil || c.Left == nil || !c.Basis.progress() {
		return 1
	}
	w := weights{stakes: stakesOf(t, p)}
	w.fill(&LeastCost{}, t, p)
	of := pairOf(c, old)
	like := w.likeness(&of)
	return like / (1 + like)
}

// wins reports whether another attempt of the task will almost surely be a success in place of attempt i, the old
// attempt. It is a success if it takes less than half of the time that attempt i takes in all.
func wins(t *Task, i int) bool {
	c, other, n := &t.Attempts[i], fastestOther(t.Attempts, i), 0
	if other == nil || c.Left == nil {
		return false
	}
	p := pairOf(other, c)
	for _, young := range p.young {
		for _, old := range p.old {
			if float64((young+p.youngAge)*wonBy) < old+p.oldAge {
				n++
			}
		}
	}
	return float64(n) >= surelyWon*leftPoints*leftPoints
}

// place returns the factor by which attempts take longer on a machine. A factor that is not positive and finite is
// replaced by 1.
func place(factor float64) float64 {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return 1
	}
	return factor
}

// In computations a distribution is represented by a few of its quantiles, called points.
const (
	// The number of values that represent the remaining time (t_rem).
	leftPoints = survival.Points
	// The number of values that represent the time of a new attempt (t_new).
	freshPoints = 8
)

// point returns one value that represents part i of n equally probable parts of a distribution: the quantile in the
// middle of the part. The parts are numbered from 0.
func point(d interface{ Quantile(p float64) float64 }, i, n int) float64 {
	return max(0, d.Quantile((float64(i)+num.Half)/float64(n)))
}

// readLeft sets of to the sixteen values that represent t_rem, in seconds, each at most the largest time.Duration.
func readLeft(of *[leftPoints]float64, left estimate.Distribution) {
	o, quick := left.(*survival.Outlook)
	if quick {
		*of = o.Quantiles()
	}
	for i := range of {
		if !quick {
			of[i] = point(left, i, leftPoints)
		}
		of[i] = min(of[i], num.MaxDuration.Seconds())
	}
}

// points returns the eight values that represent the time of a new attempt (t_new).
func points(fresh *estimate.Fresh) (of [freshPoints]float64) {
	for j := range of {
		of[j] = point(fresh, j, freshPoints)
	}
	return of
}
