package worlds

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// books is implemented by a tracker and by the reference: a host tells it of events, and asks it for decisions.
type books interface {
	Submit(now time.Time, task, machine int) (attempt int)
	Start(now time.Time, task, machine int) (attempt int)
	Begin(now time.Time, task, attempt, machine int)
	Report(now time.Time, task, attempt int, r tracker.Report) tracker.Answer
	Finish(now time.Time, task, attempt int) (overtaken []int)
	Fail(now time.Time, task, attempt int)
	Kill(now time.Time, task, attempt int)
	Restart(now time.Time, task, attempt int)
	LoseMachine(now time.Time, machine int) (waiting []int)
	SetSlots(slots int)
	Sweep(now time.Time, visit func(tracker.Answer))
	Next(now time.Time, machine int) tracker.Answer
	Phase() restart.Phase
	Close(now time.Time)
}

// The prices of the reference, in seconds of slot time.
const (
	priceWaiting = .25 // for one second of a task's time, while tasks wait for slots
	priceIdle    = 1.5 // for one second of a task's time, while no task waits
	margin       = 5.  // an action must be cheaper than no action by this amount
)

// The limits of the reference.
const (
	mostCopies   = 3 // running attempts of a task
	mostRestarts = 8 // restarts of a task
)

// reference is a host that knows the distributions of sizes, luck and machines, but no draw. It shows which figures
// can be reached in a world. It keeps the posterior of each task's size and of each machine's speed. For a task, it
// enumerates the possible fates of its attempts and of a new attempt, and takes the action with the least expected
// cost: keep, wait and act later, restart, copy, or kill.
type reference struct {
	*prior
	interference, lag float64
	tasks             []known
	machines          [][]float64 // for each machine, the weights of prior.speeds
	waiting           []int
	slots, running    int
}

// known has the knowledge about a task.
type known struct {
	attempts       []attempt
	sizes          []float64 // for each cell, the likelihood of the observations of attempts that have ended
	next, restarts int
	changed        float64 // when an attempt was last started
	done           bool
}

// attempt is an attempt that is queued or runs.
type attempt struct {
	number, machine int
	runs            bool
	since           float64 // when its age was last updated
	seen
}

func newReference(w *World, m Model, tasks, slots int, works []float64) *reference {
	r := &reference{
		prior: priorOf(w, m), interference: w.Interference, lag: w.Lag, slots: slots,
		tasks: make([]known, tasks), machines: make([][]float64, w.machines()),
	}
	for i := range r.machines {
		for _, s := range r.speeds {
			r.machines[i] = append(r.machines[i], s.p)
		}
	}
	for i := range r.tasks {
		r.waiting = append(r.waiting, i)
		sizes := make([]float64, len(r.sizes))
		for b := range sizes {
			sizes[b] = 1
		}
		if works != nil {
			clear(sizes)
			sizes[r.nearest(works[i])] = 1
		}
		r.tasks[i].sizes = sizes
	}
	return r
}

func seconds(now time.Time) float64 { return now.Sub(time.Unix(0, 0)).Seconds() }

// slowed returns the factor by which work takes longer in each attempt, if a task has this number of attempts.
func (r *reference) slowed(copies int) float64 { return 1 + float64(r.interference*float64(copies-1)) }

// settle updates the ages of a task's attempts.
func (r *reference) settle(t *known, now float64) {
	for i := range t.attempts {
		if a := &t.attempts[i]; a.runs {
			a.age += (now - a.since) / r.slowed(len(t.attempts))
			a.since = now
		}
	}
}

// costs are the expected costs of the possible actions for a task: slot time, and the price of the task's time.
type costs struct {
	keep, restart, copy, kill float64
	killed                    int // the attempt that is cheapest to kill; -1 if there is only one attempt
}

// delays are the times in seconds after which the reference may act, if a silent attempt still runs then.
var delays = []float64{20, 30, 45, 70, 100, 160, math.Inf(1)}

