package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Guarded is Mantri's rules with guards for what is not known; its fields are [Mantri]'s. Where t_rem is certain it
// decides as [Mantri] does. It is immutable in use and safe for concurrent use.
//
//   - Actions are trials. A copy is won if it ends first, and a restart if the new attempt takes less than two thirds of
//     what the old one would have. With the probability that trials have been lost, a new copy takes as long as the old
//     one: then it is the task that is long, or the moment, and not the attempt. A tracker mixes it into t_new.
//   - A copy costs three report periods where copies report: then it shows whether it gains on the other, and is killed
//     unless it takes less than half of it in all, or probably ends first while no task waits. Where they do not it costs
//     one and a half usual times, and after each of the first three trials of the task that were lost twice as many; then
//     it is killed, unless it is about to end first, and until then the task gets no other.
//   - Where the sizes of tasks are not known, losses are bounded: what was lost, and what all may cost that have not come
//     out. With what a copy costs, or a restart throws away, that may be four times what a first copy costs, a hundredth of
//     what the phase takes in all, or a quarter of what the task still takes. What runs on a machine that is behind has no
//     such bound, unless more trials were lost than won.
//   - There a restart wants the task to take twice what is usual, too, and what it throws away to have been saved by
//     trials that were won, or look so; before that a copy is made in its place, if one may be. A task that takes less is
//     restarted, too, if its progress says so before the copy has run for a twentieth of what is usual.
//   - A task that is stuck is restarted if no copy can be made of it, unless progress says that it ends sooner than a new
//     one. That is not bounded: its slot is as good as lost.
//   - While tasks wait, a copy must be expected to use less in all by two report periods.
//   - On an idle slot of a phase whose tasks have all begun, a copy is made if the time that it saves exceeds the slot
//     time that it adds, and two report periods. A stream of phases, or a phase whose Tasks are not known, has no last
//     wave: there Mantri's own rule for idle slots holds.
//
// Sources: [Mantri §5.1]; the guards are this library's, and docs/worlds.md has what they do.
type Guarded Mantri

const (
	marginPeriods = 2    // Δ that an action saves at least, beyond what it spends
	showPeriods   = 3    // Δ after which a copy has shown whether it gains
	hardlyFirst   = 0.35 // the probability to end first up to which it does not before then
	evenFirst     = 0.5  // and from then on
	noLess        = 0.5  // of what the other takes in all is not far less
	farLonger     = 2    // usual times that a task still takes that is killed
	hardlyRan     = 0.05 // usual times that it may have run if the task takes less
	usualPart     = 0.3  // of t_new, what is usual; the median may lie among the long ones
	openFor       = 1.5  // usual times for which a copy that shows nothing may come out
	mostPatience  = 3    // trials that were lost, of which each doubles that
	atRiskCopies  = 4    // copies that may be lost or at risk
	atRiskShare   = 0.01 // of what the phase takes
	atRiskLeft    = 0.25 // of what the task still takes
)

// Effective returns the policy with its defaults filled in, for logs.
func (g Guarded) Effective() Guarded { return Guarded(Mantri(g).Effective()) }

// Validate reports the first field that is out of range, with its value and its range.
func (g Guarded) Validate() error { return (*Mantri)(&g).validate("restart: Guarded") }

// Decide says what to do about a running task. O(len(t.Copies)), and at most some ninety looks at t.Fresh and Copy.Left;
// no allocation.
func (g Guarded) Decide(t Task, p Phase) (d Decision) {
	m := Mantri(g)
	m.fill()
	d.Reason = NotRunning
	if len(t.Copies) == 0 {
		return d
	}
	d.Won, d.Tried = p.Won, p.Tried
	v := m.look(t.Copies, p.Interval)
	v.margin = marginPeriods * v.interval.Seconds()
	if v.prunes(t.Copies, max(m.FastestKept, t.Clones)) {
		d.Action, d.Reason, d.Copy = Kill, SlowerCopy, v.surplus
		return d
	}
	if v.estimates(&d, &t, &p) {
		m.weighs(&d, &t, &p, v)
	}
	if t.Stuck && d.Action != Kill && !m.mayCopy(&t, &p) && (v.basis != ByProgress || d.Remaining > d.Fresh) &&
		(v.left != nil || v.remaining == estimate.Unknown) && m.mayRestart(&t, v) == NoReason {
		d.Action, d.Reason, d.Copy = Restart, Held, v.slowest
	}
	if d.Action == Duplicate || d.Action == Restart {
		d.Gain = max(0, num.Sub(d.Remaining, d.Fresh))
		d.Avoid = Avoid(t, p)
	}
	return d
}

// mayCopy reports whether a slot is free for a copy of a task, and it may have one.
func (m *Mantri) mayCopy(t *Task, p *Phase) bool {
	return p.FreeSlots > 0 && !t.NoDuplicate && m.MaxDuplicates != Off
}

