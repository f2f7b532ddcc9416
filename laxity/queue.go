package laxity

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Queue holds waiting jobs in the order of a [Policy]. While jobs wait, all their laxities fall equally fast. So their order
// does not change, and time alone causes no computation. The Queue stores the latest instant at which each job must start.
//
// The order changes at the three events of the paper [DynamicShare §3.2]:
//
//   - A job arrives: call [Queue.Push].
//   - A task ends, and the projected time of its job changes: call [Queue.Update] or [Queue.Remove].
//   - A job can no longer meet its deadline. Every method with a time handles this event. [Queue.NextLate] says when the
//     next such event comes.
//
// Push returns a ticket that names the job. A ticket becomes free once its job leaves the queue. So tickets stay below the
// largest number of jobs that waited at once, and a host may use them as indices of its own slice.
//
// Push, Update, Remove, Peek and Pop take O(log n). For Peek and Pop this cost is amortised: each job becomes late at most
// once after each Push or Update. The methods allocate only if the queue grows beyond its largest size so far. If the
// host's clock steps back, no time passes at the step, and the next time is measured from there. The zero value is an
// empty queue in the paper's order. Not safe for concurrent use; each worker or scheduler needs its own Queue.
type Queue struct {
	policy Policy
	clock  clock.Clock
	now    time.Duration // time of the clock
	seq    uint64        // number of jobs pushed so far
	jobs   []queued      // by ticket
	free   []int32       // free tickets
	// Under NegativeLast, late holds the jobs with negative laxity and onTime holds all others. Under other rules, onTime
	// holds all jobs.
	onTime, late heap
}

// queued is the job of a ticket.
type queued struct {
	start    time.Duration // latest instant of the clock at which the job can start and meet its deadline
	deadline time.Duration // instant of the clock
	seq      uint64
	position int32 // position in its heap
	late     bool  // the job is in the heap late
	present  bool  // the ticket is in use
	known    bool  // the projected time is known
}

// Choice is the answer of a queue: a job, or the reason why there is none. A Choice is a plain value that can be
// compared with ==.
type Choice struct {
	// Ticket names the job; -1 if there is no job.
	Ticket int
	// Reason says why this job comes next, or why there is no job.
	Reason Reason
	// Laxity is the job's current laxity, or [estimate.Unknown]. UntilDeadline is the time until its deadline.
	Laxity, UntilDeadline time.Duration
}

// NewQueue returns an empty queue. The error names the field of p that is out of range.
func NewQueue(p Policy) (*Queue, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Queue{policy: p}, nil
}

// Policy returns the queue's policy.
func (q *Queue) Policy() Policy { return q.policy }

// Len returns the number of waiting jobs. O(1).
func (q *Queue) Len() int { return len(q.onTime.entries) + len(q.late.entries) }

// Push adds a job in its current state and returns its ticket. Push ignores Job.Running, because all jobs in a queue
// wait.
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
	q.insert(ticket, j)
	return int(ticket)
}

// reserve makes room for n jobs in each heap and in the list of free tickets.
func (q *Queue) reserve(n int) {
	q.free = slices.Grow(q.free, n-len(q.free))
	for _, h := range []*heap{&q.onTime, &q.late} {
		h.entries = slices.Grow(h.entries, n-len(h.entries))
	}
}

// Update replaces the state of a job by its current state. The job keeps its ticket and, in a tie, its order of arrival. The
// result is false if the ticket does not exist.
func (q *Queue) Update(now time.Time, ticket int, j Job) bool {
	q.tick(now)
	if !q.has(ticket) {
		return false
	}
	q.takeOut(int32(ticket))
	q.insert(int32(ticket), j)
	return true
}

// Remove removes a job. The result is false if the ticket does not exist.
func (q *Queue) Remove(ticket int) bool {
	if !q.has(ticket) {
		return false
	}
	q.takeOut(int32(ticket))
	q.jobs[ticket].present = false
	q.free = append(q.free, int32(ticket))
	return true
}

