package laxity

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Queue holds jobs that wait, in the order of a [Policy]. While a job waits, its laxity falls as fast as that of every
// other, so their order does not change and nothing is recomputed as time passes: the queue keeps the instant up to
// which each job can wait. It changes on the three events of the paper [DynamicShare §3.2]: a job comes in
// ([Queue.Push]), a task ends and its job's need is known better ([Queue.Update], [Queue.Remove]), a job can no longer
// end in time; the last is seen to whenever the queue is given the time, and [Queue.NextLate] says when to look.
//
// A job is named by the ticket that Push returns. A ticket is free again once its job has left the queue, so tickets
// stay below the largest number of jobs that waited at once, and a host may use them as indices of a slice of its own.
//
// Push, Update, Remove, Peek and Pop take O(log n), Peek and Pop amortised: each job turns late at most once after
// each Push or Update. They allocate only when the queue grows beyond the largest size it has had. A clock that steps
// back costs nothing: no time has passed, and it goes on from there. The zero value is an empty queue in the paper's
// order. Not safe for concurrent use; one per worker, or per scheduler.
type Queue struct {
	policy Policy
	clock  clock.Clock
	now    time.Duration // by the clock
	seq    uint64
	jobs   []queued // by ticket
	free   []int32
	// Late holds the jobs of negative laxity under NegativeLast and is empty under other rules; ahead holds the rest.
	ahead, late heap
}

// queued is a job by its ticket.
type queued struct {
	start    time.Duration // the latest instant, by the clock, at which the job can start and still end in time
	deadline time.Duration // by the clock
	seq      uint64
	position int32 // in its heap
	late     bool
	present  bool
	known    bool // its need is
}

// Choice is a job that was looked for in a queue. It is a plain value that can be compared with ==.
type Choice struct {
	// Ticket names the job; -1 if there is none.
	Ticket int
	Reason Reason
	// Laxity and TimeLeft are the job's, now. Laxity is [estimate.Unknown] if its need is.
	Laxity, TimeLeft time.Duration
}

// NewQueue returns an empty queue, or an error that names the field of p that is out of range.
func NewQueue(p Policy) (*Queue, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Queue{policy: p}, nil
}

// Policy returns the queue's policy.
func (q *Queue) Policy() Policy { return q.policy }

// Len returns the number of jobs that wait.
func (q *Queue) Len() int { return len(q.ahead.entries) + len(q.late.entries) }

// Push adds a job as it is now, and returns its ticket. Job.Running is ignored: what is in the queue waits.
func (q *Queue) Push(now time.Time, j Job) int {
	q.tick(now)
	var ticket int32
	if n := len(q.free); n > 0 {
		ticket, q.free = q.free[n-1], q.free[:n-1]
	} else {
		ticket = int32(len(q.jobs))
		q.jobs = append(q.jobs, queued{})
		q.reserve(cap(q.jobs))
	}
	q.seq++
	q.jobs[ticket] = queued{seq: q.seq, present: true}
	q.place(ticket, j)
	return int(ticket)
}

// reserve makes room for n jobs wherever they may come to be: ahead, late, or gone.
func (q *Queue) reserve(n int) {
	q.free = slices.Grow(q.free, n-len(q.free))
	for _, h := range []*heap{&q.ahead, &q.late} {
		h.entries = slices.Grow(h.entries, n-len(h.entries))
	}
}

// Update replaces what is known about a job by what is known now. The job keeps its ticket and, among equals, its rank.
// It reports false if there is no such ticket.
func (q *Queue) Update(now time.Time, ticket int, j Job) bool {
	q.tick(now)
	if !q.has(ticket) {
		return false
	}
	q.unplace(int32(ticket))
	q.place(int32(ticket), j)
	return true
}

// Remove takes a job out, and reports false if there is no such ticket.
func (q *Queue) Remove(ticket int) bool {
	if !q.has(ticket) {
		return false
	}
	q.unplace(int32(ticket))
	q.jobs[ticket].present = false
	q.free = append(q.free, int32(ticket))
	return true
}

