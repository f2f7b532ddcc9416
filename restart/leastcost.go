package restart

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// LeastCost is the default policy. Of the actions that are open to a task it takes the action that is expected to cost least.
//
// An example. A task has run for 100 s and reports a tenth of its work. Other tasks took 100 s, tasks wait for slots, and no
// trial has come out yet.
//
//   - To keep the task costs 900 s of a slot, and half a second more for each second until the task ends: 1,350 s.
//   - A copy costs less. With probability 1/4 the task is long by itself, and the copy is in vain. Otherwise the copy ends the
//     task after 100 s, in two slots. The expected cost is some 525 s.
//
// So LeastCost makes a copy. After two reports the copy has done 2 % of its work. The copy will probably end first, so LeastCost
// kills the old attempt.
//
// The rules:
//
//   - A slow attempt has two possible causes: a long task, or bad luck. [Trials.Long] is the probability of a long task: the share
//     of lost trials. The probability is higher for a time that the spread of t_new explains. If the task is long, a new
//     attempt takes as long as the old attempt would have taken on the new attempt's machine. If not, a new attempt takes t_new.
//   - The cost of an action is the slot time that it uses, and a price for each second until the task ends: Price while
//     tasks wait, IdlePrice while none waits. An action must save two report periods, and the new attempt must probably end
//     sooner.
//   - The first trial is a copy, because two attempts show whether the task is long. If the copy is as slow, the copy is
//     killed. If the copy is faster, the old attempt is killed.
//   - An attempt is killed without a copy once three trials were won, or twice as many as were lost if that is more. One won
//     trial is enough for an attempt that moves evenly ([Attempt].Even) while tasks wait for slots. A task that may have no copy
//     ([Task].NoCopy) needs no won trial: its first trial is a restart. If the attempt is silent, the restart waits until the
//     attempt has run for as long as a silent copy may.
//   - No trial begins if all trials together might lose more than the bound of [Limits].
//   - On a machine that is known to be bad ([Attempt].Location), an attempt is killed without a won trial and without the bound.
//
// Every field is a choice of the operator; 0 means the default. A LeastCost is immutable in use and safe for concurrent use.
// Sources: t_rem and t_new [Mantri §5.1]. The model of luck and size, the criterion and the bound are this library's own;
// docs/worlds.md shows their effect.
type LeastCost struct {
	// Price is the worth of one second of the task's time while tasks wait, in seconds of a slot. 0 means 0.5.
	Price float64
	// IdlePrice is the same while no task waits. 0 means 2: a copy may use two seconds of idle slots for each second that it
	// saves.
	IdlePrice float64
}

// The numbers of the default are choices. docs/decisions/19-least-cost.md shows the effect of other numbers.
const (
	marginPeriods = 2   // an action must save at least so many report periods
	likely        = 0.6 // while tasks wait, a new attempt must end sooner with this probability; silent attempts: evenChance
	killPeriods   = 2   // the kill of one of several attempts must save at least so many report periods
	alike         = 1.3 // the times of two attempts are alike if they differ by less than this factor
	sizeOdds      = 9   // multiplies the odds that a task is long, if its time lies within the spread of t_new
)

// The defaults of the fields are choices, too. Half or twice each price changes the time by a few tenths of a percent.
const (
	usualPrice     = 0.5 // seconds of a slot for each second of a task's time, while tasks wait
	usualIdlePrice = 2   // the same while no task waits
)

// Effective returns the policy with its defaults filled in, for logs.
func (c LeastCost) Effective() LeastCost {
	c.Price, c.IdlePrice = check.Or(c.Price, usualPrice), check.Or(c.IdlePrice, usualIdlePrice)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c LeastCost) Validate() error {
	const place = "restart: LeastCost"
	return cmp.Or(check.Factor(place, "Price", c.Price), check.Factor(place, "IdlePrice", c.IdlePrice))
}

