package queuesim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	driver "github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/shadow"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// coordinator runs the driver of job queues, restart/engine/queue, as the coordinator of the queue.
type coordinator struct {
	policy restart.Policy // nil: the library's default
	watch  func(now time.Duration, name string, a engine.Action)
	shadow bool
	bill   shadow.Bill // of a run in shadow mode

	store store
	life  int // how often a process has started
	err   error
}

func at(d time.Duration) time.Time { return time.Unix(1, 0).Add(d) }

func (c *coordinator) start(q *queue) error {
	c.store = store{q: q, values: map[string][]byte{}}
	c.begin(q, &c.life)
	for _, when := range q.CoordinatorKilled {
		q.at(when, func() {
			c.life++
			q.at(q.now+RestartTakes, func() { c.begin(q, &c.life) })
		})
	}
	if q.SecondCoordinator > 0 {
		q.at(q.SecondCoordinator, func() { c.begin(q, new(int)) })
	}
	return c.err
}

// begin starts a process, which ends when the number life has changed.
func (c *coordinator) begin(q *queue, life *int) {
	kind := driver.Kind{Copies: true, Timeout: q.timeout()}
	process, err := driver.NewCoordinator(&c.store, driver.Options{
		Kinds: map[string]driver.Kind{"": kind}, Policy: c.policy, Interval: Interval, Silence: Silence, Takeover: RestartTakes,
		Prefetch: Waiting, Look: Look, Shadow: c.shadow, OnEnd: func(s driver.Summary) { c.bill = s.Bill },
		Log:       slog.New(slog.DiscardHandler),
		Configure: func(_ string, e *engine.Config) { e.Limits = published.Limits(c.policy) },
		OnAction: func(name string, _ driver.Job, a engine.Action) {
			if c.watch != nil {
				c.watch(q.now, name, a)
			}
		},
	})
	if err != nil {
		c.err = err
		return
	}
	started := *life
	var turn func()
	turn = func() {
		if *life != started {
			return
		}
		if err := process.Turn(context.Background(), at(q.now)); err != nil && !errors.Is(err, driver.ErrHeld) {
			c.err = err
		}
		q.at(q.now+Look, turn)
	}
	turn()
}

func (c *coordinator) ended(*queue, *job) {}

func (c *coordinator) over(*queue) bool { return c.err != nil }

// goesOn waits for the bill of a run in shadow mode.
func (c *coordinator) goesOn() bool { return c.shadow && c.bill.Tasks == 0 }

// store shows the table to the driver.
type store struct {
	q      *queue
	taken  bool
	epoch  int64
	owner  string
	until  time.Duration
	state  []byte
	values map[string][]byte
}

// idOf and taskOf convert between the index of a task and the ID of its job.
func idOf(task int) string { return string(rune('A' + task)) }

func taskOf(id string) int { return int([]rune(id)[0] - 'A') }

// Waiting returns the batch.
func (s *store) Waiting(context.Context, int) (jobs []driver.Job, _ error) {
	if s.taken {
		return nil, nil
	}
	for i, size := range s.q.sizes {
		j := driver.Job{ID: idOf(i), Kind: "task", Batch: "batch"}
		if s.q.Told {
			j.Work = size
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// List returns the jobs of the table, and marks those as lost whose worker has come back without them.
func (s *store) List(context.Context) (all []driver.Attempt, _ error) {
	states := [...]engine.State{engine.Queued, engine.Running, engine.Succeeded, engine.Failed, engine.Cancelled}
	for _, j := range s.q.jobs {
		if j.seen {
			continue
		}
		a := driver.Attempt{Name: j.id, State: states[j.state], Worker: name(j.queue)}
		if j.tries > 0 {
			a.Begun = at(j.begun)
		}
		if j.share > 0 {
			a.Share, a.AsOf = j.share, at(j.asOf)
		}
		if j.state > runs {
			a.Ended = at(j.ended)
		}
		if j.state == runs && j.gone(s.q) {
			a.State, a.Ended = engine.Lost, time.Time{}
		}
		a.Published = s.q.results[j.task] == j
		all = append(all, a)
	}
	return all, nil
}

// gone reports whether the worker of a job has come back without the job.
func (j *job) gone(q *queue) bool {
	still, _ := q.standsStill(j.worker)
	return !still && j.life != q.workers[j.worker].life
}

// Workers returns the workers, with the time for which a stopped or killed worker is silent.
func (s *store) Workers(context.Context) (all []driver.WorkerStatus, _ error) {
	for i := range s.q.workers {
		w := driver.WorkerStatus{Name: name(i), Slots: Slots}
		for _, span := range [...]Span{s.q.Stopped, s.q.Killed} {
			if i == len(s.q.workers)-1 && span.holds(s.q.now) {
				w.Silent = s.q.now - span.From
			}
		}
		all = append(all, w)
	}
	return all, nil
}

// Open makes a process the coordinator.
func (s *store) Open(_ context.Context, owner string, term time.Duration) (int64, []byte, error) {
	if s.owner != owner && s.q.now < s.until {
		return 0, nil, driver.ErrHeld
	}
	s.epoch++
	s.owner, s.until = owner, s.q.now+term
	return s.epoch, s.state, nil
}

// Commit carries out a commit on the table.
func (s *store) Commit(_ context.Context, c driver.Commit) error {
	if c.Epoch != s.epoch {
		return driver.ErrFenced
	}
	q := s.q
	s.until, s.taken = q.now+c.Term, s.taken || len(c.Take) > 0
	if c.State != nil {
		s.state = c.State
	}
	for _, a := range c.Submit {
		task, number := taskOf(a.Job.ID), 0
		for _, j := range q.jobs {
			if j.task == task {
				number++
			}
		}
		worker := 0
		for name(worker) != a.Worker {
			worker++
		}
		q.insert(a.Name, task, worker, q.now+q.dispatch(task, number))
	}
	for _, a := range c.Cancel {
		if j := q.find(a.Name); j != nil {
			q.cancel(j)
		}
	}
	for _, p := range c.Publish {
		q.publish(q.find(p.Name))
	}
	for _, j := range q.jobs {
		_, seen := slices.BinarySearch(c.Seen, j.id)
		j.seen = j.seen || seen
	}
	return nil
}

// Get and Put share knowledge with nobody.
func (s *store) Get(_ context.Context, key string) ([]byte, int64, error) {
	return s.values[key], 0, nil
}

// Put is a method of driver.Knowledge.
func (s *store) Put(_ context.Context, key string, value []byte, _ int64) error {
	s.values[key] = value
	return nil
}
