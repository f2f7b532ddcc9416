package asynqplugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// coordinator reads the events of the attempts of all servers, tells them to the phase of their kind, and carries out what
// the phase asks for. Each plugin has one. Redis grants each attempt a single copy, whoever asks first. Only the server of an
// attempt ends it.
type coordinator struct {
	p        *Plugin
	machines *engine.Machines
	kinds    map[string]*kind
	names    map[string]*task  // by the names of the attempts and of their copies, and by queue and task
	read     map[string]string // by queue, the last event that was read
	at       time.Time         // of the last turn
	watches  time.Time         // nothing is decided before this time
	looked   time.Time         // when the coordinator last asked asynq for its servers
	listed   bool              // then this process was among them
	lacks    map[string]int    // by asynq's ID of each server without the plugin, how often it was seen so
	now      time.Time         // by the clock of Redis
	servers  map[string]int    // by queue, the number of asynq's servers; negative if one of them lacks the plugin
	slots    int               // of all of them
}

// kind is a kind of tasks, and its phase. Each attempt of a task is a task of the phase.
type kind struct {
	Kind
	phase *engine.Phase
	tasks map[int]*task // by their numbers
	list  []engine.Attempt
}

// task is an attempt that runs, or ran and has a copy that runs.
type task struct {
	about
	name    string
	number  int // in the phase
	kind    *kind
	since   time.Time
	over    bool          // the attempt has ended
	overdue time.Duration // the age at which it hangs; 0: not known
	copy    string        // the name of its copy
	copyID  string        // the copy's name in the phase; empty: it has none
	row     string        // the copy's task ID, if this server has made it
	news    bool          // the phase does not know its state yet
	open    bool          // the copy waits or runs
}

// newCoordinator returns the coordinator of a plugin. It knows nothing.
func newCoordinator(p *Plugin) *coordinator {
	return &coordinator{p: p, machines: new(engine.Machines), kinds: map[string]*kind{}, names: map[string]*task{}, read: map[string]string{}}
}

// These numbers are choices.
const (
	ageTimes      = 4                // an attempt hangs after this number of times the longest run time of its kind
	mostDoublings = 20               // with each failure of the task this time doubles, at most so often
	recent        = 10 * time.Minute // an ended attempt counts for the phase of its kind for this time
	lookEvery     = 5 * time.Second  // asynq's servers write their state so often
	blindAfter    = 2 * time.Second  // a coordinator whose turn is so late has seen nothing meanwhile
	lateEvents    = 5 * time.Second  // for this time after that it waits for the events that are late
	mostEvents    = 20_000           // of a queue, in a turn: more than its stream keeps
)

// turn looks once and acts once.
func (c *coordinator) turn(ctx context.Context) error {
	if since := time.Since(c.looked); since > lookEvery || len(c.read) == 0 || since >= idle && !c.listed {
		if err := c.look(ctx); err != nil {
			return err
		}
	}
	free := c.slots
	for queue := range c.read {
		used, err := c.events(ctx, queue)
		if err != nil {
			return err
		}
		free -= used
	}
	// Absence of evidence is not death. Attempts that have ended while the coordinator was blind look as if they ran.
	if time.Since(c.at) > blindAfter {
		c.watches = time.Now().Add(lateEvents)
	}
	if c.at = time.Now(); c.at.Before(c.watches) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		c.poll(ctx, c.kinds[name], max(free, 0))
	}
	return nil
}

// look says that this process has a plugin, and asks asynq for its servers and their queues. A server without the plugin could
// take a copy, so its queues get none. A plugin that looked before a server's start was that of an earlier process, or looks soon.
func (c *coordinator) look(ctx context.Context) error {
	now := time.Now()
	if err := c.p.redis.Set(ctx, c.p.process, now.UnixNano(), 3*lookEvery).Err(); err != nil {
		return err
	}
	servers, err := c.p.inspector.Servers()
	if err != nil {
		return err
	}
	lacks := map[string]int{}
	c.servers, c.slots, c.listed = map[string]int{}, 0, false
	for _, s := range servers {
		key, plugins := processKey(s.Host, s.PID), 1
		looked, err := c.p.redis.Get(ctx, key).Int64()
		if err != nil && err != redis.Nil {
			return err
		}
		if looked <= s.Started.UnixNano() {
			plugins = -1 << 20 // so there are no others
			if lacks[s.ID] = c.lacks[s.ID] + 1; lacks[s.ID] == 2 {
				c.p.options.Log.Warn("asynqplugin: a server lacks the plugin, so its queues get no copies", "host", s.Host, "pid", s.PID)
			}
		}
		c.listed = c.listed || key == c.p.process
		c.slots += s.Concurrency
		for queue := range s.Queues {
			c.servers[queue] += plugins
			c.read[queue] = cmp.Or(c.read[queue], "0")
		}
	}
	c.looked, c.lacks = now, lacks
	return nil
}