// weigh returns the costs for a task, if a new attempt would run on a machine with the given weights of its speeds.
func (r *reference) weigh(t *known, on []float64) (c costs) {
	k := len(t.attempts)
	price, waits := priceIdle, delays
	if len(r.waiting) > 0 {
		price = priceWaiting
	}
	if r.sigma > 0 {
		waits = delays[len(delays)-1:] // a report will show it sooner
	}
	var keepThenRestart, keepThenCopy [8]float64
	without := make([]float64, k)
	lists, evidence, sum := make([][]outcome, k), 0.0, 0.0
	var news []outcome
	for b, s := range r.sizes {
		if s.p*t.sizes[b] == 0 {
			continue
		}
		weight := s.p * t.sizes[b]
		for i := range t.attempts {
			a := &t.attempts[i]
			if lists[i], evidence = r.outcomes(lists[i][:0], &a.seen, r.machines[a.machine], s); evidence == 0 {
				weight = 0
				break
			}
			weight *= evidence
		}
		if weight < 1e-9*sum || weight == 0 {
			continue
		}
		sum += weight
		news = r.freshOutcomes(news[:0], on, s)
		for i := range without {
			rest := slices.Concat(lists[:i], lists[i+1:])
			for _, o := range least(rest) {
				without[i] += weight * o.p * (float64(k-1) + price) * r.slowed(k-1) * o.left
			}
		}
		for _, f := range news {
			c.restart += weight * f.p * (1 + price) * f.left
		}
		for _, o := range least(lists) {
			each, left := float64(k)+price, o.left*r.slowed(k)
			for j, wait := range waits {
				if left <= wait {
					keepThenRestart[j] += weight * o.p * each * left
					keepThenCopy[j] += weight * o.p * each * left
					continue
				}
				for _, f := range news {
					p := weight * o.p * f.p
					keepThenRestart[j] += p * (each*wait + (1+price)*f.left)
					keepThenCopy[j] += p * (each*wait + r.copied(k, price, left-wait, f.left))
				}
			}
			for _, f := range news {
				c.copy += weight * o.p * f.p * r.copied(k, price, left, f.left)
			}
		}
	}
	if sum == 0 {
		return costs{killed: -1}
	}
	c.keep, c.killed, c.kill = math.Inf(1), -1, math.Inf(1)
	for j := range waits {
		c.keep = min(c.keep, keepThenCopy[j]/sum)
		if k == 1 && r.full() {
			c.keep = min(c.keep, keepThenRestart[j]/sum)
		}
	}
	for i, cost := range without {
		if k > 1 && cost/sum < c.kill {
			c.kill, c.killed = cost/sum, i
		}
	}
	c.restart /= sum
	c.copy /= sum
	return c
}

// copied returns the cost of a copy beside k attempts. left is the remaining time of the first of these attempts to
// end, and fresh the time of the copy.
func (r *reference) copied(k int, price, left, fresh float64) float64 {
	more := r.slowed(k+1) / r.slowed(k)
	if fresh <= left {
		m := min(left*more, fresh*r.slowed(k+1))
		return (float64(k+1) + price) * m
	}
	beside := min(left, r.detects+r.lag) // after this time the copy has shown that it is slow, and is killed
	return (float64(k)+price)*(left+beside*(more-1)) + beside
}

// full reports whether no slot is free for a copy.
func (r *reference) full() bool { return len(r.waiting) > 0 || r.running >= r.slots }

// anew returns the weights of the speeds of the machine on which a task would run after a restart. If no other slot
// is free, it is the slot that the killed attempt leaves, on the same machine.
func (r *reference) anew(t *known) []float64 {
	if r.full() {
		a := &t.attempts[0]
		on := slices.Clone(r.machines[a.machine])
		if r.learn(&a.seen, slices.Clone(t.sizes), on); !r.idles(r.slowness(on), len(r.waiting)+1) {
			return on
		}
	}
	return r.everywhere()
}

