package shardqueue

import (
	"fmt"
	"time"
)

// Op is the wish of a machine.
type Op string

// The requests of a machine.
const (
	Join  Op = "join"  // the machine begins
	Draw  Op = "draw"  // a lane of the machine wants a batch
	End   Op = "end"   // a batch of the machine has ended
	Leave Op = "leave" // the machine ends
	Beat  Op = "beat"  // the machine works, and has no news
)

// Request is the request of a machine. It may be repeated, with the same answer.
type Request struct {
	Op      Op     `json:"op"`
	Machine string `json:"machine"` // its name
	Session string `json:"session"` // another one for each process
	// Of Join: the number of batches that the machine runs at once, and the time of a test there divided by the time on
	// the average machine; the factor 0 means an unknown speed. Config opens a queue that is not open.
	Lanes  int     `json:"lanes,omitempty"`
	Factor float64 `json:"factor,omitempty"`
	Config *Config `json:"config,omitempty"`
	Lane   int     `json:"lane,omitempty"`  // of Draw: 0 to Lanes-1
	Batch  int     `json:"batch,omitempty"` // of End
	Calls  []Ran   `json:"calls,omitempty"` // of End: the results of the calls of the batch
}

// Answer is the answer to a request.
type Answer struct {
	// Refused says why the request cannot be granted. It is empty for all other answers.
	Refused string `json:"refused,omitempty"`
	// Closed means that the queue is not open: join with its Config.
	Closed bool `json:"closed,omitempty"`
	// Batch is the number of the batch, and Calls is what to run: of Draw, if Calls is not empty.
	Batch int    `json:"batch,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Done means that all pieces have been run, so the machine can end.
	Done bool `json:"done,omitempty"`
	// Lease is how long the machine may be silent, in milliseconds: of Join, if the machine has joined.
	Lease int64 `json:"lease,omitempty"`
	// Wait is the time after which to ask again, in milliseconds, if there is no other answer.
	Wait int64 `json:"wait,omitempty"`
}

// Hear notes that a machine works. It is no event: after a restart of the host, call HearAll.
func (q *Queue) Hear(now time.Time, name, session string) {
	if m := q.machine(name); m >= 0 && q.machines[m].session == session {
		q.machines[m].hear(now)
	}
}

// HearAll notes that all machines work. After a pause of the host, no machine is lost for the length of this pause.
func (q *Queue) HearAll(now time.Time) {
	for i := range q.machines {
		q.machines[i].hear(now)
	}
}

// Decide returns the answer to a request, or the event that must happen before. The event of a draw may be that another
// machine is lost. Decide changes nothing. A draw takes O(n log n) for n pieces that wait, and the memory of a plan.
func (q *Queue) Decide(now time.Time, r Request) (Answer, *Event) {
	event := &Event{At: now.UnixMilli(), Machine: r.Machine}
	m := q.machine(r.Machine)
	if r.Op == Join {
		return q.joins(now, m, r, event)
	}
	switch {
	case q.config == nil:
		return Answer{Closed: true}, nil
	case m < 0:
		return refuse("machine %.120q has not joined this queue", r.Machine)
	case r.Op == End:
		return q.ends(m, r, event)
	case q.machines[m].session != r.Session:
		return refuse("another machine has joined as %s since: give each machine a name of its own", r.Machine)
	case r.Op == Draw:
		return q.draws(now, m, r, event)
	case r.Op == Leave && q.machines[m].present:
		event.Kind = Left
		return Answer{}, event
	case r.Op == Leave, r.Op == Beat:
		return Answer{}, nil
	}
	return refuse("op is %.40q, want join, draw, end, leave or beat", r.Op)
}

func refuse(format string, args ...any) (Answer, *Event) {
	return Answer{Refused: fmt.Sprintf(format, args...)}, nil
}

func (q *Queue) joins(now time.Time, m int, r Request, event *Event) (Answer, *Event) {
	switch {
	case q.config == nil && r.Config == nil:
		return Answer{Closed: true}, nil
	case q.config == nil:
		event.Kind, event.Config, event.Machine = Opened, r.Config, ""
		if err := r.Config.Validate(); err != nil {
			return refuse("%v", err)
		}
		return Answer{}, event
	case m >= 0 && q.machines[m].session == r.Session && q.machines[m].present:
		return Answer{Lease: q.config.Lease}, nil
	case m >= 0 && q.machines[m].session != r.Session && q.machines[m].present && q.silence(now, m) <= q.lease():
		return Answer{Wait: (q.lease() - q.silence(now, m)).Milliseconds() + 1}, nil
	}
	event.Kind, event.Session, event.Lanes, event.Factor = Joined, r.Session, r.Lanes, r.Factor
	if err := q.canJoin(m, *event); err != nil {
		return refuse("%v", err)
	}
	return Answer{}, event
}

func (q *Queue) lease() time.Duration { return time.Duration(q.config.Lease) * time.Millisecond }

// silence returns how long a machine has not been heard.
func (q *Queue) silence(now time.Time, m int) time.Duration { return now.Sub(q.machines[m].heard) }

// ends accepts results also from a machine that is lost, or that was retried since.
func (q *Queue) ends(m int, r Request, event *Event) (Answer, *Event) {
	if r.Batch >= 0 && r.Batch < len(q.batches) && q.batches[r.Batch].machine == m && q.batches[r.Batch].ended {
		return Answer{}, nil
	}
	if err := q.ended(m, r.Batch, r.Calls); err != nil {
		return refuse("%v", err)
	}
	event.Kind, event.Batch, event.Calls = Ended, r.Batch, r.Calls
	return Answer{}, event
}

func (q *Queue) draws(now time.Time, m int, r Request, event *Event) (Answer, *Event) {
	of := &q.machines[m]
	if r.Lane < 0 || r.Lane >= len(of.lanes) {
		return refuse("the lane is %d, want 0 to %d", r.Lane, len(of.lanes)-1)
	}
	if !of.present { // it was lost, and works all the same
		event.Kind, event.Session, event.Lanes = Joined, r.Session, len(of.lanes)
		return Answer{}, event
	}
	if at := of.lanes[r.Lane]; at != nobody {
		return Answer{Batch: at, Calls: q.batches[at].calls}, nil
	}
	if q.done == len(q.pieces) {
		return Answer{Done: true}, nil
	}
	for k := range q.machines {
		if k != m && q.machines[k].present && q.silence(now, k) > q.lease() {
			event.Kind, event.Machine = Lost, q.machines[k].name
			return Answer{}, event
		}
	}
	pieces, wait := q.choose(now, m)
	if pieces == nil {
		return Answer{Wait: wait.Milliseconds()}, nil
	}
	event.Kind, event.Lane, event.Batch, event.Pieces = Gave, r.Lane, len(q.batches), pieces
	return Answer{}, event
}