// Peek returns the job that should run next and leaves it in the queue. It reports false if there is none.
func (q *Queue) Peek(now time.Time) (Choice, bool) {
	q.tick(now)
	h := &q.ahead
	if len(h.entries) == 0 {
		h = &q.late
	}
	if len(h.entries) == 0 {
		return Choice{Ticket: -1, Reason: NoJob}, false
	}
	c := q.describe(h.entries[0].ticket)
	switch {
	case q.policy.Rule == DeadlineFirst:
		c.Reason = EarliestDeadline
	case h == &q.late:
		c.Reason = OnlyLate
	default:
		c.Reason = LeastLaxity
	}
	return c, true
}

// Pop is Peek, and takes the job out.
func (q *Queue) Pop(now time.Time) (Choice, bool) {
	c, ok := q.Peek(now)
	if ok {
		q.Remove(c.Ticket)
	}
	return c, ok
}

// Preempt returns the job that should take the place of running, which holds a slot and is not in the queue. It reports
// false, with the reason RunningFirst or NoJob, if running should go on: at equal order, or within the policy's margin.
func (q *Queue) Preempt(now time.Time, running Job) (Choice, bool) {
	c, ok := q.Peek(now)
	if !ok {
		return c, false
	}
	first := &q.jobs[c.Ticket]
	waits := q.policy.place(since(first.start, q.now), since(first.deadline, q.now), false)
	runs := q.policy.place(running.most(), running.TimeLeft, true)
	if waits.compare(runs) < 0 {
		return c, true
	}
	return Choice{Ticket: -1, Reason: RunningFirst}, false
}

// Get returns the laxity and the time left of a job that waits. It reports false if there is no such ticket. O(1).
func (q *Queue) Get(now time.Time, ticket int) (Choice, bool) {
	q.tick(now)
	if !q.has(ticket) {
		return Choice{Ticket: -1, Reason: NoJob}, false
	}
	return q.describe(int32(ticket)), true
}

// NextLate returns the first instant after which a job that could still end in time no longer can, unless it starts. It
// reports false under rules that make no difference between the two, and if there is no such job. O(1).
func (q *Queue) NextLate() (time.Time, bool) {
	if q.policy.Rule != NegativeLast || len(q.ahead.entries) == 0 {
		return time.Time{}, false
	}
	start := q.jobs[q.ahead.entries[0].ticket].start
	if start == NoDeadline {
		return time.Time{}, false
	}
	return q.clock.Last.Add(num.Sub(start, q.now)), true
}

func (q *Queue) has(ticket int) bool {
	return ticket >= 0 && ticket < len(q.jobs) && q.jobs[ticket].present
}

// tick moves the clock on, and the jobs that have turned late to their heap.
func (q *Queue) tick(now time.Time) {
	q.now = q.clock.At(now)
	if q.policy.Rule != NegativeLast {
		return
	}
	for len(q.ahead.entries) > 0 && q.ahead.entries[0].first < int64(q.now) {
		e := q.ahead.entries[0]
		q.ahead.remove(0, q.jobs)
		q.jobs[e.ticket].late = true
		q.late.push(e, q.jobs)
	}
}

// place puts a job, as it is now, into the heap where it belongs.
func (q *Queue) place(ticket int32, j Job) {
	item := &q.jobs[ticket]
	item.start, item.deadline = until(j.most(), q.now), until(j.TimeLeft, q.now)
	item.known = j.Laxity() != estimate.Unknown
	item.late = q.policy.Rule == NegativeLast && item.start < q.now
	e := entry{first: int64(item.start), second: int64(item.deadline), seq: item.seq, ticket: ticket}
	if q.policy.Rule == DeadlineFirst {
		e.first, e.second = e.second, e.first
	}
	q.heapOf(item).push(e, q.jobs)
}

func (q *Queue) unplace(ticket int32) {
	item := &q.jobs[ticket]
	q.heapOf(item).remove(int(item.position), q.jobs)
}

func (q *Queue) heapOf(item *queued) *heap {
	if item.late {
		return &q.late
	}
	return &q.ahead
}

func (q *Queue) describe(ticket int32) Choice {
	item := &q.jobs[ticket]
	c := Choice{Ticket: int(ticket), Laxity: estimate.Unknown, TimeLeft: since(item.deadline, q.now)}
	if item.known {
		c.Laxity = since(item.start, q.now)
	}
	return c
}