// everywhere returns the weights of the speeds of an unknown machine.
func (r *reference) everywhere() []float64 {
	on := make([]float64, len(r.speeds))
	for _, weights := range r.machines {
		for i, p := range weights {
			on[i] += p / float64(len(r.machines))
		}
	}
	return on
}

// freshOutcomes appends the possible times of a new attempt, with its lag. A new attempt that is slow is replaced as
// soon as it has shown this, on the same machine if no other slot is free.
func (r *reference) freshOutcomes(to []outcome, on []float64, s size) []outcome {
	usual := r.slowness(r.everywhere())
	for i, v := range r.speeds {
		next := usual
		if r.full() {
			next = v.by
		}
		for _, l := range r.lucks {
			replaced := r.detects + r.lag + (s.seconds+l.more)*next
			total := takes(s, l, v)
			if l.hangs {
				total = replaced
			}
			to = append(to, outcome{min(total, replaced) + r.lag, on[i] * l.p})
		}
	}
	return to
}

// least returns the distribution of the minimum of independent remaining times.
func least(lists [][]outcome) []outcome {
	if len(lists) < 2 {
		return slices.Concat(lists...)
	}
	all := make([]outcome, 0, len(lists[0])*len(lists))
	for i, list := range lists {
		for _, o := range list {
			p := o.p
			for j, other := range lists {
				if j == i {
					continue
				}
				later := 0.0
				for _, x := range other {
					if x.left > o.left || x.left == o.left && j > i {
						later += x.p
					}
				}
				p *= later
			}
			if p > 0 {
				all = append(all, outcome{o.left, p})
			}
		}
	}
	return all
}

// ready reports whether all attempts of a task run, and the newest has had enough time to show something. If attempts
// report, all of them have reported.
func (r *reference) ready(t *known, now float64) bool {
	if t.done || len(t.attempts) == 0 || now < t.changed+min(r.detects, r.interval) {
		return false
	}
	return !slices.ContainsFunc(t.attempts, func(a attempt) bool { return !a.runs || r.sigma > 0 && a.reports == 0 })
}

// decide returns the decision to restart a task, to kill one of its attempts, or to keep it.
func (r *reference) decide(task int, now float64) (a tracker.Answer) {
	a.Task = task
	t := &r.tasks[task]
	if !r.ready(t, now) {
		return a
	}
	r.settle(t, now)
	c := r.weigh(t, r.anew(t))
	switch {
	case c.killed >= 0 && c.kill < c.keep-margin:
		a.Action, a.Attempt = restart.Kill, t.attempts[c.killed].number
	case len(t.attempts) == 1 && t.restarts < mostRestarts && c.restart < c.keep-margin && (r.full() || c.restart <= c.copy):
		t.restarts++
		a.Action, a.Attempt = restart.Restart, t.attempts[0].number
	}
	return a
}

// idles reports whether a machine of this mean slowness should stay idle: the faster machines would finish all
// waiting tasks before this machine finishes one.
func (r *reference) idles(slow float64, waiting int) bool {
	best, faster := math.Inf(1), 0.0
	for _, weights := range r.machines {
		of := r.slowness(weights)
		if best = min(best, of); of < slow/1.5 {
			faster++
		}
	}
	if waiting == 0 {
		return faster > 0
	}
	return faster > 0 && slow > (float64(waiting)/faster+1.5)*best
}

// Next gives a slot to the first waiting task, or to the copy that saves most.
func (r *reference) Next(at time.Time, machine int) (a tracker.Answer) {
	a.Task = -1
	if r.idles(r.slowness(r.machines[machine]), len(r.waiting)) {
		return a
	}
	if len(r.waiting) > 0 {
		a.Task, a.Action = r.waiting[0], restart.Start
		return a
	}
	now, most := seconds(at), margin
	for i := range r.tasks {
		t := &r.tasks[i]
		here := slices.ContainsFunc(t.attempts, func(a attempt) bool { return a.machine == machine })
		if here || len(t.attempts) >= mostCopies || !r.ready(t, now) {
			continue
		}
		r.settle(t, now)
		if c := r.weigh(t, r.machines[machine]); c.keep-c.copy > most {
			most = c.keep - c.copy
			a.Task, a.Action = i, restart.Copy
		}
	}
	return a
}

