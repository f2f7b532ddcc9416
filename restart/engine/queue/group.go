package queue

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// group is a batch, or jobs of one kind of a stream that a coordinator has taken together.
type group struct {
	// Such as "3.17.K3F9X2", the 17th group, begun in epoch 3. Chance makes it unique if a store loses writes.
	name        string
	kind, batch string
	jobs        []Job
	config      engine.Config
	phase       *engine.Phase
	reports     []engine.Attempt // of the present turn
	errors      map[int]string   // by index of the job: the error of its last failed attempt
	rests       map[int]rest     // by index of the job: it was given up, and waits in the store for its next try
	givenUp     map[int]bool     // by index of the job: the phase has given it up
	polled      bool             // the phase has said which jobs it has given up
	settled     map[int]bool     // by index of the job: the store knows that it has failed for good, or that it rests
	taken       bool             // the store knows that the jobs are taken
	doneSince   time.Time        // when all jobs had ended; zero if some have not
	reported    bool             // an attempt has reported its progress
}

// rest is the state of a job that waits in the store for its next try.
type rest struct {
	Failures int
	Until    time.Time
}

// Summary sums up a batch that has ended, or a group of jobs of a stream.
type Summary struct {
	Kind, Batch string
	Ledger      tracker.Ledger
	// Bill says how much time the policy would have saved, if Options.Shadow is set. See package shadow.
	Bill shadow.Bill
	// Journal is the journal, if Options.Journal is set. Packages restart/journal and restart/restarttest read it.
	Journal []byte
}

func newGroup(kind, batch string) *group {
	return &group{kind: kind, batch: batch, errors: map[int]string{}, rests: map[int]rest{}, givenUp: map[int]bool{}, settled: map[int]bool{}}
}

// add adds a report about an attempt with an ID such as "17.2". If the report is not about a job of the group, it
// returns false.
func (g *group) add(a Attempt, id string, lost bool) bool {
	task, _, ok := strings.Cut(id, ".")
	n, err := strconv.Atoi(task)
	if !ok || err != nil || n < 0 || n >= len(g.jobs) {
		return false
	}
	r := engine.Attempt{
		ID: id, Task: n, State: a.State, Machine: a.Worker, Begun: a.Begun, Ended: a.Ended, Published: a.Published,
	}
	if !a.AsOf.IsZero() && a.State == engine.Running {
		g.reported = true
		r.Progress, r.AsOf = tracker.Report{Score: a.Share}, a.AsOf
	}
	if lost || a.State == engine.Lost {
		// All attempts on a worker end with it. So they say less about the worker than as many losses would, one by one.
		r.State = engine.Cancelled
		g.errors[n] = "queue: the attempt was lost with its worker " + a.Worker
	}
	if a.State == engine.Failed {
		g.errors[n] = a.Error
	}
	g.reports = append(g.reports, r)
	return true
}

// unsettled returns the jobs that were given up, and that the store does not yet know of: they have failed for good, or
// rest.
func (g *group) unsettled() []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g.givenUp)), func(task int) bool { return g.settled[task] })
}

// endWithin is how long a group waits for the end of cancelled attempts after the last result.
const endWithin = 10 * time.Second

// isOver reports whether the group has ended: every job has ended, the store knows it, and no attempt still occupies a
// slot.
func (g *group) isOver(now time.Time) bool {
	if !g.phase.Done() || len(g.unsettled()) > 0 {
		g.doneSince = time.Time{}
		return false
	}
	if g.doneSince.IsZero() {
		g.doneSince = now
	}
	cancels := slices.ContainsFunc(g.phase.Outstanding(), func(a engine.Action) bool { return a.Op == engine.Cancel })
	return !cancels || now.Sub(g.doneSince) >= endWithin
}
