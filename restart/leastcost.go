package restart

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// LeastCost is the default policy: of the actions that are open to a task it takes the one that is expected to cost least.
//
// An example. A task has run for 100 s and reports a tenth of its work. Others took 100 s, tasks wait for slots, and no
// trial has come out. To keep it costs 900 s of a slot, and half a second more for each second until it ends: 1,350. With
// probability 1/4 the task is long by itself, and a copy is in vain; otherwise the copy ends it after 100 s, in two slots.
// That comes to some 525, so a copy is made. After two reports the copy has shown 2 % of its work: it will end first,
// so the old attempt is killed.
//
//   - A slow attempt has met a long task, or bad luck. The probability that the task is long is the share of trials that
//     were lost ([Trials.Long]); it is more if the spread of t_new explains the attempt's time. If the task is long, a new
//     attempt takes as long as the old one would have taken where the new one runs; if not, it takes what others took.
//   - Costs are seconds of slots, and a price for each second until the task ends: Price while tasks wait, IdlePrice
//     while none does. An action must save two report periods, and the new attempt must probably end sooner.
//   - The first trial is a copy, since two attempts of one task show whether the task is long: if the copy is as slow, the
//     copy is killed; if it is faster, the old attempt is.
//   - Attempts are killed without a copy once three trials were won, and twice as many as were lost; one is enough for an
//     attempt that moves evenly ([Attempt].Even) while tasks wait for slots. A task that may have no copy ([Task].NoCopy)
//     need not wait for that: there a restart is the trial, once the attempt has run for as long as a silent copy may.
//   - No trial begins if all trials together, this one too, might then have lost more than the bound of [Limits].
//
// Where the machine is known to be bad ([Attempt].Location), an attempt is killed without proof, and there is no bound.
//
// Every field is a choice of the operator, and 0 stands for the default. It is immutable in use and safe for concurrent
// use. Sources: t_rem and t_new [Mantri §5.1]; the model of luck and size, the criterion and the bound are this library's,
// and docs/worlds.md has what they do.
type LeastCost struct {
	// Price is how many seconds of a slot a second of the task's time is worth while tasks wait. 0 means 0.5.
	Price float64
	// IdlePrice is the same while no task waits. 0 means 2: a copy may use two seconds of idle slots for each second that
	// it saves.
	IdlePrice float64
}

// The numbers of the default are choices: docs/decisions/19-least-cost.md has what other numbers did.
const (
	marginPeriods = 2   // report periods that an action saves at least
	likely        = 0.6 // the probability to end sooner that a trial needs while tasks wait; evenChance where attempts are silent
	killPeriods   = 2   // report periods that it saves to end one attempt of several
	alike         = 1.3 // two times that differ by less than this factor are the same, for a pair of attempts
	sizeOdds      = 9   // what the odds that a task is long are multiplied by if it takes no longer than t_new's spread explains
)

