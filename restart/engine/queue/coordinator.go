package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Coordinator submits the jobs of a store to its workers, and copies or restarts slow attempts. One coordinator of a
// store works at a time; the others wait. The methods are not safe for concurrent use. Most programs call [Serve]
// instead.
type Coordinator struct {
	store Store
	o     Options
	owner string

	epoch   int64     // 0 if this coordinator has not opened the store
	renewed time.Time // when the store was opened, or a commit last succeeded
	saved   time.Time // when the state was saved last
	swept   time.Time // when the workers were listed last
	learned time.Time // when the knowledge was stored last
	billed  time.Time // when the bill was logged last
	state
	workers map[string]workerState
	ended   map[string]bool // ended attempts that the next state to save includes
	untold  map[string]bool // keys of Knowledge with observations that the store may not have
	reset   bool            // the jobs of an earlier coordinator are to wait again
	dirty   bool            // a group has begun or ended since the state was saved
	// A goroutine computes bills.
	billing atomic.Bool
}

// workerState is a worker as the store has shown it.
type workerState struct {
	slots int
	lost  bool
}

// state is the part of a coordinator that is saved. From it, another coordinator goes on.
type state struct {
	origin   string // the name of this store among the stores that share knowledge
	serial   int    // number of groups so far
	machines *engine.Machines
	record   *machines.Record
	kinds    map[string]*tracker.Experience
	groups   []*group
}

const (
	saveEvery  = 5 * time.Second // between two saves of the state of attempts
	sweepEvery = 200 * time.Millisecond
	learnEvery = 10 * time.Second // between two times at which experience with the jobs of a stream is stored
)

// NewCoordinator returns a coordinator of a store. If a field of the options is out of range, it returns an error that
// states the field.
func NewCoordinator(store Store, o Options) (*Coordinator, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &Coordinator{store: store, o: o, owner: rand.Text()}, nil
}

// Turn looks into the store once, decides, and commits the actions. Call it again after Options.Look. The error is
// ErrHeld if another process is the coordinator; after any error, call Turn again after a moment.
func (c *Coordinator) Turn(ctx context.Context, now time.Time) error {
	if c.epoch == 0 {
		if err := c.open(ctx, now); err != nil {
			return err
		}
	}
	err := c.turn(ctx, now)
	if errors.Is(err, ErrFenced) {
		c.epoch = 0
	}
	return err
}

func (c *Coordinator) turn(ctx context.Context, now time.Time) error {
	if err := c.sweep(ctx, now); err != nil {
		return err
	}
	list, err := c.store.List(ctx)
	if err != nil {
		return err
	}
	commit := Commit{Epoch: c.epoch, Term: c.o.Takeover, Reset: c.reset}
	live := c.distribute(list, &commit)
	for _, g := range c.groups {
		c.act(now, g, g.phase.Push(now, g.reports), &commit)
	}
	live += len(commit.Submit)
	if !c.reset {
		if err := c.take(ctx, now, live, &commit); err != nil {
			return err
		}
	}
	c.logBill(now)
	if err := c.commit(ctx, now, &commit); err != nil {
		return err
	}
	return c.learn(ctx, now, false)
}

// sweep lists the workers from time to time.
func (c *Coordinator) sweep(ctx context.Context, now time.Time) error {
	if since := now.Sub(c.swept); since >= 0 && since < min(sweepEvery, c.o.Silence/2) {
		return nil
	}
	workers, err := c.store.Workers(ctx)
	if err != nil {
		return err
	}
	for name, w := range c.workers {
		c.workers[name] = workerState{w.slots, true}
	}
	for _, w := range workers {
		if w.Slots <= 0 || w.Name == "" {
			continue
		}
		_, known := c.workers[w.Name]
		if !known && c.machines.Add(engine.Machine{Name: w.Name, Slots: w.Slots}) != nil {
			known = true // the machines were restored, and have it
		}
		if known {
			c.machines.SetSlots(w.Name, w.Slots)
		}
		c.workers[w.Name] = workerState{w.Slots, w.Silent > c.o.Silence}
	}
	for name, w := range c.workers {
		c.machines.SetDown(name, w.lost)
	}
	c.swept = now
	return nil
}

// distribute gives each group the reports about its attempts, and returns the number of attempts that have not ended.
// Attempts of no group are cancelled.
func (c *Coordinator) distribute(list []Attempt, commit *Commit) (live int) {
	groups := map[string]*group{}
	for _, g := range c.groups {
		groups[g.name], g.reports = g, g.reports[:0]
	}
	for _, a := range list {
		name, id, _ := strings.Cut(a.Name, "/")
		g, over := groups[name], a.State >= engine.Succeeded
		if over {
			c.ended[a.Name] = true
		} else {
			live++
		}
		switch {
		case g != nil && g.add(a, id, c.silent(a)):
		case !over:
			commit.Cancel = append(commit.Cancel, Target{a.Name, a.Worker})
		}
	}
	return live
}

// silent reports whether an attempt runs on a worker that is lost.
func (c *Coordinator) silent(a Attempt) bool {
	return a.State == engine.Running && c.workers[a.Worker].lost
}

