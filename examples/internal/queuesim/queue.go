package queuesim

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// state is the state of a job in the table.
type state uint8

const (
	waits state = iota
	runs
	succeeded
	failed
	cancelled
)

// job is a row of the table.
type job struct {
	id     string
	task   int
	queue  int // the worker that may take the job; anyWorker: every worker
	state  state
	since  time.Duration // waiting jobs are ordered by this time
	ready  time.Duration // when the job may be taken
	worker int           // the worker that runs it or ran it
	begun  time.Duration
	ended  time.Duration
	tries  int // how often it has begun
	ends   bool
	share  float64 // reported progress
	asOf   time.Duration
	seen   bool // it has ended, and the coordinator's saved state includes the end
	life   int  // life of the worker when the job began
}

const anyWorker = -1

// attempt is an attempt in a slot.
type attempt struct {
	*job
	hangs, fails bool
	slow         bool    // it takes UnluckyTimes as long
	work, left   float64 // seconds of work of a good worker
	reports      time.Duration
}

// worker is a process with slots.
type worker struct {
	running []*attempt
	life    int // how often it was killed
}

// queue is the table of jobs, its workers, and the simulated time.
type queue struct {
	*Scenario
	luck
	player
	now     time.Duration
	due     events
	count   int
	jobs    []*job
	workers []worker
	begins  []int // for each task, how often it has begun
	sizes   []float64
	results []*job // for each task, the job with its result
	left    int    // number of tasks without a result
	out     Outcome
}

// player is a rule about the jobs of a batch.
type player interface {
	start(*queue) error
	ended(*queue, *job) // a job has succeeded, failed, or was cancelled
	over(*queue) bool   // the rule will do nothing more
	goesOn() bool       // the rule has to do something after the last result
}

// Outcome is the result of a batch under a rule.
type Outcome struct {
	Time   time.Duration // time until the last result
	Used   time.Duration // slot time
	Wasted time.Duration // slot time that gave no task its result
	Lost   int           // tasks without a result
	Begins int           // attempts
	Copies int           // attempts that began while another attempt of their task ran
	Bill   shadow.Bill   // in shadow mode: what acting would have saved
	Twice  int           // results that a rule wanted to use although the task had a result
}

// play simulates a batch in a scenario.
func play(s *Scenario, p player, seed int) (Outcome, error) {
	q := &queue{Scenario: s, luck: luck(seed), player: p, left: s.tasks(), workers: make([]worker, s.workers())}
	q.begins, q.results = make([]int, q.left), make([]*job, q.left)
	for i := range q.left {
		q.sizes = append(q.sizes, s.seconds(q.luck, i))
	}
	for i := range q.workers {
		q.fetchesOn(i, 0)
	}
	if s.Killed.Till > 0 {
		q.at(s.Killed.From, func() { q.kill(s.workers() - 1) })
	}
	if err := p.start(q); err != nil {
		return Outcome{}, err
	}
	for (q.left > 0 || p.goesOn()) && q.now < Longest && !p.over(q) {
		next := heap.Pop(&q.due).(event)
		q.now = next.at
		next.happens()
	}
	for i := range q.workers {
		for _, a := range q.workers[i].running {
			q.out.Used += q.now - a.begun
		}
	}
	q.out.Wasted, q.out.Lost = q.out.Used, q.left
	for _, j := range q.results {
		if j != nil {
			q.out.Wasted -= j.ended - j.begun
		}
	}
	return q.out, nil
}

// publish makes the result of a job the result of its task, unless the task has a result.
func (q *queue) publish(j *job) {
	switch q.results[j.task] {
	case nil:
		q.results[j.task], q.out.Time = j, q.now
		q.left--
	case j:
	default:
		q.out.Twice++
	}
}

// insert adds a job to the table. If the table has a job with this ID, nothing changes.
func (q *queue) insert(id string, task, to int, ready time.Duration) {
	if q.find(id) != nil {
		return
	}
	j := &job{id: id, task: task, queue: to, since: q.now, ready: ready}
	q.jobs = append(q.jobs, j)
	if to != anyWorker {
		q.at(ready, func() { q.fetch(to) })
	}
}