// events reads the events of a queue, and returns the number of its tasks that run or wait. The answer begins with the last event that
// was read before. If that event is gone, later ones may be gone, too: then the coordinator begins anew, and knows no task.
func (c *coordinator) events(ctx context.Context, queue string) (used int, err error) {
	pipe := c.p.redis.Pipeline()
	answer := pipe.XRangeN(ctx, eventsKey(queue), c.read[queue], "+", mostEvents)
	active, pending, clock := pipe.LLen(ctx, asynqKey(queue, "active")), pipe.LLen(ctx, asynqKey(queue, "pending")), pipe.Time(ctx)
	if _, err = pipe.Exec(ctx); err != nil {
		return 0, err
	}
	c.now = clock.Val()
	events, last := answer.Val(), c.read[queue]
	if last != "0" && (len(events) == 0 || events[0].ID != last) {
		*c = *newCoordinator(c.p)
		return 0, fmt.Errorf("events of the queue %s were deleted before they were read", queue)
	}
	for _, e := range events {
		if e.ID != last {
			c.read[queue] = e.ID
			c.event(e)
		}
	}
	return int(active.Val() + pending.Val()), nil
}

// event notes that an attempt has begun or ended.
func (c *coordinator) event(m redis.XMessage) {
	var e struct {
		Name  string
		State engine.State
		About about
	}
	ms := int64(0)
	fmt.Sscanf(m.ID, "%d", &ms)
	when := time.UnixMilli(ms)
	text, _ := m.Values["event"].(string)
	if json.Unmarshal([]byte(text), &e) != nil {
		return
	}
	if t := c.names[e.About.Of]; e.About.Of != "" && t != nil && !t.over {
		t.copy, t.copyID = e.Name, cmp.Or(t.copyID, "copy "+e.Name)
		if t.row != "" {
			t.row = e.About.row(e.Name)
		}
		c.names[e.Name] = t
	} else if e.About.Of == "" && e.About.Kind != "" {
		c.begin(e.About, e.Name, when)
	}
	t := c.names[e.Name]
	if t == nil {
		return
	}
	a := engine.Attempt{ID: e.Name, State: e.State, Machine: e.About.Server, Begun: when}
	if e.State != engine.Running {
		a.Begun, a.Ended, a.Published = time.Time{}, when, e.State == engine.Succeeded
	}
	if e.Name == t.name {
		t.over = e.State != engine.Running
	} else {
		a.ID, t.open = t.copyID, e.State <= engine.Running
	}
	if a.Published || t.over {
		t.overdue = math.MaxInt64
		c.p.over(t.name, ErrOver)
		c.p.over(t.copy, ErrOver)
	}
	t.tell(a)
}

// tell tells the phase about an attempt of the task, in the next poll.
func (t *task) tell(a engine.Attempt) {
	a.Task, t.news = t.number, true
	t.kind.list = append(t.kind.list, a)
}

// begin adds an attempt to the phase of its kind. An earlier attempt of the same task was lost.
func (c *coordinator) begin(of about, name string, when time.Time) {
	if _, named := c.p.options.of(of.Kind); !named || c.names[name] != nil {
		return
	}
	if t := c.names[of.Queue+" "+of.Task]; t != nil {
		t.lose()
	}
	k := c.kindOf(of.Kind)
	t := &task{about: of, name: name, number: k.phase.Add(of.Work), kind: k, since: when}
	c.names[name], c.names[of.Queue+" "+of.Task], k.tasks[t.number] = t, t, t
}

// lose ends an attempt of which nobody has told the end.
func (t *task) lose() {
	if !t.over {
		t.over = true
		t.tell(engine.Attempt{ID: t.name, State: engine.Lost})
	}
}

// kindOf returns the kind of a name. It makes the phase of the kind when the first of its attempts is seen.
func (c *coordinator) kindOf(name string) *kind {
	if k := c.kinds[name]; k != nil {
		return k
	}
	k := &kind{tasks: map[int]*task{}}
	k.Kind, _ = c.p.options.of(name)
	config := engine.Config{
		Recent: recent, EngineRetries: true, Stream: true, Interval: c.p.options.Interval, Machines: c.machines,
		Kind: name, Patience: ageTimes, Limits: restart.Limits{Restarts: restart.Off},
	}
	if c.p.options.Shadow {
		config.Shadow = func(task int, d restart.Decision) {
			c.p.options.Log.Info("asynqplugin: a task would get a copy", "task", k.tasks[task].Task, "kind", name, "why", d.String())
		}
	}
	k.phase, _ = engine.New(config) // the configuration is the plugin's own, and right
	c.kinds[name] = k
	return k
}