// take begins a group for each batch that waits, and for the waiting jobs of each kind for which there are free slots.
func (c *Coordinator) take(ctx context.Context, now time.Time, live int, commit *Commit) error {
	if len(c.workers) == 0 {
		return nil
	}
	places := 0
	for _, w := range c.workers {
		if !w.lost {
			places += w.slots + c.o.Prefetch
		}
	}
	jobs, err := c.store.Waiting(ctx, max(places-live, 0))
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for _, g := range c.groups {
		if g.taken && len(g.rests) == 0 {
			continue
		}
		for i, j := range g.jobs {
			if _, rests := g.rests[i]; !g.taken || rests && !g.settled[i] {
				held[j.ID] = true
			}
		}
	}
	var open []*group
	for _, j := range jobs {
		if held[j.ID] {
			continue
		}
		if !isAmount(j.Work) {
			j.Work = 0 // somebody else has inserted the job
		}
		i := slices.IndexFunc(open, func(g *group) bool { return g.batch == j.Batch && g.kind == j.Kind })
		if i < 0 {
			i = len(open)
			open = append(open, newGroup(j.Kind, j.Batch))
		}
		open[i].jobs = append(open[i].jobs, j)
	}
	for _, g := range open {
		if err := c.begin(ctx, now, g); err != nil {
			return err
		}
		c.groups, c.dirty = append(c.groups, g), true
		c.act(now, g, g.phase.Push(now, nil), commit)
	}
	for _, g := range c.groups {
		if !g.taken {
			commit.Take = append(commit.Take, g.jobs...)
		}
	}
	return nil
}

// begin makes the phase of a new group.
func (c *Coordinator) begin(ctx context.Context, now time.Time, g *group) error {
	if c.kinds[g.kind] == nil {
		x := newExperience(c.origin)
		if err := c.recall(ctx, now, kindPrefix+g.kind, x); err != nil {
			return err
		}
		c.kinds[g.kind] = x
	}
	c.serial++
	g.name = fmt.Sprintf("%d.%d.%.6s", c.epoch, c.serial, rand.Text())
	g.config = c.config(&c.state, g)
	g.config.Tasks = len(g.jobs)
	for i, j := range g.jobs {
		if j.Work > 0 && g.config.Work == nil {
			g.config.Work = slices.Repeat([]float64{-1}, len(g.jobs))
		}
		if j.Work > 0 {
			g.config.Work[i] = j.Work
		}
		if j.Failures > 0 && g.config.Failures == nil {
			g.config.Failures = make([]int, len(g.jobs))
		}
		if j.Failures > 0 {
			g.config.Failures[i] = j.Failures
		}
	}
	phase, err := engine.New(g.config)
	if err != nil {
		return fmt.Errorf("queue: kind %q: %w", g.kind, err)
	}
	g.phase = phase
	c.restrict(g)
	return nil
}

// restrict forbids copies and restarts in a group, unless its kind allows them now. In shadow mode nothing is carried
// out, so the policy may decide about every kind.
func (c *Coordinator) restrict(g *group) {
	allowed := c.o.kind(g.kind).Copies || c.o.Shadow
	for i := range g.jobs {
		g.phase.SetEligible(i, allowed, allowed)
	}
}

// config returns the configuration of the phase of a group that belongs to a state.
func (c *Coordinator) config(s *state, g *group) engine.Config {
	k := c.o.kind(g.kind)
	config := engine.Config{
		Interval: c.o.Interval, Policy: c.o.Policy, MaxFailures: k.Tries, MaxLost: k.Tries, Timeout: k.Timeout,
		Patience: k.Patience, Stream: g.batch == "",
		BackOff: func(task, failures int) time.Duration { return k.BackOff(g.jobs[task], failures) },
		Journal: c.o.OnEnd != nil && c.o.Journal,
	}
	if c.o.Shadow {
		config.Shadow = func(task int, d restart.Decision) {
			c.o.Log.Info("queue: shadow", "kind", g.kind, "job", g.jobs[task].ID, "decision", d)
		}
	}
	if c.o.Configure != nil {
		c.o.Configure(g.kind, &config)
	}
	config.Machines, config.Experience = s.machines, s.kinds[g.kind]
	return config
}

// giveBack gives up the single jobs that wait for their next try. They wait in the store, so that an outage does not
// fill the state of the coordinator.
func (c *Coordinator) giveBack(now time.Time, g *group, rests []engine.Rest) {
	for _, r := range rests {
		g.rests[r.Task] = rest{r.Failures, now.Add(r.For)}
		g.phase.GiveUp(r.Task)
		g.givenUp[r.Task], c.dirty = true, true
	}
}