// Peek returns the job that should run next, and leaves it in the queue. ok is false if the queue is empty.
func (q *Queue) Peek(now time.Time) (Choice, bool) {
	q.tick(now)
	h := &q.onTime
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

// Pop returns the job that should run next, as Peek does, and removes it from the queue.
func (q *Queue) Pop(now time.Time) (Choice, bool) {
	c, ok := q.Peek(now)
	if ok {
		q.Remove(c.Ticket)
	}
	return c, ok
}

// Preempt returns the waiting job that should replace the running job. The running job has a slot and is not in the queue.
// The result is false, with the reason RunningFirst or NoJob, if the running job should continue. The running job also
// continues in a tie, and within the policy's Margin.
func (q *Queue) Preempt(now time.Time, running Job) (Choice, bool) {
	c, ok := q.Peek(now)
	if !ok {
		return c, false
	}
	first := &q.jobs[c.Ticket]
	waits := q.policy.keyOf(fromInstant(first.start, q.now), fromInstant(first.deadline, q.now), false)
	runs := q.policy.keyOf(running.most(), running.UntilDeadline, true)
	if waits.compare(runs) < 0 {
		return c, true
	}
	return Choice{Ticket: -1, Reason: RunningFirst}, false
}

// Get returns the laxity of a waiting job and the time until its deadline. The result is false if the ticket does not exist.
// O(1).
func (q *Queue) Get(now time.Time, ticket int) (Choice, bool) {
	q.tick(now)
	if !q.has(ticket) {
		return Choice{Ticket: -1, Reason: NoJob}, false
	}
	return q.describe(int32(ticket)), true
}

// NextLate returns the next instant after which a job can no longer meet its deadline, unless it starts before. The result
// is false if no job can become late, and under all rules except NegativeLast. O(1).
func (q *Queue) NextLate() (time.Time, bool) {
	if q.policy.Rule != NegativeLast || len(q.onTime.entries) == 0 {
		return time.Time{}, false
	}
	start := q.jobs[q.onTime.entries[0].ticket].start
	if start == NoDeadline {
		return time.Time{}, false
	}
	return q.clock.Last.Add(num.Sub(start, q.now)), true
}

// has reports whether the ticket names a job in the queue.
func (q *Queue) has(ticket int) bool {
	return ticket >= 0 && ticket < len(q.jobs) && q.jobs[ticket].present
}

// tick advances the clock, and moves the jobs that have become late to the other heap.
func (q *Queue) tick(now time.Time) {
	q.now = q.clock.At(now)
	if q.policy.Rule != NegativeLast {
		return
	}
	for len(q.onTime.entries) > 0 && q.onTime.entries[0].first < int64(q.now) {
		e := q.onTime.entries[0]
		q.onTime.remove(0, q.jobs)
		q.jobs[e.ticket].late = true
		q.late.push(e, q.jobs)
	}
}

// insert inserts a job in its current state into its heap.
func (q *Queue) insert(ticket int32, j Job) {
	item := &q.jobs[ticket]
	item.start, item.deadline = toInstant(j.most(), q.now), toInstant(j.UntilDeadline, q.now)
	item.known = j.Laxity() != estimate.Unknown
	item.late = q.policy.Rule == NegativeLast && item.start < q.now
	e := entry{first: int64(item.start), second: int64(item.deadline), seq: item.seq, ticket: ticket}
	if q.policy.Rule == DeadlineFirst {
		e.first, e.second = e.second, e.first
	}
	q.heapOf(item).push(e, q.jobs)
}

// takeOut removes a job from its heap.
func (q *Queue) takeOut(ticket int32) {
	item := &q.jobs[ticket]
	q.heapOf(item).remove(int(item.position), q.jobs)
}

// heapOf returns the heap of a job.
func (q *Queue) heapOf(item *queued) *heap {
	if item.late {
		return &q.late
	}
	return &q.onTime
}

// describe returns the job of a ticket as a Choice without a reason.
func (q *Queue) describe(ticket int32) Choice {
	item := &q.jobs[ticket]
	c := Choice{Ticket: int(ticket), Laxity: estimate.Unknown, UntilDeadline: fromInstant(item.deadline, q.now)}
	if item.known {
		c.Laxity = fromInstant(item.start, q.now)
	}
	return c
}
