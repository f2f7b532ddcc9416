package engine_test

import (
	"flag"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time. Benchmarks are measured as a host would run the code.
func TestMain(m *testing.M) {
	if flag.Parse(); flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(800)
	}
	m.Run()
}

// A cluster is a simulated engine. Its machines have different speeds. They run the attempts that are submitted
// to them or, if the engine places, the attempts of one common queue. Its lists are as late and as incomplete
// as a real engine's.
type cluster struct {
	now      time.Time
	machines []simMachine
	attempts []*simAttempt
	places   bool          // the engine chooses machines
	dispatch time.Duration // from submission to the start, at least
	dying    time.Duration // from cancellation to the end
	stale    time.Duration // age of progress reports
	fail     func(task int) bool
	work     []float64 // seconds on a machine of speed 1
	rng      *rand.Rand
}

type simMachine struct {
	engine.Machine
	speed float64
	dead  bool
}

type simAttempt struct {
	id                                string
	task, machine                     int // -1: not placed yet
	avoid                             []string
	submitted, begun, cancelled, over time.Time
	done                              float64
	state                             engine.State
	told                              bool // the end was listed
}

const simStep = 50 * time.Millisecond

// submit takes an attempt. If the cluster already has an attempt of that name, the request was repeated, and
// submit returns false.
func (c *cluster) submit(task int, id, machine string, avoid []string) bool {
	if slices.ContainsFunc(c.attempts, func(a *simAttempt) bool { return a.id == id }) {
		return false
	}
	a := &simAttempt{id: id, task: task, machine: -1, avoid: avoid, submitted: c.now}
	if machine != "" {
		a.machine = slices.IndexFunc(c.machines, func(h simMachine) bool { return h.Name == machine })
	}
	c.attempts = append(c.attempts, a)
	return true
}

func (c *cluster) cancel(id string) (news bool) {
	for _, a := range c.attempts {
		if a.id == id && a.cancelled.IsZero() {
			a.cancelled, news = c.now, true
		}
	}
	return news
}

func (c *cluster) load(machine int) (n int) {
	for _, a := range c.attempts {
		if a.machine == machine && a.state <= engine.Running {
			n++
		}
	}
	return n
}

// step lets a moment pass.
func (c *cluster) step() {
	c.now = c.now.Add(simStep)
	for _, a := range c.attempts {
		switch {
		case a.state == engine.Queued:
			c.dispatchOne(a)
		case a.state == engine.Running:
			c.run(a)
		}
	}
}

func (c *cluster) end(a *simAttempt, s engine.State) { a.state, a.over = s, c.now }

func (c *cluster) dispatchOne(a *simAttempt) {
	if !a.cancelled.IsZero() {
		c.end(a, engine.Cancelled)
		return
	}
	if c.now.Sub(a.submitted) < c.dispatch {
		return
	}
	if c.places {
		for i := range c.machines {
			if h := &c.machines[i]; !h.dead && c.load(i) < h.Slots && !slices.Contains(a.avoid, h.Name) {
				a.machine = i
				break
			}
		}
	}
	switch {
	case a.machine < 0:
	case c.machines[a.machine].dead:
		if c.now.Sub(a.submitted) > 5*time.Second { // no worker takes the attempt from the queue
			c.end(a, engine.Lost)
		}
	default:
		a.state, a.begun = engine.Running, c.now
	}
}

func (c *cluster) run(a *simAttempt) {
	h := &c.machines[a.machine]
	a.done += float64(simStep.Seconds() * h.speed)
	switch {
	case h.dead:
		c.end(a, engine.Lost)
	case a.done >= c.work[a.task] && c.fail != nil && c.fail(a.task):
		c.end(a, engine.Failed)
	case a.done >= c.work[a.task]:
		c.end(a, engine.Succeeded)
	case !a.cancelled.IsZero() && c.now.Sub(a.cancelled) >= c.dying:
		c.end(a, engine.Cancelled)
	}
}

// poll lists all attempts; it shows each end once.
func (c *cluster) poll() (all []engine.Attempt) {
	for _, a := range c.attempts {
		if a.told {
			continue
		}
		seen := engine.Attempt{ID: a.id, Task: a.task, State: a.state, Begun: a.begun, Ended: a.over}
		if a.machine >= 0 && a.state != engine.Queued {
			seen.Machine = c.machines[a.machine].Name
		}
		if a.state == engine.Running {
			seen.AsOf = c.now.Add(-c.stale)
			seen.Progress.Done = max(0, a.done-float64(c.stale.Seconds()*c.machines[a.machine].speed))
			if seen.AsOf.Before(a.begun) {
				seen.AsOf, seen.Progress.Done = a.begun, 0
			}
		}
		a.told = a.state >= engine.Succeeded
		all = append(all, seen)
	}
	if c.rng != nil { // an engine's list has no order, and may lack something
		c.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = slices.DeleteFunc(all, func(a engine.Attempt) bool {
			return a.State < engine.Succeeded && c.rng.IntN(10) == 0
		})
	}
	return all
}

// observer is a phase, or a phase with an audit.
type observer interface {
	Done() bool
	Poll(now time.Time, attempts []engine.Attempt) engine.Turn
	Published(id string)
}

// drive runs a phase to its end. The results are the time that the phase took, and all actions.
func drive(t *testing.T, c *cluster, p observer, period time.Duration, check func()) (time.Duration, []engine.Action) {
	t.Helper()
	start, next := c.now, c.now
	published := map[int]string{}
	var log []engine.Action
	for !p.Done() {
		if !c.now.Before(next) {
			for _, a := range p.Poll(c.now, c.poll()).Actions {
				news := true // false for a repeated request
				switch a.Op {
				case engine.Submit:
					news = c.submit(a.Task, a.ID, a.Machine, a.Avoid)
				case engine.Cancel:
					news = c.cancel(a.ID)
				case engine.Publish:
					require.Contains(t, []string{"", a.ID}, published[a.Task])
					published[a.Task] = a.ID
					p.Published(a.ID)
					continue
				}
				if news {
					log = append(log, a)
				}
			}
			next = next.Add(period)
			if check != nil {
				check()
			}
		}
		c.step()
		if c.now.Sub(start) >= time.Hour {
			require.Fail(t, "the phase does not come to an end")
		}
	}
	return c.now.Sub(start), log
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fourMachines is a cluster of four machines. The last is slow.
func fourMachines(tasks, slots int, slow float64) *cluster {
	c := &cluster{now: epoch, dispatch: 50 * time.Millisecond, dying: 200 * time.Millisecond, stale: 100 * time.Millisecond}
	for i, name := range []string{"n0", "n1", "n2", "n3"} {
		c.machines = append(c.machines, simMachine{Machine: engine.Machine{Name: name, Slots: slots}, speed: 1})
		if i == 3 {
			c.machines[i].speed = 1 / slow
		}
	}
	c.work = make([]float64, tasks)
	for i := range c.work {
		c.work[i] = 2
	}
	return c
}

func (c *cluster) known(t *testing.T, o engine.MachinesConfig) *engine.Machines {
	t.Helper()
	for _, h := range c.machines {
		if c.places {
			h.Slots = 0
		}
		o.Machines = append(o.Machines, h.Machine)
	}
	machines, err := engine.NewMachines(o)
	require.NoError(t, err)
	return machines
}