// Decide says what to do about a running task. O(len(t.Attempts)), and some thirty quantiles of t.Fresh and of each
// Attempt.Left; no allocation.
func (c LeastCost) Decide(t Task, p Phase) (d Decision) {
	c, p.Limits = c.Effective(), p.Limits.Effective()
	m := Mantri{MaxRestarts: p.Limits.Restarts, MaxCopies: p.Limits.Copies}
	m.fill()
	d.Reason = NotRunning
	if len(t.Attempts) == 0 {
		return d
	}
	v := m.look(t.Attempts, p.Interval)
	d.Won, d.Tried = p.Trials.Counts()
	if v.prunes(&d, t.Attempts, max(m.FastestKept, t.Clones)) {
		return d
	}
	if v.estimates(&d, &t, &p) {
		c.cheapest(&d, &t, &p, &m, v)
	}
	canCopy := p.FreeSlots > 0 && !t.NoCopy && m.MaxCopies != Off
	if p.Stuck(t.Longest) && d.Action != Kill && !canCopy && (v.basis != ByProgress || d.Remaining > d.Fresh) &&
		(v.left != nil || v.remaining == estimate.Unknown) && m.mayRestart(&t, v) == NoReason {
		d.Action, d.Reason, d.Attempt, d.Comparison = Restart, Held, v.slowest, Comparison{}
	}
	if d.Action == Copy || d.Action == Restart {
		d.Gain = max(0, num.Sub(d.Remaining, d.Fresh))
		d.Avoid = Avoid(t, p)
	}
	return d
}

// cheapest decides about a task whose t_rem and t_new are known.
func (c *LeastCost) cheapest(d *Decision, t *Task, p *Phase, m *Mantri, v view) {
	var w weights
	w.fill(c, t, p, v)
	if w.vain(d, t, p.Limits.Restarts) {
		return
	}
	if w.silent && t.Trial.Action != Keep {
		ran := v.youngest
		if t.Trial.Action == Copy && t.SinceCopy > 0 {
			ran = t.SinceCopy
		}
		if ran < w.patience {
			d.because(TrialRuns, RunSeconds, ran.Seconds(), w.patience.Seconds())
			return
		}
	}
	keep, restart, another, sooner := w.costs()
	noRestart, noCopy := m.mayRestart(t, v), m.mayCopy(t, v)
	if noRestart == NoReason && len(t.Attempts) > 1 {
		noRestart = SeveralRun
	}
	if noCopy == NoReason && p.FreeSlots <= 0 && p.Waiting <= 0 {
		noCopy = NoFreeSlot
	}
	if noRestart == NoReason && noCopy == NoReason && p.Waiting <= 0 {
		noRestart = NoTaskWaits // a restart would throw away work for a slot that nobody wants
	}
	margin := marginPeriods * w.interval
	restartPays := noRestart == NoReason && restart+margin < keep
	copyPays := noCopy == NoReason && another+margin < keep
	switch {
	case !restartPays && !copyPays && another+margin < keep:
		m.refuse(d, noCopy, t, v)
		return
	case !restartPays && !copyPays && restart+margin < keep:
		m.refuse(d, noRestart, t, v)
		return
	case !restartPays && !copyPays:
		d.because(NotSlow, SlotSeconds, keep, min(restart, another)+margin)
		return
	}
	if restartPays && v.left != nil {
		switch loses, most := w.mayLose(&p.Limits, t, p, Restart); {
		case sooner < w.likely():
			d.because(Unlikely, Probability, sooner, w.likely())
			restartPays = false
		case w.guess && p.Trials.Won < w.mustWin(p) && !(noCopy == NotEligible && (!w.silent || w.age >= w.patience.Seconds())):
			d.because(Unproven, WonTrials, p.Trials.Won, w.mustWin(p))
			restartPays = false
		case loses >= most:
			d.because(LossBound, LostSlotSeconds, loses, max(0, most))
			restartPays = false
		}
	}
	if copyPays && v.left != nil {
		bar := w.likely()
		switch {
		case p.Waiting <= 0 && w.silent:
			bar = 0
		case p.Waiting <= 0:
			bar = evenChance
		}
		switch loses, most := w.mayLose(&p.Limits, t, p, Copy); {
		case sooner < bar:
			d.because(Unlikely, Probability, sooner, bar)
			copyPays = false
		case loses >= most:
			d.because(LossBound, LostSlotSeconds, loses, max(0, most))
			copyPays = false
		}
	}
	switch {
	case restartPays && (!copyPays || restart <= another):
		d.because(FreshSooner, SlotSeconds, keep, restart)
		d.Action, d.Attempt = Restart, v.slowest
	case copyPays && p.Waiting > 0:
		d.because(SavesResources, SlotSeconds, keep, another)
		d.Action = Copy
	case copyPays:
		d.because(IdleSlot, SlotSeconds, keep, another)
		d.Action = Copy
	}
}

