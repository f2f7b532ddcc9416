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
	tasks    map[string]*task  // by their keys
	read     map[string]string // by queue, the last event that was read
	at       time.Time         // of the last turn
	watches  time.Time         // nothing is decided before this time
	looked   time.Time         // when the coordinator last asked asynq for its servers
	listed   bool              // then this process was among them
	lacks    map[string]int    // by asynq's ID of each server without the plugin, how often it was seen so
	now      time.Time         // by the clock of Redis
	servers  map[string]int    // by queue, the number of asynq's servers; negative if one of them lacks the plugin
	slots    int               // of all of them
	free     int               // that no task uses or waits for
}

// kind is a kind of tasks, and its phase. Each attempt of a task is a task of the phase.
type kind struct {
	Kind
	phase *engine.Phase
	tasks map[int]*task // by their numbers
}

// task is an attempt that runs, or ran and has a copy that runs.
type task struct {
	about
	kind     *kind
	original engine.Attempt // as the phase gets it in each poll
	copied   engine.Attempt // its copy; without an ID it has none
	overdue  time.Duration  // the age at which it hangs; 0: not known
	copy     string         // the name of its copy
	row      string         // the copy's task ID, if this server has made it
	told     bool           // the phase knows that nothing of it runs
}

// open reports whether an attempt waits or runs.
func open(a engine.Attempt) bool { return a.ID != "" && a.State <= engine.Running }

// newCoordinator returns the coordinator of a plugin. It knows nothing.
func newCoordinator(p *Plugin) *coordinator {
	return &coordinator{p: p, machines: new(engine.Machines), kinds: map[string]*kind{}, tasks: map[string]*task{}, read: map[string]string{}}
}

// These numbers are choices.
const (
	ageTimes      = 4                // an attempt hangs after this number of times the longest run time of its kind
	mostDoublings = 20               // with each failure of the task this time doubles, at most so often
	recent        = 10 * time.Minute // an ended attempt counts for the phase of its kind for this time
	lookEvery     = 5 * time.Second  // asynq's servers write their state so often
	blindAfter    = 2 * time.Second  // a coordinator whose turn is so late has seen nothing meanwhile
	lateEvents    = 5 * time.Second  // for this time after that it waits for the events that are late
)

// turn looks once and acts once.
func (c *coordinator) turn(ctx context.Context) error {
	if since := time.Since(c.looked); since > lookEvery || len(c.read) == 0 || since >= idle && !c.listed {
		if err := c.look(ctx); err != nil {
			return err
		}
	}
	c.free = c.slots
	for queue := range c.read {
		if err := c.events(ctx, queue); err != nil {
			return err
		}
	}
	// Absence of evidence is not death. Attempts that have ended while the coordinator was blind look as if they ran.
	if time.Since(c.at) > blindAfter {
		c.watches = time.Now().Add(lateEvents)
	}
	if c.at = time.Now(); c.at.Before(c.watches) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		c.poll(ctx, c.kinds[name])
	}
	return nil
}