func (q *queue) find(id string) *job {
	for _, j := range q.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

// cancel tells an attempt to end. A waiting job ends at once.
func (q *queue) cancel(j *job) {
	switch j.state {
	case waits:
		j.state, j.ended = cancelled, q.now
		q.player.ended(q, j)
	case runs:
		j.ends = true
	}
}

// standsStill reports whether a worker is stopped or dead, and until when.
func (q *queue) standsStill(worker int) (still bool, till time.Duration) {
	if worker != len(q.workers)-1 {
		return false, 0
	}
	for _, s := range [...]Span{q.Stopped, q.Killed} {
		if s.holds(q.now) {
			return true, s.Till
		}
	}
	return false, 0
}

// fetchesOn lets a worker look for jobs for the k-th time, and then again in each period.
func (q *queue) fetchesOn(worker, k int) {
	q.at(q.fetches(worker, k), func() {
		q.fetch(worker)
		q.fetchesOn(worker, k+1)
	})
}

// fetch lets a worker take jobs for its free slots, the oldest first.
func (q *queue) fetch(worker int) {
	w := &q.workers[worker]
	if still, _ := q.standsStill(worker); still {
		return
	}
	for len(w.running) < Slots {
		var oldest *job
		for _, j := range q.jobs {
			mine := j.queue == anyWorker || j.queue == worker
			if mine && j.state == waits && j.ready <= q.now && (oldest == nil || cmp.Less(j.since, oldest.since)) {
				oldest = j
			}
		}
		if oldest == nil {
			return
		}
		q.begin(worker, oldest)
	}
}

func (q *queue) begin(worker int, j *job) {
	w := &q.workers[worker]
	if slices.ContainsFunc(q.jobs, func(o *job) bool { return o.task == j.task && o.state == runs }) {
		q.out.Copies++
	}
	j.state, j.worker, j.begun, j.life, j.share, j.ends = runs, worker, q.now, w.life, 0, false
	j.tries++
	a := &attempt{job: j, work: q.sizes[j.task], left: q.sizes[j.task], reports: q.now + ReportEvery}
	a.hangs, a.fails, a.slow = q.fate(q.Scenario, j.task, q.begins[j.task])
	q.begins[j.task]++
	q.out.Begins++
	w.running = append(w.running, a)
	q.slice(a)
}

// slice lets an attempt work for a slice, or for less if its work ends or fails before.
func (q *queue) slice(a *attempt) {
	takes, pace := Slice, 1.
	if q.Slow > 0 && a.worker == len(q.workers)-1 {
		pace = q.Slow
	}
	if a.slow {
		pace *= UnluckyTimes
	}
	until := 0. // the work that is left when the attempt ends
	if a.fails {
		until = a.work / 2
	}
	if !a.hangs {
		takes = min(takes, time.Duration(math.Ceil((a.left-until)*pace*1e9)))
	}
	if a.begun < q.Outage {
		takes = OutageFails
	}
	var end func()
	end = func() {
		switch still, till := q.standsStill(a.worker); {
		case a.life != q.workers[a.worker].life: // the attempt died with its worker
		case still:
			q.at(till, end)
		default:
			if !a.hangs {
				a.left -= takes.Seconds() / pace
			}
			q.sliced(a, until)
		}
	}
	q.at(q.now+takes, end)
}

// sliced handles the end of a slice.
func (q *queue) sliced(a *attempt, until float64) {
	const done = 1e-9 // seconds of work; less is a rounding error
	switch {
	case a.begun < q.Outage:
		q.end(a, failed)
	case !a.hangs && a.left <= until+done:
		if a.fails {
			q.end(a, failed)
			return
		}
		q.end(a, succeeded)
	case a.ends:
		q.end(a, cancelled)
	case q.now-a.begun >= q.timeout():
		q.end(a, failed)
	default:
		if q.Reports && !a.hangs && q.now >= a.reports {
			a.share, a.asOf, a.reports = 1-a.left/a.work, q.now, q.now+ReportEvery
		}
		q.slice(a)
	}
}

// end frees the slot of an attempt.
func (q *queue) end(a *attempt, s state) {
	w := &q.workers[a.worker]
	w.running = slices.DeleteFunc(w.running, func(o *attempt) bool { return o == a })
	a.state, a.job.ended = s, q.now
	q.out.Used += q.now - a.begun
	q.player.ended(q, a.job)
}

// kill ends a worker. In the table, its attempts still run.
func (q *queue) kill(worker int) {
	w := &q.workers[worker]
	for _, a := range w.running {
		q.out.Used += q.now - a.begun
	}
	w.running, w.life = nil, w.life+1
}

// idle reports whether no event can follow: no job waits, and no job runs that can end.
func (q *queue) idle() bool {
	for _, j := range q.jobs {
		if j.state == waits || j.state == runs && j.life == q.workers[j.worker].life {
			return false
		}
	}
	return true
}

// event is an event at an instant.
type event struct {
	at      time.Duration
	number  int // order of events at the same instant
	happens func()
}

// events is a heap of events.
type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}

func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// at calls happens at an instant.
func (q *queue) at(when time.Duration, happens func()) {
	q.count++
	heap.Push(&q.due, event{at: when, number: q.count, happens: happens})
}

// each calls happens at an instant, and again after each period.
func (q *queue) each(first, period time.Duration, happens func()) {
	q.at(first, func() {
		happens()
		q.each(q.now+period, period, happens)
	})
}

func name(worker int) string { return fmt.Sprintf("w%d", worker+1) }