// weights are the numbers behind the costs of actions. Times are in seconds.
type weights struct {
	left  [leftPoints]float64  // t_rem of the fastest attempt, in points
	fresh [freshPoints]float64 // t_new in points, if the task is not long
	stakes
	age      float64 // of the oldest attempt
	moved    float64 // factor by which an attempt takes longer on the new attempt's machine than on the oldest attempt's
	lag      float64
	long     float64             // probability that the task is long, whatever its time
	longs    [leftPoints]float64 // the same if the fastest attempt takes age + left[i] in all; for a restart
	copied   [leftPoints]float64 // the same for a copy
	price    float64             // of each second until the task ends
	attempts float64
	interval float64
	even     bool // the oldest attempt moves evenly
}

func (w *weights) fill(c *LeastCost, t *Task, p *Phase, v view) {
	w.stakes, w.attempts, w.interval = stakesOf(t, p), float64(len(t.Attempts)), v.interval.Seconds()
	remaining := v.remaining.Seconds()
	for i := range w.left {
		if w.left[i] = remaining; v.left != nil {
			w.left[i] = bounded(point(v.left, i, leftPoints))
		}
	}
	w.age, w.lag = w.oldest.Elapsed.Seconds(), max(t.Fresh.Lag, 0).Seconds()
	w.moved, w.even = place(t.Fresh.Location)/place(w.oldest.Location), w.oldest.Even
	longest, f := num.Add(w.shows, w.typical).Seconds(), 0.0 // a new attempt that is slow is replaced in turn
	for j := range w.fresh {
		if f < longest {
			f = min(point(&t.Fresh, j, freshPoints), longest)
		}
		w.fresh[j] = f
	}
	if v.left != nil { // a certain t_rem says that the task is not long
		w.mayBeLong(&p.Trials, stillLost(t, w.oldest.Elapsed), &t.Fresh)
	}
	if w.price = c.Price; p.Waiting <= 0 && !p.Stream {
		w.price = c.IdlePrice
	}
}

// mayBeLong sets the probability that the task is long, for each time that the task may still take. If the spread of t_new
// explains the time, sizeOdds multiplies the odds: tasks of a phase differ often, attempts of one task seldom. For a copy,
// lost trials of shorter tasks count less; for a restart, which throws work away, they count in full.
func (w *weights) mayBeLong(trials *Trials, lost int, fresh *estimate.Fresh) {
	w.long = trials.Long(lost, 0)
	longest := trials.Longest.Seconds() // up to this time a lost trial says the same about all tasks
	body := survival.NewBody(fresh.Quantile(num.Quarter)-w.lag, fresh.Quantile(num.Half)-w.lag)
	for i, left := range w.left {
		if i > 0 && left == w.left[i-1] { // most distributions have few values
			w.longs[i], w.copied[i] = w.longs[i-1], w.copied[i-1]
			continue
		}
		whole := w.age + left
		outlier := body.Outlier(float64(w.moved * whole))
		w.longs[i] = own(w.long, outlier)
		if w.copied[i] = w.longs[i]; whole > longest && longest > 0 {
			w.copied[i] = own(trials.Long(lost, whole), outlier)
		}
	}
}

