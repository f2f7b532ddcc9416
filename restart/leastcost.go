package restart

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// LeastCost is the default policy. For each task it compares the expected costs of the possible actions, and takes
// the cheapest action.
//
// An example. A task has run for 100 s and reports a tenth of its work. So it still needs 900 s. Other tasks took 100
// s, tasks wait for slots, and no trial (a copy or restart of a slow task) has ended yet.
//
//   - To keep the task costs 900 s of a slot, and half a second more for each second until the task ends: 1,350 s.
//   - A copy costs less. With probability 1/4 the task is long by itself, and the copy is in vain. Otherwise the copy
//     finishes the task after 100 s, in two slots. The expected cost is about 525 s.
//
// So LeastCost makes a copy. The copy does 1 % of its work each second, and will probably end first. As soon as it has
// done more than the old attempt, LeastCost kills the old attempt.
//
// The rules:
//
//   - A slow attempt has two possible causes: a long task, or bad luck. [Trials.Long] is the probability of a long
//     task, which is about the share of lost trials. The probability is higher if the time of the attempt lies within
//     the ordinary spread of t_new, the time of a new attempt. If the task is long, a new attempt takes as long as
//     the old attempt would take on the new attempt's machine. If not, a new attempt takes t_new.
//   - The cost of an action is the slot time that it uses, plus a price for each second until the task ends. The
//     price is the field Price while tasks wait, and the field IdlePrice while no task waits. An action must save at
//     least two report periods, and the new attempt must probably end sooner.
//   - The first trial is a copy, because two attempts show whether the task is long. If the copy is as slow as the
//     old attempt, the copy is killed. If the copy is faster, the old attempt is killed. While a slot is idle and no
//     task waits, no task needs the slot of such an attempt. Then the old attempt is killed only after an attempt of
//     the phase has ended, and a silent copy only if it has run for as long as the old attempt had run when the copy
//     began.
//   - While tasks wait, a copy takes a slot from a task. So a phase whose attempts are silent has one open trial at a
//     time after it has lost more trials than it has won.
//   - An attempt is killed without a copy only after enough trials of the phase were won: three, or twice the number
//     of lost trials if that is more. While tasks wait for slots, one won trial is enough for an attempt that
//     progresses evenly ([Attempt].Even), if no trial was lost. A task that may have no copy ([Task].NoCopy) needs no
//     won trial: its first trial is a restart. If its attempt is silent, the restart waits until the attempt has run
//     for as long as a silent copy may run.
//   - No trial begins if all trials together might then lose more slot time than the bound of [Limits].
//   - On a machine that is known to be bad ([Attempt].Location), an attempt is killed without a won trial and without
//     the bound.
//
// Every field is a choice of the operator; 0 means the default. A LeastCost does not change in use, and is safe for
// concurrent use. Sources: t_rem and t_new [Mantri §5.1]. The model of luck and size, the criterion and the bound are
// this library's own. The page docs/worlds.md shows their effect.
type LeastCost struct {
	// Price is the value of ending a task one second sooner while tasks wait, in seconds of a slot. 0 means 0.5.
	Price float64
	// IdlePrice is the value of ending a task one second sooner while no task waits, in seconds of a slot. 0 means 2:
	// a copy may use two seconds of idle slots for each second that it saves.
	IdlePrice float64
}

// The numbers of the default policy are this library's choices. The page docs/decisions/19-least-cost.md shows the
// effect of other numbers.
const (
	// marginPeriods is the cost that an action must save at least, in report periods.
	marginPeriods = 2
	// While tasks wait, a new attempt must end sooner than the old attempt with at least the probability likely. For
	// silent attempts evenChance is used instead.
	likely = 0.6
	// killPeriods is the slot time that a kill must save at least if several attempts of the task run, in report
	// periods.
	killPeriods = 2
	// The times of two attempts are called alike if the longer is less than alike times the shorter.
	alike = 1.3
	// sizeOdds is a factor. It multiplies the odds that a task is long, if the time of the task lies within the
	// ordinary spread of the time of a new attempt (t_new).
	sizeOdds = 9
)