// slowness returns the mean factor by which work takes longer on a machine.
func (r *reference) slowness(weights []float64) (mean float64) {
	for i, p := range weights {
		mean += float64(p * r.speeds[i].by)
	}
	return mean
}

func (r *reference) Sweep(now time.Time, visit func(tracker.Answer)) {
	if r.sigma > 0 {
		return // each report gets a decision, so Sweep has nothing to do
	}
	for i := range r.tasks {
		if a := r.decide(i, seconds(now)); a.Action != restart.Keep {
			visit(a)
		}
	}
}

func (r *reference) Report(now time.Time, task, number int, report tracker.Report) tracker.Answer {
	t := &r.tasks[task]
	r.settle(t, seconds(now))
	i := slices.IndexFunc(t.attempts, func(a attempt) bool { return a.number == number })
	a := &t.attempts[i]
	if work := report.Done; work > 0 {
		a.stopped = work <= a.done
		a.reports++
		a.log += math.Log(a.age / min(work, 1))
		a.done = work
	}
	return r.decide(task, seconds(now))
}

func (r *reference) Submit(now time.Time, task, machine int) int {
	t := &r.tasks[task]
	r.settle(t, seconds(now))
	r.waiting = slices.DeleteFunc(r.waiting, func(other int) bool { return other == task })
	t.attempts = append(t.attempts, attempt{number: t.next, machine: machine})
	t.next++
	t.changed = seconds(now)
	r.running++
	return t.next - 1
}

func (r *reference) Start(now time.Time, task, machine int) int {
	number := r.Submit(now, task, machine)
	r.Begin(now, task, number, machine)
	return number
}

func (r *reference) Begin(now time.Time, task, number, _ int) {
	t := &r.tasks[task]
	r.settle(t, seconds(now))
	for i := range t.attempts {
		if a := &t.attempts[i]; a.number == number {
			a.runs, a.since = true, seconds(now)
		}
	}
	t.changed = seconds(now)
}

// over removes an attempt from its task, and updates the posteriors with its observations.
func (r *reference) over(now time.Time, task, number int, ended bool) {
	t := &r.tasks[task]
	r.settle(t, seconds(now))
	i := slices.IndexFunc(t.attempts, func(a attempt) bool { return a.number == number })
	a := t.attempts[i]
	t.attempts = slices.Delete(t.attempts, i, i+1)
	r.running--
	if a.runs && a.age > 0 {
		a.ended = ended
		r.learn(&a.seen, t.sizes, r.machines[a.machine])
	}
	if t.done = t.done || ended; !t.done && len(t.attempts) == 0 {
		r.waiting = slices.Insert(r.waiting, 0, task)
	}
}

func (r *reference) Finish(now time.Time, task, number int) (overtaken []int) {
	r.over(now, task, number, true)
	for _, a := range slices.Clone(r.tasks[task].attempts) {
		overtaken = append(overtaken, a.number)
		r.over(now, task, a.number, false)
	}
	return overtaken
}

func (r *reference) Fail(now time.Time, task, number int)    { r.over(now, task, number, false) }
func (r *reference) Kill(now time.Time, task, number int)    { r.over(now, task, number, false) }
func (r *reference) Restart(now time.Time, task, number int) { r.over(now, task, number, false) }

func (r *reference) LoseMachine(now time.Time, machine int) (waiting []int) {
	for i := range r.tasks {
		for _, a := range slices.Clone(r.tasks[i].attempts) {
			if a.machine == machine {
				r.over(now, i, a.number, false)
				waiting = append(waiting, i)
			}
		}
	}
	return waiting
}

func (r *reference) SetSlots(slots int)   { r.slots = slots }
func (r *reference) Phase() restart.Phase { return restart.Phase{Waiting: len(r.waiting)} }
func (r *reference) Close(time.Time)      {}
