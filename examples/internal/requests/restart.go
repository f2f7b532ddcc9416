package requests

import (
	"slices"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/published"
	"github.com/straggler-go/straggler/examples/internal/recent"
)

// watch asks package restart about requests by their age. Requests come and go, so there is no phase. The times of
// recent requests replace it. A request that still runs, or whose copy was cancelled, counts with its age: its time is
// at least so long.
type watch struct {
	budget    *tracker.Budget // nil has no bound
	responses recent.Times    // times from when a copy was sent
	work      recent.Times    // times from when a server began with a copy
	firstLive int             // number of the first copy that is not over
	response  *survival.Curve // the distribution of responses at the latest fit
	fresh     estimate.Distribution
	extra     int // number of copies that were sent because of an age and are not over
}

// Times are kept for 50 means of the servers' time: a few thousand requests in a system of a hundred servers. In this
// period the distributions are computed twenty times: that costs more than a decision.
const (
	windowMeans = 50
	fitsAWindow = 20
)

func newWatch(s *sim) (*watch, error) {
	if s.c.Restart == nil {
		return nil, nil
	}
	keep := seconds(windowMeans * s.c.Mean)
	w := &watch{responses: recent.Times{Keep: keep}, work: recent.Times{Keep: keep}}
	if s.c.Budget != nil {
		var err error
		if w.budget, err = tracker.NewBudget(*s.c.Budget); err != nil {
			return nil, err
		}
	}
	s.queue.Push(keep/fitsAWindow, fits, 0, 0)
	return w, nil
}

// fit computes the distributions from the recent times and from the ages of the copies that are not over. A copy that
// may wait in a queue takes the time of a response, and a copy that goes to an idle server takes the time of the work.
func (w *watch) fit(s *sim) {
	for w.firstLive < len(s.attempts) && s.attempts[w.firstLive].over {
		w.firstLive++
	}
	var response, work []float64
	for i := w.firstLive; i < len(s.attempts); i++ {
		c := &s.attempts[i]
		if c.over {
			continue
		}
		response = append(response, (s.now - c.sent).Seconds())
		if c.begun >= 0 {
			work = append(work, (s.now - c.begun).Seconds())
		}
	}
	w.response = w.responses.Curve(s.now, response)
	if w.fresh = w.response; !s.c.Queued {
		w.fresh = w.work.Curve(s.now, work)
	}
	s.queue.Push(s.now+seconds(windowMeans*s.c.Mean)/fitsAWindow, fits, 0, 0)
}

func (w *watch) sent(s *sim, r int32) {
	if w != nil {
		w.budget.TaskStarted()
		s.queue.Push(s.now+s.c.Interval, looks, r, 0)
	}
}

func (w *watch) copySent(s *sim, q *request) {
	if w != nil && len(q.copies) > q.clones {
		w.extra++
		w.budget.CopyLaunched()
	}
}

func (w *watch) copyOver(s *sim, at int32, answered bool) {
	if w == nil {
		return
	}
	c := &s.attempts[at]
	w.responses.Observe(s.now, (s.now - c.sent).Seconds(), answered)
	if c.begun >= 0 {
		w.work.Observe(s.now, (s.now - c.begun).Seconds(), answered)
	}
	if q := &s.asked[c.request]; !slices.Contains(q.copies[:q.clones], at) {
		w.extra--
		w.budget.CopyEnded()
	}
}

// look asks the policy about a request without an answer, and sends a copy if the policy wants one.
func (w *watch) look(s *sim, r int32) {
	q := &s.asked[r]
	if q.done {
		return
	}
	s.queue.Push(s.now+s.c.Interval, looks, r, 0)
	if w.response == nil {
		return
	}
	to, free := s.freeReplica(q)
	task := w.task(s, q)
	phase := w.phase(s, free)
	d := restart.Hold(s.c.Restart.Decide(task, phase), task, phase)
	if d.Action == restart.Copy && !w.budget.Allows() {
		d.Action, d.Reason = restart.Keep, restart.BudgetSpent
	}
	s.tell(q.fanout, "request %d: %v", int(r)-int(q.fanout)*s.c.Fan, d)
	if d.Action == restart.Copy && to != none && !d.Avoid.Has(int(to)) {
		s.send(r, to)
	}
}

// task returns the facts about a request: the ages of its copies, and their remaining times by these ages.
func (w *watch) task(s *sim, q *request) restart.Task {
	t := restart.Task{
		Fresh: estimate.Fresh{UnitTime: w.fresh, Work: 1}, Clones: q.clones, Copies: len(q.copies) - q.clones,
		NoRestart: true,
	}
	if t.Copies > 0 {
		t.SinceCopy = s.now - q.newest
	}
	for _, at := range q.copies {
		c := &s.attempts[at]
		t.PastMachines = slices.Insert(t.PastMachines, 0, int(c.server)) // the latest is first
		if c.over {
			continue
		}
		age := (s.now - c.sent).Seconds()
		left := survival.Residual{Curve: w.response, Age: age}
		t.Attempts = append(t.Attempts, restart.Attempt{
			Machine: int(c.server), Elapsed: s.now - c.sent, Remaining: seconds(min(left.Mean(), 1e9)), Left: left, Basis: restart.ByAge,
		})
	}
	return t
}

// phase returns the facts about recent requests in the place of a phase.
func (w *watch) phase(s *sim, free int) restart.Phase {
	return restart.Phase{
		Interval: s.c.Interval, Tasks: w.response.Len(), Finished: w.response.Ends(), Slots: s.c.Servers, FreeSlots: free,
		Copies: w.extra, Silent: true, Machines: s.c.Servers, Peers: restart.Peers{Durations: w.response},
		Limits: published.Limits(s.c.Restart),
	}
}

// freeReplica returns a server for one more copy of a request, and the number of such servers. These servers have the
// data of the request and no copy of it. If copies do not queue, these servers are also idle.
func (s *sim) freeReplica(q *request) (to int32, free int) {
	to = none
	for _, server := range q.replicas {
		tried := false
		for _, at := range q.copies {
			tried = tried || s.attempts[at].server == server
		}
		if tried || !s.c.Queued && s.list[server].running != none {
			continue
		}
		if free++; to == none {
			to = server
		}
	}
	return to, free
}