// The defaults of the fields are choices, too. If a price is halved or doubled, the time of the phases changes by a few
// tenths of a percent.
const (
	// usualPrice is the value of ending a task one second sooner while tasks wait, in seconds of a slot.
	usualPrice = 0.5
	// usualIdlePrice is the value of ending a task one second sooner while no task waits, in seconds of a slot.
	usualIdlePrice = 2
)

// Effective returns the policy with each zero field replaced by its default, for logs.
func (c LeastCost) Effective() LeastCost {
	c.Price, c.IdlePrice = check.Or(c.Price, usualPrice), check.Or(c.IdlePrice, usualIdlePrice)
	return c
}

// Validate returns an error for the first field that is out of range. The error states the value and the allowed
// range.
func (c LeastCost) Validate() error {
	const place = "restart: LeastCost"
	return cmp.Or(check.Factor(place, "Price", c.Price), check.Factor(place, "IdlePrice", c.IdlePrice))
}

// Decide says what to do about a running task. The cost is O(len(t.Attempts)), and about thirty quantiles of t.Fresh
// and of each Attempt.Left. Decide allocates nothing.
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

// cheapest sets the decision to the cheapest allowed action. It needs a task whose remaining time (t_rem) and whose
// time of a new attempt (t_new) are known.
func (c *LeastCost) cheapest(d *Decision, t *Task, p *Phase, m *Mantri, v view) {
	var w weights
	w.fill(c, t, p, v)
	if w.vain(d, t, p) {
		return
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
		// A restart would throw away work, and no task needs the slot that it frees.
		noRestart = NoTaskWaits
	}
	margin := marginPeriods * w.interval
	restartPays := noRestart == NoReason && restart+margin < keep
	copyPays := noCopy == NoReason && another+margin < keep
	switch {
	case !restartPays && !copyPays && w.refused > killPeriods*w.interval:
		d.Reason, d.Comparison = FurthestOn, Comparison{}
		return
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
		case w.silent && w.guess && p.Waiting > 0 && p.Trials.AtRisk > 0 && p.Trials.Won < p.Trials.Lost:
			d.because(Unproven, WonTrials, p.Trials.Won, p.Trials.Lost)
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

// weights contains the numbers from which the costs of keeping, restarting and copying a task are computed. Times are
// in seconds. A distribution is represented by a few of its quantiles, called points.
type weights struct {
	// The remaining time of the fastest attempt (t_rem), as points.
	left [leftPoints]float64
	// The time of a new attempt (t_new), as points, if the task is not long by itself.
	fresh [freshPoints]float64
	stakes
	// The age of the oldest attempt.
	age float64
	// The factor by which an attempt takes longer on the machine of the new attempt than on the machine of the oldest
	// attempt.
	moved float64
	// The time between the decision to start an attempt and its start.
	lag float64
	// The probability that the task is long by itself, without regard to how long it takes.
	long float64
	// For a restart: the probability that the task is long, for each value of left. The fastest attempt then takes
	// age + left[i] in all.
	longs [leftPoints]float64
	// For a copy: the probability that the task is long, for each value of left.
	copied [leftPoints]float64
	// The value of ending the task one second sooner, in seconds of slots.
	price float64
	// The number of running attempts of the task.
	attempts float64
	// The time between two progress reports.
	interval float64
	// True if the oldest attempt progresses evenly.
	even bool
	// refused is the largest saving of a kill that the limits forbid: the attempt is the oldest, or has most work
	// behind it. Slot time in seconds; 0 if there is no such kill.
	refused float64
}

// fill computes the weights from the facts of a task and its phase.
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
	// A new attempt that is slow is replaced in turn. So its time is at most the time after which a copy has shown
	// whether it gains, plus the typical time.
	longest, f := num.Add(w.shows, w.typical).Seconds(), 0.0
	for j := range w.fresh {
		if f < longest {
			f = min(point(&t.Fresh, j, freshPoints), longest)
		}
		w.fresh[j] = f
	}
	// If the remaining time is certain, the task is not long, and all these probabilities stay 0.
	if v.left != nil {
		w.mayBeLong(&p.Trials, stillLost(t, w.oldest.Elapsed), &t.Fresh)
	}
	if w.price = c.Price; p.Waiting <= 0 && !p.Stream {
		w.price = c.IdlePrice
	}
}

// mayBeLong computes the probability that the task is long, for each value of the remaining time. The argument lost
// is the number of trials that the task has lost. If the time of the task lies within the ordinary spread of t_new,
// the odds are multiplied by sizeOdds: tasks of a phase often differ, but attempts of one task seldom do. For a copy,
// lost trials of shorter tasks are given less weight. For a restart, which throws work away, all lost trials have
// their full weight.
func (w *weights) mayBeLong(trials *Trials, lost int, fresh *estimate.Fresh) {
	w.long = trials.Long(lost, 0)
	// Up to this time a lost trial is the same evidence about all tasks.
	longest := trials.Longest.Seconds()
	body := survival.NewBody(fresh.Quantile(num.Quarter)-w.lag, fresh.Quantile(num.Half)-w.lag)
	for i, left := range w.left {
		// Most distributions have few different values, so many results can be used again.
		if i > 0 && left == w.left[i-1] {
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

// own corrects the probability that the task is long, given the probability outlier that the time of the task is an
// outlier of t_new. If the time is an outlier, the probability stays long. If it is not, the odds of long are
// multiplied by sizeOdds. The result is the mean of both cases.
func own(long, outlier float64) float64 {
	// The conversion prevents a fused multiply-add, so that every processor gives the same result.
	odds := float64(sizeOdds * long)
	return float64(outlier*long) + float64((1-outlier)*(odds/(1-long+odds)))
}

// mustWin returns how many trials must be won before the attempt may be killed without a copy. One won trial is
// enough if the attempt progresses evenly, tasks wait for its slot, and no trial was lost: there a copy would have to
// wait for a slot first.
func (w *weights) mustWin(p *Phase) float64 {
	least := float64(provenTrials)
	if w.even && p.Waiting > 0 {
		least = 1
	}
	return max(least, provenRatio*p.Trials.Lost)
}

// bounded returns the given number of seconds, and at most the largest time.Duration.
func bounded(seconds float64) float64 { return min(seconds, num.MaxDuration.Seconds()) }

// place returns the factor by which attempts take longer on a machine. A factor that is not positive and finite is
// replaced by 1.
func place(factor float64) float64 {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return 1
	}
	return factor
}

// costs returns the costs of keeping, restarting and copying the task (keep, restart, another). It also returns the
// probability that a new attempt ends sooner than the task, if the task is not long (sooner). Each result is a mean
// over all pairs of a point of t_rem and a point of t_new.
//
// Both lists of points ascend. So the points of t_new that are smaller than one point of t_rem are also smaller than
// the next. The variable n is their number, and below is their sum.
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
		// Time of a new attempt if the task is long.
		same := float64(w.moved*(w.age+l)) + w.lag
		// Cost of a copy that does not end sooner.
		late := kept + min(l, shows)
		another += float64((1 - copied) / freshPoints * (float64(two*below) + float64((freshPoints-float64(n))*late)))
		if same < l {
			late = two * same
		}
		keep, another = keep+kept, another+float64(copied*late)
		restart += float64((1 + w.price) * (float64(long*same) + float64((1-long)*all/freshPoints)))
	}
	return keep / leftPoints, restart / leftPoints, another / leftPoints, float64(pairs) / (leftPoints * freshPoints)
}

// likely returns the lowest probability of ending sooner at which an attempt may be restarted. While tasks wait, a
// copy needs the same probability.
func (w *weights) likely() float64 {
	if w.silent {
		return evenChance
	}
	return likely
}

// vain decides to kill an attempt of a task with several attempts: the attempt whose kill saves most slot time. It
// reports whether it has set the decision to a kill.
func (w *weights) vain(d *Decision, t *Task, p *Phase) bool {
	least := killPeriods * w.interval
	worst, most := -1, least
	if len(t.Attempts) <= max(t.Clones, 1) {
		return false
	}
	for i := range t.Attempts {
		c, other := &t.Attempts[i], fastestOther(t.Attempts, i)
		if c.Left == nil || other == nil || c.Elapsed < w.patience {
			continue
		}
		reports := c.Basis == ByProgress
		switch old := kept(t.Attempts, i); {
		case old && !(reports && replaced(t, i, p.Limits.Restarts)):
			if reports && other.Remaining < c.Remaining {
				w.refused = max(w.refused, w.saves(c, other))
			}
		case p.FreeSlots > 0 && p.Waiting <= 0 && w.stays(t, c, old):
		default:
			if saves := w.saves(c, other); saves > most {
				worst, most = i, saves
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

// stays reports whether attempt c is not killed while a slot is idle and no task waits, because no task needs its slot.
// The argument old says that c is the old attempt. The old attempt is killed for its copy only after an attempt has
// ended: before that, a pause of the old attempt cannot be told from a slow attempt. A silent copy is killed only if it
// has run for as long as the old attempt had run when the copy began: then both attempts have shown the same. The
// factors of the machines convert both ages.
func (w *weights) stays(t *Task, c *Attempt, old bool) bool {
	switch {
	case old:
		return t.Longest <= 0
	case c.Basis == ByProgress:
		return false
	}
	return c.Elapsed.Seconds()/place(c.Location) < float64(num.Half*w.age)/place(w.oldest.Location)
}

// fastestOther returns the attempt with the least remaining time, not including attempt i. It looks only at attempts
// whose remaining time is given as a distribution (Attempt.Left), and returns nil if there is none.
func fastestOther(attempts []Attempt, i int) (other *Attempt) {
	for j := range attempts {
		if o := &attempts[j]; j != i && o.Left != nil && (other == nil || o.Remaining < other.Remaining) {
			other = o
		}
	}
	return other
}

// oldestOther returns the oldest attempt, not including attempt i. It looks only at attempts whose remaining time is
// given as a distribution (Attempt.Left), and returns nil if there is none.
func oldestOther(attempts []Attempt, i int) (oldest *Attempt) {
	for j := range attempts {
		if o := &attempts[j]; j != i && o.Left != nil && (oldest == nil || o.Elapsed > oldest.Elapsed) {
			oldest = o
		}
	}
	return oldest
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

// pairOf makes a pair of two attempts of a task: a copy, and the attempt that it is compared with. Both must have a
// distribution of the remaining time (Left).
func pairOf(young, old *Attempt) (p pair) {
	for i := range leftPoints {
		p.young[i], p.old[i] = bounded(point(young.Left, i, leftPoints)), bounded(point(old.Left, i, leftPoints))
	}
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

// A killed copy is recorded as a part of a lost trial; shows returns this part for copy i. The part is 1 if the copy
// reports no progress. Otherwise it is the likelihood ratio of "the task is long", computed from the copy and the old
// attempt, and at most 1.
func shows(t *Task, p *Phase, i int) float64 {
	c, old := &t.Attempts[i], oldestOther(t.Attempts, i)
	if old == nil || c.Left == nil || c.Basis != ByProgress {
		return 1
	}
	var w weights
	w.fill(&LeastCost{}, t, p, view{interval: p.Interval})
	of := pairOf(c, old)
	return min(1, w.likeness(&of))
}

// near reports whether two times differ by less than the factor alike.
func near(a, b float64) bool { return a < float64(b*alike) && b < float64(a*alike) }

// replaced reports whether attempt i, the oldest attempt, may be killed in favour of another attempt that has done
// more. Such a kill uses up a restart of the task; most is how many restarts the task may have.
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

// In computations a distribution is represented by a few of its quantiles, called points. Their numbers are the same
// for the distributions of this library and for the distributions of a host.
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

// points returns the eight values that represent the time of a new attempt (t_new).
func points(fresh *estimate.Fresh) (of [freshPoints]float64) {
	for j := range of {
		of[j] = point(fresh, j, freshPoints)
	}
	return of
}