// poll tells the phase of a kind what has happened, and carries out its actions. Free is the number of slots that no task
// uses or waits for.
func (c *coordinator) poll(ctx context.Context, k *kind, free int) {
	busy := 0
	for _, t := range k.tasks {
		k.phase.SetEligible(t.number, c.mayCopy(t), false)
		if c.now.Sub(t.since) > keep {
			t.lose()
		}
		if !t.over {
			busy++
		}
		if t.open {
			busy++
		}
		t.news = false
	}
	k.phase.SetSlots(busy + free)
	actions := k.phase.Push(c.now, k.list).Actions
	k.list = nil
	for _, a := range actions {
		if t := k.tasks[a.Task]; t != nil {
			c.act(ctx, t, a)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(k.tasks)) {
		c.settle(ctx, k.tasks[number])
	}
}

// mayCopy reports whether a task may get a copy. In the shadow mode, a plugin decides about the tasks of all servers. Else it
// leaves the tasks alone of the servers in the shadow mode.
func (c *coordinator) mayCopy(t *task) bool {
	return t.kind.Copies && t.copyID == "" && c.servers[t.Queue] > 1 && (c.p.options.Shadow || !t.Shadow)
}

// act carries out an action of a phase.
func (c *coordinator) act(ctx context.Context, t *task, a engine.Action) {
	switch {
	case a.Op == engine.Publish:
		t.kind.phase.Published(a.ID)
	case a.Op == engine.Cancel && a.ID == t.copyID:
		c.endCopy(t)
	case a.Op == engine.Cancel && a.ID == t.name && a.Decision.Reason == restart.Overdue && t.overdue == 0:
		t.overdue = time.Duration(math.Ldexp(float64(c.now.Sub(t.since)), min(t.Retried, mostDoublings)))
	case a.Op == engine.Submit && a.ID != t.copyID:
		c.copy(ctx, t, a.ID, a.Avoid, a.Decision.String())
	}
}

// copy makes a copy of an attempt that runs. If another server was first, the copy is that of the other server.
func (c *coordinator) copy(ctx context.Context, t *task, id string, avoid []string, why string) {
	a := engine.Attempt{ID: id, State: engine.Failed}
	if t.copyID == "" && !t.over {
		t.copyID = id
		info, err := c.p.inspector.GetTaskInfo(t.Queue, t.Task)
		if err == nil && info.State == asynq.TaskStateActive {
			m := mark{about: t.about, Copy: rand.Text(), Avoid: slices.Clone(avoid), Timeout: info.Timeout, Deadline: cmp.Or(info.Deadline, c.now.Add(keep))}
			m.Of = t.name
			_, granted, err := c.p.ask(ctx, reserve, t.about, t.name, m.Copy)
			if granted {
				t.copy, t.row, c.names[m.Copy] = m.Copy, m.row(m.Copy), t
				err = c.p.enqueue(ctx, info.Payload, info.Headers, m)
				c.p.options.Log.Info("asynqplugin: a task gets a copy", "task", t.Task, "server", t.Server, "why", why, "error", err)
			}
			if t.open = err == nil; t.open {
				a.State = engine.Queued
			}
		}
	}
	t.tell(a)
}

// settle ends what is left of a task: an attempt that hangs, or a copy whose attempt has ended. In a kind with copies an
// attempt that hangs first gets a copy, if it has none. Settle forgets a task of which nothing runs.
func (c *coordinator) settle(ctx context.Context, t *task) {
	age := c.now.Sub(t.since)
	switch {
	case t.over && t.open:
		c.endCopy(t)
	case t.over && !t.news:
		if t.row != "" { // asynq may have put it among the retries since
			_ = c.p.inspector.DeleteTask(t.Queue, t.row)
		}
		t.kind.phase.Forget(t.number)
		delete(t.kind.tasks, t.number)
		for _, name := range []string{t.name, t.copy, t.Queue + " " + t.Task} {
			if c.names[name] == t {
				delete(c.names, name)
			}
		}
	case t.over || t.overdue == 0 || age < t.overdue:
	case c.mayCopy(t) && !c.p.options.Shadow:
		c.copy(ctx, t, "copy of "+t.name, nil, "it hangs")
	case t.Server == c.p.name && (!t.open || age >= 2*t.overdue):
		t.overdue = math.MaxInt64 // once is enough
		c.p.options.Log.Warn("asynqplugin: an attempt hangs", "task", t.Task, "kind", t.Kind, "age", age, "ended", !c.p.options.Shadow)
		if !c.p.options.Shadow {
			c.p.over(t.name, ErrHangs)
		}
	}
}

// endCopy ends a copy that is not wanted any more. A copy that waits finds out when it begins, if it can't be removed.
func (c *coordinator) endCopy(t *task) {
	c.p.over(t.copy, ErrOver)
	if t.row != "" && c.p.inspector.DeleteTask(t.Queue, t.row) == nil || t.over {
		t.open = false
		t.tell(engine.Attempt{ID: t.copyID, State: engine.Cancelled})
	}
}