// The defaults of the fields are choices, too: half and twice each price made no difference of more than a few tenths of a
// percent of the time.
const (
	usualPrice     = 0.5 // seconds of a slot for a second of a task's time, while tasks wait
	usualIdlePrice = 2   // the same while none does
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

// Decide says what to do about a running task. O(len(t.Attempts)), and some thirty looks at t.Fresh and at each Attempt.Left;
// no allocation.
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

// cheapest decides about a task of which t_rem and t_new are known.
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
		noRestart = NoTaskWaits // it would throw away what the attempt has done, for a slot that nobody wants
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

// weights are the numbers that the costs of actions are made of, in seconds.
type weights struct {
	left  [leftPoints]float64  // t_rem of the fastest copy
	fresh [freshPoints]float64 // t_new, if the task is not long
	stakes
	age      float64 // of the copy that has run longest
	moved    float64 // by what an attempt takes longer where the new one would run than where that copy does
	lag      float64
	long     float64             // the probability that the task is long, whatever its time
	longs    [leftPoints]float64 // the same if the fastest copy takes so long in all
	copied   [leftPoints]float64 // the same for a copy
	price    float64             // of a second until the task ends
	copies   float64
	interval float64
	even     bool // the copy's progress runs evenly
}

func (w *weights) fill(c *LeastCost, t *Task, p *Phase, v view) {
	w.stakes, w.copies, w.interval = stakesOf(t, p), float64(len(t.Attempts)), v.interval.Seconds()
	remaining := v.remaining.Seconds()
	for i := range w.left {
		if w.left[i] = remaining; v.left != nil {
			w.left[i] = bounded(point(v.left, i, leftPoints))
		}
	}
	w.age, w.lag = w.oldest.Elapsed.Seconds(), max(t.Fresh.Lag, 0).Seconds()
	w.moved, w.even = place(t.Fresh.Location)/place(w.oldest.Location), w.oldest.Even
	longest, f := num.Add(w.shows, w.typical).Seconds(), 0.0 // an attempt that turns out slow is replaced in turn
	for j := range w.fresh {
		if f < longest {
			f = min(point(&t.Fresh, j, freshPoints), longest)
		}
		w.fresh[j] = f
	}
	if v.left != nil { // otherwise it is known that the task is not long
		w.mayBeLong(&p.Trials, stillLost(t, w.oldest.Elapsed), &t.Fresh)
	}
	if w.price = c.Price; p.Waiting <= 0 && !p.Stream {
		w.price = c.IdlePrice
	}
}

// mayBeLong finds out how probable it is that the task is long, for each time that it may still take. A time that the
// spread of t_new explains is the task's own by sizeOdds: tasks of one phase differ, and attempts of one task seldom. That
// trials of shorter tasks were lost says less of this one, but that is no reason to throw away what it has done.
func (w *weights) mayBeLong(trials *Trials, lost int, fresh *estimate.Fresh) {
	w.long = trials.Long(lost, 0)
	longest := trials.Longest.Seconds() // up to which a lost trial says the same of all tasks
	body := survival.NewBody(fresh.Quantile(num.Quarter)-w.lag, fresh.Quantile(num.Half)-w.lag)
	for i, left := range w.left {
		if i > 0 && left == w.left[i-1] { // few values make up most distributions
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

// own returns the probability that the task is long, given that of an outlier and how probable it is that the task is an
// outlier. The odds of the others are sizeOdds times as high.
func own(long, outlier float64) float64 {
	odds := float64(sizeOdds * long) // no fused multiply-add: one answer everywhere
	return float64(outlier*long) + float64((1-outlier)*(odds/(1-long+odds)))
}

// mustWin returns how many trials must have been won before the attempt may be killed without a copy. Of one that moves
// evenly, while others wait for its slot, one is enough if none was lost: a copy would wait for a slot first.
func (w *weights) mustWin(p *Phase) float64 {
	least := float64(provenTrials)
	if w.even && p.Waiting > 0 {
		least = 1
	}
	return max(least, provenRatio*p.Trials.Lost)
}

func bounded(seconds float64) float64 { return min(seconds, num.MaxDuration.Seconds()) }

// place is a factor of a place; 0 counts as 1.
func place(factor float64) float64 {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return 1
	}
	return factor
}

// costs returns what it costs to keep the task, to restart it, and to copy it; and the probability that a new attempt ends
// before the task does, if the task is not long. Each is a mean over all pairs of a time of t_rem and a time of t_new. Both
// lists ascend: the times of t_new below one time of t_rem, which are n and add up to below, are below the next one, too.
func (w *weights) costs() (keep, restart, another, sooner float64) {
	all, below, n, pairs := 0.0, 0.0, 0, 0
	for _, f := range w.fresh {
		all += f
	}
	one, shows := w.copies+w.price, w.shows.Seconds()
	two := one + 1
	for i, l := range w.left {
		for ; n < freshPoints && w.fresh[n] < l; n++ {
			below += w.fresh[n]
		}
		pairs += n
		long, copied, kept := w.longs[i], w.copied[i], float64(one*l)
		same := float64(w.moved*(w.age+l)) + w.lag // what a new attempt takes if the task is long
		late := kept + min(l, shows)               // the cost of a copy that ends no sooner
		another += float64((1 - copied) / freshPoints * (float64(two*below) + float64((freshPoints-float64(n))*late)))
		if same < l {
			late = two * same
		}
		keep, another = keep+kept, another+float64(copied*late)
		restart += float64((1 + w.price) * (float64(long*same) + float64((1-long)*all/freshPoints)))
	}
	return keep / leftPoints, restart / leftPoints, another / leftPoints, float64(pairs) / (leftPoints * freshPoints)
}

// likely is the probability to end sooner that a trial needs while tasks wait, and a restart always.
func (w *weights) likely() float64 {
	if w.silent {
		return evenChance
	}
	return likely
}

// vain kills the attempt of several that is not worth its slot, and reports whether there is one.
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

// fastestOther returns the attempt beside the i-th that ends first; nil if t_rem of none is a distribution.
func fastestOther(copies []Attempt, i int) (other *Attempt) {
	for j := range copies {
		if o := &copies[j]; j != i && o.Left != nil && (other == nil || o.Remaining < other.Remaining) {
			other = o
		}
	}
	return other
}

// saves returns by how much it costs less to end an attempt than to keep it beside another. How long the two take in all
// shows whether the task is long: then both take as long, and what the younger has reported counts for nothing.
func (w *weights) saves(c, other *Attempt) (saved float64) {
	p := pairOf(c, other)
	of, left, isOld := &p.young, &p.old, c.Elapsed > other.Elapsed
	if isOld {
		of, left = left, of
	}
	odds := float64(w.long * w.likeness(&p))
	long := odds / (1 - w.long + odds)
	both, one := w.copies+w.price, w.copies-1+w.price
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

// pair is what two attempts of a task still need, and how old they are, in seconds.
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

// likeness returns how many times likelier a pair is if the task is long: then the two attempts take alike in all; if not, the
// younger takes what others took. Neither is ever ruled out.
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

// wins reports whether an attempt beside the i-th, an older one, surely takes less than half as long in all.
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

// shows returns as how much of a lost trial it counts that one of several attempts is ended: as the pair's likeness, at most 1.
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

// replaced reports whether the attempt that has run longest may be ended for another that is further on. It counts as a
// restart.
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

// A distribution is looked at in points, each of which stands for a sixteenth of it (t_rem) or an eighth (t_new): the same for
// distributions of this library and of any other.
const (
	leftPoints  = survival.Points
	freshPoints = 8
)

// point returns the middle of the i-th of n equal parts of a distribution.
func point(d interface{ Quantile(p float64) float64 }, i, n int) float64 {
	return max(0, d.Quantile((float64(i)+num.Half)/float64(n)))
}

// points are those in which t_new is looked at.
func points(fresh *estimate.Fresh) (of [freshPoints]float64) {
	for j := range of {
		of[j] = point(fresh, j, freshPoints)
	}
	return of
}