// act adds what a phase asks for to the commit.
func (c *Coordinator) act(now time.Time, g *group, turn engine.Turn, commit *Commit) {
	g.polled = true
	for _, task := range turn.GivenUp {
		g.givenUp[task] = true
	}
	for _, a := range turn.Actions {
		t := Target{g.name + "/" + a.ID, a.Machine}
		if c.o.OnAction != nil {
			c.o.OnAction(t.Name, g.jobs[a.Task], a)
		}
		switch a.Op {
		case engine.Submit:
			commit.Submit = append(commit.Submit, Submit{t, g.jobs[a.Task], g.jobs[a.Task].Failures + a.Attempt})
		case engine.Cancel:
			commit.Cancel = append(commit.Cancel, t)
		case engine.Publish:
			commit.Publish = append(commit.Publish, Publish{t, g.jobs[a.Task]})
		}
	}
	if g.batch == "" {
		c.giveBack(now, g, turn.Rests)
	}
	for _, task := range g.unsettled() {
		if r, rests := g.rests[task]; rests {
			j := g.jobs[task]
			j.Failures = r.Failures
			commit.Rest = append(commit.Rest, Rest{j, max(r.Until.Sub(now), 0)})
			continue
		}
		text := cmp.Or(g.errors[task], "queue: the attempt has passed its timeout")
		commit.Fail = append(commit.Fail, Failure{g.jobs[task], text})
	}
}

// commit carries out a commit, if it asks for anything.
func (c *Coordinator) commit(ctx context.Context, now time.Time, commit *Commit) error {
	over := c.over(now)
	since := now.Sub(c.saved)
	if c.dirty || c.reset || len(over) > 0 || len(c.ended) > 0 && (since >= saveEvery || since < 0) {
		commit.State = c.marshal(over)
		commit.Seen = c.seen(commit.Publish)
	}
	if renewed := now.Sub(c.renewed); commit.Empty() && renewed >= 0 && renewed < c.o.Takeover/4 {
		return nil
	}
	if err := c.store.Commit(ctx, *commit); err != nil {
		return err
	}
	c.renewed = now
	for _, p := range commit.Publish {
		name, id, _ := strings.Cut(p.Name, "/")
		if i := slices.IndexFunc(c.groups, func(g *group) bool { return g.name == name }); i >= 0 {
			c.groups[i].phase.Published(id)
		}
	}
	for _, f := range commit.Fail {
		c.o.Log.Warn("queue: a job has failed for good", "kind", f.Job.Kind, "job", f.Job.ID, "error", f.Error)
	}
	for _, g := range c.groups {
		g.taken = true
		for _, task := range g.unsettled() {
			g.settled[task] = true
		}
	}
	if commit.State != nil {
		c.saved, c.dirty, c.reset = now, false, false
		clear(c.ended)
		c.remove(now, over)
	}
	return nil
}

// seen returns the ended attempts that the store may forget when the state is saved. If the Publish of a result was not
// committed, because a call has failed, it comes again later. Until then the store keeps the attempt's output.
func (c *Coordinator) seen(published []Publish) (names []string) {
	open := map[string]bool{}
	for _, g := range c.groups {
		for _, a := range g.phase.Outstanding() {
			if a.Op == engine.Publish {
				open[g.name+"/"+a.ID] = true
			}
		}
	}
	for _, p := range published {
		delete(open, p.Name)
	}
	for name := range c.ended {
		if !open[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// over returns the groups that have ended.
func (c *Coordinator) over(now time.Time) (over []*group) {
	for _, g := range c.groups {
		if g.isOver(now) {
			over = append(over, g)
		}
	}
	return over
}

// remove removes groups that have ended. Their run times and trials are to be stored: those of a batch at once, and
// those of a stream soon.
func (c *Coordinator) remove(now time.Time, over []*group) {
	for _, g := range over {
		if c.o.OnEnd != nil {
			c.o.OnEnd(Summary{
				Kind: g.kind, Batch: g.batch, Ledger: g.phase.Ledger(), Journal: g.phase.Journal(), Bill: c.bill(g)(),
			})
		}
		g.phase.Close(now)
		g.phase.Release()
		c.untold[machinesKey], c.untold[kindPrefix+g.kind] = true, true
		if g.batch != "" {
			c.learned = time.Time{}
		}
	}
	c.groups = slices.DeleteFunc(c.groups, func(g *group) bool { return slices.Contains(over, g) })
}

// Close saves the state, and lets another process become the coordinator at once. Groups of jobs whose results are all
// there have ended, even if cancelled attempts still run. If this process is not the coordinator, Close does nothing.
func (c *Coordinator) Close(ctx context.Context, now time.Time) error {
	if c.epoch == 0 {
		return nil
	}
	var over []*group
	for _, g := range c.groups {
		if g.polled && g.phase.Done() && len(g.unsettled()) == 0 {
			over = append(over, g)
		}
	}
	commit := Commit{Epoch: c.epoch, State: c.marshal(over), Reset: c.reset}
	for _, g := range c.groups {
		if !g.taken { // the commit that took its jobs may have failed
			commit.Take = append(commit.Take, g.jobs...)
		}
	}
	c.epoch = 0
	if err := c.store.Commit(ctx, commit); err != nil {
		return err // the next coordinator ends the groups
	}
	c.remove(now, over)
	return c.learn(ctx, now, true)
}