// own returns the probability that the task is long: long if its time is an outlier of t_new, and with sizeOdds times the odds
// if it is not. Outlier is the probability of an outlier.
func own(long, outlier float64) float64 {
	odds := float64(sizeOdds * long) // no fused multiply-add: one answer everywhere
	return float64(outlier*long) + float64((1-outlier)*(odds/(1-long+odds)))
}

// mustWin returns how many trials must be won before the attempt may be killed without a copy. For an attempt that moves evenly
// while tasks wait for its slot, one won trial is enough if none was lost: a copy would have to wait for a slot first.
func (w *weights) mustWin(p *Phase) float64 {
	least := float64(provenTrials)
	if w.even && p.Waiting > 0 {
		least = 1
	}
	return max(least, provenRatio*p.Trials.Lost)
}

func bounded(seconds float64) float64 { return min(seconds, num.MaxDuration.Seconds()) }

// place returns a location factor; a factor that is not positive and finite counts as 1.
func place(factor float64) float64 {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return 1
	}
	return factor
}

// costs returns the costs of keeping, restarting and copying the task, and the probability that a new attempt ends sooner than
// the task, if the task is not long. Each result is a mean over all pairs of a point of t_rem and a point of t_new. Both lists
// ascend. So the n points of t_new that are below one point of t_rem, with the sum below, are below the next point as well.
func (w *weights) costs() (keep, restart, another, sooner float64) {
	all, below, n, pairs := 0.0, 0.0, 0, 0
	for _, f := range w.fresh {
		all += f
	}
	one, shows := w.attempts+w.price, w.shows.Seconds()
	two := one + 1
	for i, l := range w.left {
		for ; n < freshPoints && w.fresh[n] < l; n++ {
			below += w.fresh[n]
		}
		pairs += n
		long, copied, kept := w.longs[i], w.copied[i], float64(one*l)
		same := float64(w.moved*(w.age+l)) + w.lag // time of a new attempt if the task is long
		late := kept + min(l, shows)               // cost of a copy that ends no sooner
		another += float64((1 - copied) / freshPoints * (float64(two*below) + float64((freshPoints-float64(n))*late)))
		if same < l {
			late = two * same
		}
		keep, another = keep+kept, another+float64(copied*late)
		restart += float64((1 + w.price) * (float64(long*same) + float64((1-long)*all/freshPoints)))
	}
	return keep / leftPoints, restart / leftPoints, another / leftPoints, float64(pairs) / (leftPoints * freshPoints)
}

// likely returns the probability of ending sooner that a restart needs, and a copy while tasks wait.
func (w *weights) likely() float64 {
	if w.silent {
		return evenChance
	}
	return likely
}

// vain kills the attempt of several that is least worth its slot, and reports whether an attempt is killed.
func (w *weights) vain(d *Decision, t *Task, mostRestarts int) bool {
	least := killPeriods * w.interval
	worst, most := -1, least
	if len(t.Attempts) <= max(t.Clones, 1) {
		return false
	}
	for i := range t.Attempts {
		c := &t.Attempts[i]
		reports := c.Basis == ByProgress
		switch {
		case c.Left == nil || c.Elapsed < w.patience:
		case kept(t.Attempts, i) && !(reports && replaced(t, i, mostRestarts)):
		case !reports:
			d.because(TimeSpent, RunSeconds, c.Elapsed.Seconds(), w.patience.Seconds())
			d.Action, d.Attempt = Kill, i
			return true
		default:
			if other := fastestOther(t.Attempts, i); other != nil {
				if saves := w.saves(c, other); saves > most {
					worst, most = i, saves
				}
			}
		}
	}
	if worst < 0 {
		return false
	}
	d.because(NotWorthSlot, SavedSlotSeconds, most, least)
	d.Action, d.Attempt = Kill, worst
	return true
}

// fastestOther returns the attempt with the least remaining time, other than attempt i, of the attempts whose remaining time is
// given as a distribution; nil if there is none.
func fastestOther(attempts []Attempt, i int) (other *Attempt) {
	for j := range attempts {
		if o := &attempts[j]; j != i && o.Left != nil && (other == nil || o.Remaining < other.Remaining) {
			other = o
		}
	}
	return other
}

