package queue

import (
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"

	"github.com/straggler-go/straggler/examples/internal/published"
)

// coordinator runs restart/engine as the coordinator of the queue.
type coordinator struct {
	policy restart.Policy // nil: the library's default
	watch  func(now time.Duration, a engine.Action)

	saved saved
	own   *process // the process that polls now; nil: none
	err   error
}

// saved is the state in the database.
type saved struct {
	epoch        int
	phase, hosts []byte
}

// process is one run of the coordinator's program.
type process struct {
	epoch int
	phase *engine.Phase
	hosts *engine.Machines
}

func at(d time.Duration) time.Time { return time.Unix(1, 0).Add(d) }

func (c *coordinator) start(q *queue) error {
	c.begin(q)
	for _, when := range q.CoordinatorKilled {
		q.at(when, func() {
			c.own = nil
			q.at(q.now+RestartTakes, func() { c.begin(q) })
		})
	}
	if q.SecondCoordinator > 0 {
		q.at(q.SecondCoordinator, func() { c.begin(q) })
	}
	return c.err
}

// begin starts a process. It takes the next epoch, and goes on from the saved state.
func (c *coordinator) begin(q *queue) {
	p := &process{epoch: c.saved.epoch + 1}
	if c.err = p.load(c, q); c.err != nil {
		return
	}
	c.saved.epoch, c.own = p.epoch, p
	var polls func()
	polls = func() {
		switch {
		case p.epoch != c.saved.epoch: // another process has taken the next epoch: start again
			q.at(q.now+RestartTakes, func() { c.begin(q) })
		case p == c.own:
			c.poll(q)
			q.at(q.now+Interval, polls)
		}
	}
	polls()
}

// load creates the phase, or restores it from the saved state.
func (p *process) load(c *coordinator, q *queue) (err error) {
	var hosts []engine.Machine
	for i := range Workers {
		hosts = append(hosts, engine.Machine{Name: name(i), Slots: Slots})
	}
	if p.hosts, err = engine.NewMachines(engine.MachinesConfig{Machines: hosts, Prefetch: Waiting}); err != nil {
		return err
	}
	config := engine.Config{
		Tasks: q.tasks(), Interval: Interval, Machines: p.hosts, Policy: c.policy,
		Limits: published.Limits(c.policy), MaxFailures: Tries,
	}
	if q.Told {
		config.Work = q.sizes
	}
	if c.saved.phase == nil {
		p.phase, err = engine.New(config)
		return err
	}
	if err = p.hosts.UnmarshalBinary(c.saved.hosts); err != nil {
		return err
	}
	p.phase, err = engine.Restore(config, engine.Saved{Snapshot: c.saved.phase})
	return err
}

// poll shows the table to the engine, carries out its actions, and saves its state, in one transaction.
func (c *coordinator) poll(q *queue) {
	p := c.own
	for i := range Workers {
		p.hosts.SetDown(name(i), q.silent(i))
	}
	for _, a := range p.phase.Poll(at(q.now), c.list(q)) {
		if c.watch != nil {
			c.watch(q.now, a)
		}
		switch j := q.find(a.ID); a.Op {
		case engine.Submit:
			number := 0
			for _, j := range q.jobs {
				if j.task == a.Task {
					number++
				}
			}
			for i := range Workers {
				if a.Machine == name(i) {
					q.insert(a.ID, a.Task, i, q.now+q.dispatch(a.Task, number))
				}
			}
		case engine.Cancel:
			if j != nil {
				q.cancel(j)
			}
		case engine.Publish:
			q.publish(j)
			p.phase.Published(a.ID)
		}
	}
	if q.CoordinatorKilled != nil || q.SecondCoordinator > 0 {
		c.saved.phase, _ = p.phase.MarshalBinary()
		c.saved.hosts, _ = p.hosts.MarshalBinary()
	}
}

// silent reports whether a worker has been silent for so long that it is down.
func (q *queue) silent(worker int) bool {
	for _, s := range [...]Span{q.Stopped, q.Killed} {
		if worker == Workers-1 && s.Till > 0 && q.now >= s.From+Silence && q.now < s.Till {
			return true
		}
	}
	return false
}

// list returns the table as the list of attempts that the engine reads.
func (c *coordinator) list(q *queue) (all []engine.Attempt) {
	states := [...]engine.State{engine.Queued, engine.Running, engine.Succeeded, engine.Failed, engine.Cancelled}
	for _, j := range q.jobs {
		a := engine.Attempt{ID: j.id, Task: j.task, State: states[j.state]}
		if j.tries > 0 {
			a.Machine, a.Begun = name(j.worker), at(j.begun)
		}
		if j.share > 0 {
			a.Progress.Score, a.AsOf = j.share, at(j.asOf)
		}
		if j.state > runs {
			a.Ended = at(j.ended)
		}
		if j.state == failed && q.now < j.ended+FailureShown {
			a.State, a.Ended = engine.Running, time.Time{}
		}
		if j.state == runs && (q.silent(j.worker) || j.gone(q)) {
			j.lost = true
		}
		if j.lost && j.state != succeeded {
			a.State, a.Ended = engine.Lost, time.Time{}
		}
		a.Published = q.results[j.task] == j
		all = append(all, a)
	}
	return all
}

// gone reports whether the worker of a job has come back without the job.
func (j *job) gone(q *queue) bool {
	still, _ := q.standsStill(j.worker)
	return !still && j.life != q.workers[j.worker].life
}

// ended lets the coordinator poll soon.
func (c *coordinator) ended(q *queue, j *job) {
	soon := Notice
	if j.state == failed {
		soon += FailureShown
	}
	q.at(q.now+soon, func() {
		if c.own != nil {
			c.poll(q)
		}
	})
}

func (c *coordinator) over(*queue) bool { return c.err != nil || c.own != nil && c.own.phase.Done() }