// look says that this process has a plugin, and asks asynq for its servers and their queues. A server without the plugin could
// take a copy, so its queues get none. A plugin that looked before a server's start was that of an earlier process, or looks soon.
func (c *coordinator) look(ctx context.Context) error {
	now := time.Now()
	servers, err := c.p.inspector.Servers()
	if err = cmp.Or(err, c.p.redis.Set(ctx, c.p.process, now.UnixNano(), 3*lookEvery).Err()); err != nil {
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

// events reads the events of a queue, and counts its tasks that run or wait. The answer begins with the last event that
// was read before. If that event is gone, later ones may be gone, too: then the coordinator begins anew, and knows no task.
func (c *coordinator) events(ctx context.Context, queue string) error {
	pipe := c.p.redis.Pipeline()
	answer := pipe.XRange(ctx, eventsKey(queue), c.read[queue], "+")
	active, pending, clock := pipe.LLen(ctx, asynqKey(queue, "active")), pipe.LLen(ctx, asynqKey(queue, "pending")), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	c.now = clock.Val()
	events, last := answer.Val(), c.read[queue]
	if last != "0" && (len(events) == 0 || events[0].ID != last) {
		*c = *newCoordinator(c.p)
		return fmt.Errorf("events of the queue %s were deleted before they were read", queue)
	}
	for _, e := range events {
		if e.ID != last {
			c.read[queue] = e.ID
			c.event(e)
		}
	}
	c.free -= int(active.Val() + pending.Val())
	return nil
}

// event notes that an attempt has begun or ended.
func (c *coordinator) event(m redis.XMessage) {
	var e struct {
		Key, Name string
		State     engine.State
		About     about
	}
	ms := int64(0)
	fmt.Sscanf(m.ID, "%d", &ms)
	if json.Unmarshal([]byte(fmt.Sprint(m.Values["event"])), &e) != nil {
		return
	}
	t, when := c.tasks[e.Key], time.UnixMilli(ms)
	switch _, named := c.p.options.of(e.About.Kind); {
	case named && e.About.Of == "" && e.About.Kind != "" && (t == nil || t.original.ID != e.Name):
		if t != nil && open(t.original) {
			t.original.State = engine.Lost // nobody has told its end
		}
		k := c.kindOf(e.About.Kind)
		number := k.phase.Add(e.About.Work)
		t = &task{about: e.About, kind: k, original: engine.Attempt{ID: e.Name, Task: number}, copied: engine.Attempt{Task: number}}
		c.tasks[e.Key], k.tasks[number] = t, t
	case t == nil:
		return
	case e.About.Of == t.original.ID && open(t.original):
		t.copy, t.copied.ID = e.Name, cmp.Or(t.copied.ID, "copy "+e.Name)
		if t.row != "" {
			t.row = e.About.row(e.Name)
		}
	}
	a := &t.original
	if e.Name == t.copy {
		a = &t.copied
	} else if e.Name != a.ID {
		return
	}
	if a.State = e.State; open(*a) {
		a.Begun, a.Machine = when, e.About.Server
	} else {
		a.Ended, a.Published = when, a.State == engine.Succeeded
	}
	if a.Published || !open(t.original) {
		t.overdue = math.MaxInt64
		c.p.over(t.original.ID, ErrOver)
		c.p.over(t.copy, ErrOver)
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

// poll tells the phase of a kind what has happened, and carries out its actions.
func (c *coordinator) poll(ctx context.Context, k *kind) {
	busy, list := 0, []engine.Attempt{}
	for _, number := range slices.Sorted(maps.Keys(k.tasks)) {
		t := k.tasks[number]
		k.phase.SetEligible(number, c.mayCopy(t), false)
		if open(t.original) && c.now.Sub(t.original.Begun) > keep {
			t.original.State = engine.Lost
		}
		t.told = !open(t.original) && !open(t.copied)
		for _, a := range []engine.Attempt{t.original, t.copied} {
			if open(a) {
				busy++
			}
			list = append(list, a) // without an ID it is ignored
		}
	}
	k.phase.SetSlots(busy + max(c.free, 0))
	for _, a := range k.phase.Poll(c.now, list).Actions {
		switch t := k.tasks[a.Task]; {
		case t == nil:
		case a.Op == engine.Submit && t.copied.ID == "" && open(t.original):
			c.copy(ctx, t, a.ID, a.Avoid, a.Decision.String())
		case a.Op == engine.Cancel && a.ID == t.copied.ID:
			c.endCopy(t)
		case a.Op == engine.Cancel && a.Decision.Reason == restart.Overdue && t.overdue == 0:
			t.overdue = time.Duration(math.Ldexp(float64(c.now.Sub(t.original.Begun)), min(t.Retried, mostDoublings)))
		}
	}
	for _, number := range slices.Sorted(maps.Keys(k.tasks)) {
		c.settle(ctx, k.tasks[number])
	}
}

// mayCopy reports whether a task may get a copy. In the shadow mode, a plugin decides about the tasks of all servers. Else it
// leaves the tasks alone of the servers in the shadow mode.
func (c *coordinator) mayCopy(t *task) bool {
	return t.kind.Copies && t.copied.ID == "" && c.servers[t.Queue] > 1 && (c.p.options.Shadow || !t.Shadow)
}

// copy makes a copy of an attempt that runs. If another server was first, the copy is that of the other server.
func (c *coordinator) copy(ctx context.Context, t *task, id string, avoid []string, why string) {
	t.copied.ID, t.copied.State = id, engine.Failed
	info, err := c.p.inspector.GetTaskInfo(t.Queue, t.Task)
	if err != nil || info.State != asynq.TaskStateActive {
		return
	}
	m := mark{about: t.about, Copy: rand.Text(), Avoid: slices.Clone(avoid), Timeout: info.Timeout}
	m.Of, m.Deadline = t.original.ID, cmp.Or(info.Deadline, c.now.Add(keep))
	_, granted, err := c.p.ask(ctx, reserve, t.about, m.Of, m.Copy)
	if granted {
		t.copy, t.row = m.Copy, m.row(m.Copy)
		err = c.p.enqueue(ctx, info.Payload, info.Headers, m)
		c.p.options.Log.Info("asynqplugin: a task gets a copy", "task", t.Task, "server", t.Server, "why", why, "error", err)
	}
	if err == nil {
		t.copied.State = engine.Queued
	}
}

// settle ends what is left of a task: an attempt that hangs, or a copy whose attempt has ended. In a kind with copies an
// attempt that hangs first gets a copy, if it has none. Settle forgets a task of which nothing runs.
func (c *coordinator) settle(ctx context.Context, t *task) {
	age, name := c.now.Sub(t.original.Begun), t.original.ID
	switch {
	case t.told:
		if t.row != "" { // asynq may have put it among the retries since
			_ = c.p.inspector.DeleteTask(t.Queue, t.row)
		}
		t.kind.phase.Forget(t.original.Task)
		delete(t.kind.tasks, t.original.Task)
		if key := taskKey(t.Queue, t.Task); c.tasks[key] == t {
			delete(c.tasks, key)
		}
	case !open(t.original):
		c.endCopy(t)
	case t.overdue == 0 || age < t.overdue:
	case c.mayCopy(t) && !c.p.options.Shadow:
		c.copy(ctx, t, "copy of "+name, nil, "it hangs")
	case t.Server == c.p.name && (!open(t.copied) || age >= 2*t.overdue):
		t.overdue = math.MaxInt64 // once is enough
		c.p.options.Log.Warn("asynqplugin: an attempt hangs", "task", t.Task, "kind", t.Kind, "age", age, "ended", !c.p.options.Shadow)
		c.p.over(name, ErrHangs)
	}
}

// endCopy ends a copy that is not wanted any more. A copy that waits finds out when it begins, if it can't be removed.
func (c *coordinator) endCopy(t *task) {
	c.p.over(t.copy, ErrOver)
	if t.row != "" && c.p.inspector.DeleteTask(t.Queue, t.row) == nil || !open(t.original) {
		t.copied.State = engine.Cancelled
	}
}
