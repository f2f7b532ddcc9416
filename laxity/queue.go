package laxity

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// Queue contains waiting jobs in the order of a [Policy]. The laxity of a job is the time that it may still wait and
// meet its deadline. While jobs wait, their laxities become smaller at the same rate. So their order does not change,
// and the Queue need not compute anything. It stores for each job the latest instant at which the job must start.
//
// The order changes at the three events of the paper [DynamicShare §3.2]:
//
//   - A job arrives: call [Queue.Push].
//   - A task ends, and the projected time of its job changes: call [Queue.Update] or [Queue.Remove].
//   - A job can no longer meet its deadline. Push, Update, Peek, Pop, Preempt and Get handle this event.
//     [Queue.NextLate] returns the instant of the next such event.
//
// Push returns a ticket, which is a number that identifies the job. After the job has left the queue, another job
// may get the same ticket. So all tickets are smaller than the largest number of jobs that waited at the same
// time. You may use them as indices of a slice.
//
// Push, Update, Remove, Peek and Pop take O(log n) for n jobs. For Peek and Pop this is an average, because each
// job becomes late at most once after each Push or Update. The methods allocate only if the queue becomes larger
// than ever before. If the host's clock steps back, no time has passed, and the next time is measured from the new
// instant. The zero value is an empty queue with the order of the paper. A Queue is not safe for concurrent use.
// Use one Queue for each worker or scheduler.
type Queue struct {
	policy Policy
	clock  clock.Clock
	now    time.Duration // the present time of the clock
	seq    uint64        // number of jobs pushed so far
	jobs   []queued      // by ticket
	free   []int32       // tickets that no job has
	// With the rule NegativeLast, late contains the jobs with negative laxity, and onTime contains all other jobs.
	// With the other rules, onTime contains all jobs.
	onTime, late heap
}

// queued is the job with a given ticket.
type queued struct {
	start    time.Duration // latest instant at which the job can start and meet its deadline
	deadline time.Duration // the instant of the deadline
	seq      uint64
	position int32 // position in the heap that contains the job
	late     bool  // true if the job is in the heap Queue.late
	present  bool  // true if a job has the ticket
	known    bool  // true if the projected time of the job is known
}

// Choice is the answer of a [Queue]: a job, or the reason why there is no job. Choices can be compared with ==.
type Choice struct {
	// Ticket identifies the job. It is -1 if there is no job.
	Ticket int
	// Reason says why this job comes next, or why there is no job.
	Reason Reason
	// Laxity is the time that the job may still wait and meet its deadline, or [estimate.Unknown]. UntilDeadline is
	// the time until its deadline.
	Laxity, UntilDeadline time.Duration
}

// NewQueue returns an empty queue. It returns an error for the first field of p that is out of range.
func NewQueue(p Policy) (*Queue, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &Queue{policy: p}, nil
}

// Policy returns the policy by which the queue sorts jobs.
func (q *Queue) Policy() Policy { return q.policy }

// Len returns the number of waiting jobs. Cost: O(1).
func (q *Queue) Len() int { return len(q.onTime.entries) + len(q.late.entries) }

// Push adds a job in its present state and returns its ticket. Push ignores Job.Running, because all jobs in a
// queue wait.
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

// reserve makes each heap, and the list of free tickets, large enough for n jobs.
func (q *Queue) reserve(n int) {
	q.free = slices.Grow(q.free, n-len(q.free))
	for _, h := range []*heap{&q.onTime, &q.late} {
		h.entries = slices.Grow(h.entries, n-len(h.entries))
	}
}

// Update replaces the stored state of a job by its present state. The ticket of the job stays the same. If jobs
// are equal, the job that was pushed first still comes first. The result is false if no job has the ticket.
func (q *Queue) Update(now time.Time, ticket int, j Job) bool {
	q.tick(now)
	if !q.has(ticket) {
		return false
	}
	q.takeOut(int32(ticket))
	q.insert(int32(ticket), j)
	return true
}

// Remove removes a job from the queue. The result is false if no job has the ticket.
func (q *Queue) Remove(ticket int) bool {
	if !q.has(ticket) {
		return false
	}
	q.takeOut(int32(ticket))
	q.jobs[ticket].present = false
	q.free = append(q.free, int32(ticket))
	return true
}

// Peek returns the job that should run next, and leaves it in the queue. The second result is false if the queue
// is empty.
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

// Preempt returns the waiting job that should replace the running job. The running job uses a slot and is not in the
// queue. If the running job should continue, the result is false, and the reason is RunningFirst or NoJob. The
// running job also continues if it is equal to the first waiting job, or if it comes after this job by at most
// [Policy.Margin].
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

// Get returns the laxity of a waiting job and the time until its deadline. The result is false if no job has the
// ticket. Cost: O(1).
func (q *Queue) Get(now time.Time, ticket int) (Choice, bool) {
	q.tick(now)
	if !q.has(ticket) {
		return Choice{Ticket: -1, Reason: NoJob}, false
	}
	return q.describe(int32(ticket)), true
}

// NextLate returns the next instant after which a waiting job can no longer meet its deadline if it has not
// started. The result is false if no job can become late, and with all rules except NegativeLast. Cost: O(1).
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

// has reports whether a job in the queue has the ticket.
func (q *Queue) has(ticket int) bool {
	return ticket >= 0 && ticket < len(q.jobs) && q.jobs[ticket].present
}

// tick advances the clock to now. It moves the jobs that can no longer meet their deadlines from the heap onTime
// to the heap late.
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

// insert adds a job with a given ticket, in its present state, to the heap onTime or to the heap late.
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

// takeOut removes the job with a given ticket from its heap.
func (q *Queue) takeOut(ticket int32) {
	item := &q.jobs[ticket]
	q.heapOf(item).remove(int(item.position), q.jobs)
}

// heapOf returns the heap that contains the job.
func (q *Queue) heapOf(item *queued) *heap {
	if item.late {
		return &q.late
	}
	return &q.onTime
}

// describe returns the job with a given ticket as a Choice without a reason.
func (q *Queue) describe(ticket int32) Choice {
	item := &q.jobs[ticket]
	c := Choice{Ticket: int(ticket), Laxity: estimate.Unknown, UntilDeadline: fromInstant(item.deadline, q.now)}
	if item.known {
		c.Laxity = fromInstant(item.start, q.now)
	}
	return c
}
