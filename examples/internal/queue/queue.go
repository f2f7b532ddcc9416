package queue

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"
)

// state is what the table says of a job.
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
	queue  int // the worker that may take it; anyWorker
	state  state
	since  time.Duration // by which waiting jobs are in order
	ready  time.Duration // when it may be taken
	worker int           // that runs it or ran it
	begun  time.Duration
	ended  time.Duration
	tries  int // begins
	ends   bool
	share  float64 // of its work, as it has reported
	asOf   time.Duration
	lost   bool // the coordinator has written that it is lost
	life   int  // of the worker that began it
}

const anyWorker = -1

// attempt is what runs in a slot.
type attempt struct {
	*job
	hangs, fails bool
	work, left   float64 // seconds of a good worker
	reports      time.Duration
}

// worker is a process with slots.
type worker struct {
	running []*attempt
	life    int // how often it was killed
}

// queue is the table of jobs, its workers, and virtual time.
type queue struct {
	*Scenario
	luck
	player
	now     time.Duration
	due     events
	count   int
	jobs    []*job
	workers [Workers]worker
	begins  []int // by task
	sizes   []float64
	results []*job // by task
	left    int    // tasks without one
	out     Outcome
}

// player is a rule: what is done about the jobs of a batch.
type player interface {
	start(*queue) error
	ended(*queue, *job) // a job has succeeded, failed, or was cancelled
	over(*queue) bool   // nothing more will be done
}

// Outcome is what a batch took under a rule.
type Outcome struct {
	Time   time.Duration // until the last result
	Used   time.Duration // of slots
	Wasted time.Duration // the part of it that gave no task its result
	Lost   int           // tasks that have no result
	Begins int           // attempts
	Copies int           // attempts that began while another of their task ran
	Twice  int           // results beyond the first of a task that a rule wanted to use
}

// play takes a batch through a scenario.
func play(s *Scenario, p player, seed int) (Outcome, error) {
	q := &queue{Scenario: s, luck: luck(seed), player: p, left: s.tasks()}
	q.begins, q.results = make([]int, q.left), make([]*job, q.left)
	for i := range q.left {
		q.sizes = append(q.sizes, s.seconds(q.luck, i))
	}
	for i := range q.workers {
		q.fetchesOn(i, 0)
	}
	if s.Killed.Till > 0 {
		q.at(s.Killed.From, func() { q.kill(Workers - 1) })
	}
	if err := p.start(q); err != nil {
		return Outcome{}, err
	}
	for q.left > 0 && q.now < Longest && !p.over(q) {
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

// publish makes the result of a job that of its task, unless it has one.
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

// insert adds a job to the table; one whose ID is there changes nothing.
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

// cancel tells an attempt to end; a job that waits has ended at once.
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
	if worker != Workers-1 {
		return false, 0
	}
	for _, s := range [...]Span{q.Stopped, q.Killed} {
		if s.holds(q.now) {
			return true, s.Till
		}
	}
	return false, 0
}

// fetchesOn has a worker look for jobs for the k-th time, and then again and again.
func (q *queue) fetchesOn(worker, k int) {
	q.at(q.fetches(worker, k), func() {
		q.fetch(worker)
		q.fetchesOn(worker, k+1)
	})
}

// fetch has a worker take jobs for its free slots, the oldest first.
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
	a.hangs, a.fails = q.fate(q.Scenario, j.task, q.begins[j.task])
	q.begins[j.task]++
	q.out.Begins++
	w.running = append(w.running, a)
	q.slice(a)
}

// slice lets an attempt work for a slice, or for less if its work is done or fails by then.
func (q *queue) slice(a *attempt) {
	takes, pace := Slice, 1.
	if q.Slow > 0 && a.worker == Workers-1 {
		pace = q.Slow
	}
	until := 0. // what is left of the work when the attempt ends
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
		case a.life != q.workers[a.worker].life: // it died with its worker
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

// sliced is what happens at the end of a slice.
func (q *queue) sliced(a *attempt, until float64) {
	const done = 1e-9 // seconds of work: less is rounding
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

// kill ends a worker. The table goes on saying that what ran there runs.
func (q *queue) kill(worker int) {
	w := &q.workers[worker]
	for _, a := range w.running {
		q.out.Used += q.now - a.begun
	}
	w.running, w.life = nil, w.life+1
}

// idle reports whether nothing will ever happen again in the queue: no job waits, and none runs that can end.
func (q *queue) idle() bool {
	for _, j := range q.jobs {
		if j.state == waits || j.state == runs && j.life == q.workers[j.worker].life {
			return false
		}
	}
	return true
}

// event is something that happens at an instant.
type event struct {
	at      time.Duration
	number  int // in which order events of an instant happen
	happens func()
}

// events is a heap.
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

// at has something happen at an instant.
func (q *queue) at(when time.Duration, happens func()) {
	q.count++
	heap.Push(&q.due, event{at: when, number: q.count, happens: happens})
}

// each has something happen at an instant, and again after each period.
func (q *queue) each(first, period time.Duration, happens func()) {
	q.at(first, func() {
		happens()
		q.each(q.now+period, period, happens)
	})
}

func name(worker int) string { return fmt.Sprintf("w%d", worker+1) }