// saves returns the expected slot time, in seconds, that is saved if attempt c is killed and attempt other of the same task goes
// on. If the task is long, both attempts take the same time in all, whatever the younger attempt has reported. The likeness of
// the two attempts says how probable it is that the task is long.
func (w *weights) saves(c, other *Attempt) (saved float64) {
	p := pairOf(c, other)
	of, left, isOld := &p.young, &p.old, c.Elapsed > other.Elapsed
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

// pair describes two attempts of a task, a younger and an older one: the remaining time of each, as leftPoints values that stand
// for its distribution, and the age of each. All are in seconds.
type pair struct {
	young, old       [leftPoints]float64
	youngAge, oldAge float64
}

func pairOf(a, b *Attempt) (p pair) {
	if a.Elapsed > b.Elapsed {
		a, b = b, a
	}
	for i := range leftPoints {
		p.young[i], p.old[i] = bounded(point(a.Left, i, leftPoints)), bounded(point(b.Left, i, leftPoints))
	}
	p.youngAge, p.oldAge = a.Elapsed.Seconds(), b.Elapsed.Seconds()
	return p
}

// likeness returns the likelihood ratio of two hypotheses, given the predicted times of two attempts of a task. If the task is
// long, the two attempts take alike in all. If it is not, the younger attempt takes the time of other tasks (t_new). Neither
// hypothesis gets the likelihood 0.
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

// wins reports whether another attempt of the task almost surely takes less than half of the time that attempt i, the old
// attempt, takes in all.
func wins(t *Task, i int) bool {
	c, other, n := &t.Attempts[i], fastestOther(t.Attempts, i), 0
	if other == nil || c.Left == nil {
		return false
	}
	p := pairOf(c, other)
	for _, young := range p.young {
		for _, old := range p.old {
			if float64((young+p.youngAge)*wonBy) < old+p.oldAge {
				n++
			}
		}
	}
	return float64(n) >= surelyWon*leftPoints*leftPoints
}

// shows returns how much evidence the kill of copy i is that the task is long, as a part of a lost trial: the likeness of the
// copy and the old attempt, at most 1. It is 1 if the copy reports no progress.
func shows(t *Task, p *Phase, i int) float64 {
	c, other := &t.Attempts[i], fastestOther(t.Attempts, i)
	if other == nil || c.Left == nil || c.Basis != ByProgress {
		return 1
	}
	var w weights
	w.fill(&LeastCost{}, t, p, view{interval: p.Interval})
	of := pairOf(c, other)
	return min(1, w.likeness(&of))
}

func near(a, b float64) bool { return a < float64(b*alike) && b < float64(a*alike) }

// replaced reports whether attempt i is the oldest and may be killed because another attempt has done more. Such a kill uses up
// one of the task's restarts.
func replaced(t *Task, i, most int) bool {
	oldest, furthest := 0, 0
	for j := range t.Attempts {
		if t.Attempts[j].Elapsed > t.Attempts[oldest].Elapsed {
			oldest = j
		}
		if t.Attempts[j].far() > t.Attempts[furthest].far() {
			furthest = j
		}
	}
	return i == oldest && furthest != oldest && !t.NoRestart && max(t.Restarts, 0) < most
}

// The numbers of points that stand for a distribution: sixteen for t_rem, eight for t_new. They are the same for distributions
// of this library and of a host.
const (
	leftPoints  = survival.Points
	freshPoints = 8
)

// point returns the middle of the i-th of n equal parts of a distribution.
func point(d interface{ Quantile(p float64) float64 }, i, n int) float64 {
	return max(0, d.Quantile((float64(i)+num.Half)/float64(n)))
}

// points returns the points that stand for t_new.
func points(fresh *estimate.Fresh) (of [freshPoints]float64) {
	for j := range of {
		of[j] = point(fresh, j, freshPoints)
	}
	return of
}