// weighs decides about a task of which t_rem and t_new are known.
func (m *Mantri) weighs(d *Decision, t *Task, p *Phase, v view) {
	at := guard{copies: t.Copies, v: v, lag: t.Fresh.Lag, scarce: p.Waiting > 0, silent: v.basis != ByProgress}
	guarded := v.left != nil && !p.Sized && !(t.Behind && 2*p.Won >= p.Tried)
	if guarded && len(t.Copies) > 1 || v.left != nil && at.silent && t.Trying > 0 { // nothing else asks before an action
		at.expect(t)
	}
	if guarded {
		if i := at.inVain(); i >= 0 && len(t.Copies) > t.Clones {
			*d = Decision{Action: Kill, Reason: SlowerCopy, Copy: i, Won: p.Won, Tried: p.Tried}
			return
		}
		if !at.silent {
			v.shows = at.cost(at.patience).Seconds()
		}
	}
	if at.silent && t.Trying > 0 && t.Trying < at.patience {
		d.Reason = Unproven
		return
	}
	switch {
	case p.Waiting > 0 || !m.mayCopy(t, p):
		m.scarce(d, t, v)
	case p.Tasks > 0 && !p.Stream && v.left != nil:
		m.lastWave(d, t, v)
	default:
		m.idle(d, t, v)
	}
	if guarded && d.Action != Keep {
		at.expect(t)
		at.bound(d, t, p, m)
	}
}

// guard bounds what is done about a task while the sizes of tasks are not known.
type guard struct {
	copies   []Copy
	v        view
	lag      time.Duration
	usual    time.Duration // that a new copy takes
	patience time.Duration // for one that shows nothing
	scarce   bool          // tasks wait
	silent   bool          // progress says nothing of how long the task still takes
}

// expect takes in what a new copy of a task usually takes, and how long one may take that shows nothing: twice as long
// for each trial that was lost, which are all but the one that may be under way.
func (g *guard) expect(t *Task) {
	lost := max(t.Restarts, 0) + max(t.Duplicates, 0)
	if t.Trying > 0 {
		lost--
	}
	g.usual, _ = num.Duration(t.Fresh.Quantile(usualPart))
	g.patience = num.Times(g.usual, openFor*float64(int(1)<<min(max(lost, 0), mostPatience)))
}

// cost is what a copy costs if it is in vain.
func (g *guard) cost(patience time.Duration) time.Duration {
	if !g.silent {
		patience = num.Times(g.v.interval, showPeriods)
	}
	return num.Add(patience, g.lag)
}

// bound keeps an action that is worth its while from risking more than a wrong guess may cost.
func (g *guard) bound(d *Decision, t *Task, p *Phase, m *Mantri) {
	cost := g.cost(g.patience)
	if d.Action == Restart {
		far, ran := d.Remaining >= num.Times(g.usual, farLonger), g.copies[d.Copy].Elapsed
		switch {
		case !far && (g.silent || ran > num.Times(g.usual, hardlyRan)):
			d.Action, d.Reason, d.Copy = Keep, Unproven, 0
			return
		case far && num.Add(p.AtRisk, ran) <= 0:
			return
		case far && m.mayDuplicate(t, g.v) == NoReason:
			d.Action, d.Reason, d.Copy = Duplicate, Unproven, 0
		default:
			cost = ran
		}
	}
	most := max(num.Times(g.cost(num.Times(g.usual, openFor)), atRiskCopies),
		num.Times(g.usual, atRiskShare*float64(p.Tasks)), num.Times(d.Remaining, atRiskLeft))
	if num.Add(p.AtRisk, cost) > most {
		d.Action, d.Reason, d.Copy = Keep, Unproven, 0
	}
}

// inVain returns the copy of several that is no longer worth its slot; -1 if there is none.
func (g *guard) inVain() int {
	copies := g.copies
	if len(copies) < 2 {
		return -1
	}
	if i := g.v.surplus; i >= 0 && !g.silent && g.hopeless(i) {
		return i
	}
	newest := -1
	for i := range copies {
		if !kept(copies, i) && (newest < 0 || copies[i].Elapsed < copies[newest].Elapsed) {
			newest = i
		}
	}
	if newest < 0 || copies[newest].Elapsed < max(g.patience, g.v.interval) {
		return -1
	}
	if copies[newest].Basis == ByProgress && copies[newest].Remaining <= g.v.remaining {
		return -1 // it is about to end first
	}
	return newest
}

// hopeless reports whether a copy hardly ends before the fastest other, and does not take far less in all than another.
func (g *guard) hopeless(i int) bool {
	c, other, least := &g.copies[i], (*Copy)(nil), num.MaxDuration
	if c.Left == nil || c.Elapsed < num.Times(g.v.interval, marginPeriods) {
		return false
	}
	for j := range g.copies {
		if o := &g.copies[j]; j != i && o.Remaining != estimate.Unknown {
			least = min(least, num.Add(o.Elapsed, o.Remaining))
			if other == nil || o.Remaining < other.Remaining {
				other = o
			}
		}
	}
	if other == nil || other.Left == nil || num.Add(c.Elapsed, c.Remaining) < num.Times(least, noLess) {
		return false
	}
	bar := hardlyFirst * leftPoints
	if c.Elapsed >= num.Times(g.v.interval, showPeriods) {
		if bar = evenFirst * leftPoints; g.scarce {
			return true
		}
	}
	first := 0.0
	for k := leftPoints - 1; ; k-- { // it ends the more probably first, the longer the other takes
		p := estimate.Below(c.Left, point(other.Left, k, leftPoints))
		if first += p; first > bar {
			return false
		}
		if first+float64(float64(k)*p) <= bar {
			return true
		}
	}
}
