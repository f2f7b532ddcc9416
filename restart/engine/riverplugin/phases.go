package riverplugin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// kind is a kind of jobs, and its phase. Each running job is a task of the phase.
type kind struct {
	Kind
	name   string
	phase  *engine.Phase
	tasks  map[int64]*task // by the ids of the jobs
	jobs   map[int]*task   // by the numbers of the tasks
	list   []engine.Attempt
	unable []engine.Attempt  // copies that could not be made, for the next poll
	unwant map[int64]bool    // rows of copies that the phase has cancelled
	forget []int             // tasks that are over when they are added
	fresh  int               // jobs learnt from since the last poll
	added  int               // tasks of the phase so far
	learnt map[run]time.Time // runs that had ended when they were first seen
}

// task is a job that runs, or that ran and may run again.
type task struct {
	number int
	run    run              // the run that was seen last
	hung   bool             // a run of the job was taken as hung: the next may take longer
	over   bool             // the phase knows that this run has ended
	copies map[string]int64 // the rows of its copies, by their names in the phase
	asked  string           // the name in the phase of a copy that may have been made: the answer was lost

	// The rest is about this run.
	client   string
	overdue  time.Duration // the age at which the phase took it as hung; 0: not yet
	urgent   bool          // it has got a copy since it hangs, or since its client may be lost
	imagined bool          // the shadow mode would have copied or rescued it
}

// These numbers are choices.
const (
	// A job is rescued when it has run for this number of times the longest known run time of its kind.
	ageTimes = 4
	// An ended job counts for the phase of its kind for this time.
	recent = 10 * time.Minute
	// So many jobs of a kind that began and ended between two looks are learnt from, each look.
	mostLearnt = 8
	// The phase of a kind is replaced after so many tasks: it can have 2^30.
	mostAdded = 1 << 29
	// So many jobs of a kind that wait for their next run are kept since they hung: that run may take twice as long.
	mostHung = 1000
	// No copies are made for this time after a client without the plugin was seen.
	strangeFor = 5 * time.Minute
)

// kindOf returns the kind of a name. It makes the phase of the kind when the first of its jobs is seen.
func (c *coordinator) kindOf(name string) *kind {
	if k := c.kinds[name]; k != nil {
		return k
	}
	choice, _ := c.p.options.of(name)
	k := &kind{
		Kind: choice, name: name, tasks: map[int64]*task{}, jobs: map[int]*task{},
		unwant: map[int64]bool{}, learnt: map[run]time.Time{},
	}
	config := engine.Config{
		Recent: recent, EngineRetries: true, Stream: true, Interval: c.p.options.Interval,
		Machines: c.machines, Kind: name, Patience: ageTimes, Limits: restart.Limits{Restarts: restart.Off},
	}
	if !choice.Copies {
		config.Policy = restart.Never{}
	}
	if c.p.options.Shadow {
		config.Shadow = func(number int, d restart.Decision) {
			if t := k.jobs[number]; t != nil {
				k.imagine(c, t, d.Sentence())
			}
		}
	}
	var err error
	if k.phase, err = engine.New(config); err != nil {
		panic(fmt.Sprintf("riverplugin: %v", err)) // the configuration is the plugin's own
	}
	c.kinds[name] = k
	return k
}

// jobName is the name of a run in the phase. The phase's own names do not begin with a letter.
func jobName(j run) string { return "job " + j.String() }

// copyName is the name of a copy in the phase that the phase has not asked for.
func copyName(row int64) string { return fmt.Sprint("copy ", row) }

// tell tells the phases of the kinds what a look has shown, and collects what they ask for.
func (c *coordinator) tell(v *view, todo *orders) {
	active := false
	for _, id := range slices.Sorted(maps.Keys(v.rows)) {
		r := v.rows[id]
		switch _, named := c.p.options.of(r.kind); {
		case !named || r.copied.Job != 0:
		case r.runs() && !r.known:
			c.meet(v, place{r.queue, r.client})
		case r.runs():
			active = true
			c.worked[place{r.queue, r.client}] = true
			k := c.kindOf(r.kind)
			k.running(c, v, r, todo)
		}
	}
	c.active.Store(active)
	for j, e := range v.ends {
		if _, named := c.p.options.of(e.kind); named && e.by == j.id && e.ok && e.ended.After(c.from) {
			c.kindOf(e.kind).learn(j, e)
		}
	}
	idle := 0
	for name, cl := range v.clients {
		if !v.waiting && !c.lost[name] && !cl.gone() {
			idle += max(cl.slots-cl.busy, 0)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		k := c.kinds[name]
		c.poll(v, k, idle, todo)
		if k.added > mostAdded {
			delete(c.kinds, name)
		}
	}
}

// add adds a task to the phase.
func (k *kind) add(work float64) int {
	k.added++
	return k.phase.Add(work)
}

// work returns the size of a job, or -1 if it is not known.
func (k *kind) work(r *row) float64 {
	if k.Work != nil {
		if w := k.Work(r.args); w > 0 {
			return w
		}
	}
	return -1
}

// hangs says why a job is rescued that its phase takes as hung.
func (k *kind) hangs(know *tracker.Knowledge, v *view, r *row) string {
	longest, known := know.Longest(k.name, max(k.work(r), 0))
	return fmt.Sprintf("it hangs: it has run for %.3gs, and the longest of %d known jobs of its kind took %.3gs",
		v.now.Sub(r.begun).Seconds(), known, longest)
}

// task returns the task of a job, and adds it to the phase if it is new.
func (k *kind) task(r *row) *task {
	t := k.tasks[r.id]
	if t == nil {
		t = &task{number: k.add(k.work(r)), run: r.run(), copies: map[string]int64{}}
		k.tasks[r.id], k.jobs[t.number] = t, t
	}
	return t
}

// running lists a job that runs at a client with the plugin.
func (k *kind) running(c *coordinator, v *view, r *row, todo *orders) {
	t := k.task(r)
	j := r.run()
	if t.run != j {
		k.ended(v, t, nil)
		*t = task{number: t.number, run: j, copies: t.copies, hung: t.hung}
	}
	t.client = r.client
	if _, claimed := v.ends[j]; claimed {
		k.ended(v, t, r)
	}
	if t.over && !r.isLost {
		return // River has not yet written the end
	}
	may := k.Copies && !r.hasReturned && !r.isWatched && !r.cancelled && v.others(c, r) && c.mayCopy(r.queue)
	k.phase.SetEligible(t.number, may, false)
	a := engine.Attempt{
		ID: jobName(j), Task: t.number, State: engine.Running, Machine: r.client, Begun: r.begun,
		Progress: tracker.Report{Score: r.progress}, AsOf: r.progressAt,
	}
	if r.progress == 0 {
		a.AsOf = time.Time{}
	}
	if r.isLost && !k.leaves(v, t, r) {
		a.State, t.over = engine.Lost, true
		why := "the client " + r.client + " is lost"
		if !c.lost[r.client] {
			why = "another process has the name of the client " + r.client + " now"
		}
		todo.rescues = append(todo.rescues, order{r: r, why: why})
	} else if t.overdue > 0 && !r.hasReturned {
		k.hung(c, v, t, r, may, todo)
	} else if may && !t.urgent && len(t.copies) == 0 && slices.Contains(c.quiet, r.client) {
		why := fmt.Sprintf("its client %s may be lost: it has been silent for %.3gs", r.client, c.silent(r.client).Seconds())
		k.urge(c, t, order{r: r, k: k, avoid: c.quiet, why: why}, todo)
	}
	k.list = append(k.list, a)
}

// leaves reports whether the kind leaves a job whose client is lost to its copy: the copy runs at a client that lives. A rescue
// would end the copy, and cost the job an attempt and a back-off.
func (k *kind) leaves(v *view, t *task, r *row) bool {
	if t.overdue > 0 && v.now.Sub(r.begun) >= 2*t.overdue {
		return false
	}
	for _, id := range t.copies {
		if of := v.rows[id]; of != nil && of.runs() && of.known && !of.isLost {
			return true
		}
	}
	return false
}

// hung orders what is done about a job that hangs. If it may have a copy, it gets one: a copy costs the job no attempt, no
// back-off, and no place in the queue. It is rescued if the copy fails, or is not ready when the job has run for twice as long.
// A client that is silent may be lost. Then its jobs do not hang.
func (k *kind) hung(c *coordinator, v *view, t *task, r *row, may bool, todo *orders) {
	switch {
	case r.isWatched || c.silent(r.client) >= silence/2:
	case may && !t.urgent && len(t.copies) == 0:
		k.urge(c, t, order{r: r, k: k, avoid: []string{r.client}, why: k.hangs(c.machines.Knowledge(), v, r)}, todo)
	case len(t.copies) > 0 && v.now.Sub(r.begun) < 2*t.overdue:
	default:
		todo.rescues = append(todo.rescues, order{r: r, why: k.hangs(c.machines.Knowledge(), v, r)})
	}
}

// urge orders a copy that the phase has not asked for. A run gets one such copy.
func (k *kind) urge(c *coordinator, t *task, o order, todo *orders) {
	if c.p.options.Shadow {
		t.urgent = true
		k.imagine(c, t, o.why)
		return
	}
	todo.copies = append(todo.copies, o)
}

// imagine notes a copy that the shadow mode does not make.
func (k *kind) imagine(c *coordinator, t *task, why string) {
	if !t.imagined {
		t.imagined = true
		c.would(k.name, true, t.run.id, t.client, why)
	}
}

// ended lists the end of the attempt of a job that was seen last, and of the copy that has ended it, if any. R is the row
// of the job, or nil if another attempt of the job runs or the row is gone.
func (k *kind) ended(v *view, t *task, r *row) {
	if t.over {
		return
	}
	t.over = true
	j := t.run
	a := engine.Attempt{ID: jobName(j), Task: t.number, State: engine.Failed}
	e, claimed := v.ends[j]
	switch {
	case claimed && e.by == j.id:
		a.Ended = e.ended
		if e.ok {
			a.State, a.Published = engine.Succeeded, true
		}
	case claimed && e.by != 0:
		a.State, a.Ended = engine.Cancelled, e.ended
		for name, id := range t.copies {
			if id == e.by {
				k.list = append(k.list, engine.Attempt{
					ID: name, Task: t.number, State: engine.Succeeded, Ended: e.ended, Published: true,
				})
				delete(t.copies, name)
			}
		}
	case !claimed && r != nil && r.state == "completed":
		a.State, a.Published = engine.Succeeded, true
	case !claimed && r != nil && (r.state == "scheduled" || r.state == "cancelled"):
		a.State = engine.Cancelled
	}
	k.list = append(k.list, a)
}

// learn learns from an attempt that began and ended between two looks. In a kind whose jobs have sizes it does not: the size of
// a job that has ended is not known.
func (k *kind) learn(j run, e ending) {
	if _, done := k.learnt[j]; done || k.Work != nil {
		return
	}
	k.learnt[j] = e.ended
	if k.tasks[j.id] != nil {
		return // the phase learns from the task
	}
	if k.fresh++; k.fresh > mostLearnt {
		return
	}
	number := k.add(-1)
	k.list = append(k.list, engine.Attempt{
		ID: jobName(j), Task: number, State: engine.Succeeded, Begun: e.began, Ended: e.ended, Published: true,
	})
	k.forget = append(k.forget, number)
}

// poll tells the phase of a kind what was listed, and turns its actions into orders. Idle is the number of slots that no
// job uses or waits for.
func (c *coordinator) poll(v *view, k *kind, idle int, todo *orders) {
	running := 0
	for _, id := range slices.Sorted(maps.Keys(k.tasks)) {
		t := k.tasks[id]
		r := v.rows[id]
		if r == nil || !r.runs() {
			k.ended(v, t, r)
		} else if !t.over {
			running++
		}
		for _, of := range v.copies[t.run] {
			if !slices.Contains(slices.Collect(maps.Values(t.copies)), of.id) {
				t.copies[cmp.Or(t.asked, copyName(of.id))] = of.id // without asked, an earlier coordinator has made it
				t.asked = ""
			}
		}
		for _, name := range slices.Sorted(maps.Keys(t.copies)) {
			running += k.listCopy(v, t, name, todo)
		}
	}
	k.list = append(k.list, k.unable...)
	k.unable = k.unable[:0]
	k.phase.SetSlots(running + idle)
	for _, a := range k.phase.Poll(v.now, k.list).Actions {
		c.act(v, k, a, todo)
	}
	k.list = k.list[:0]
	k.clean(v)
}

// listCopy lists a copy, and returns 1 if it has a slot.
func (k *kind) listCopy(v *view, t *task, name string, todo *orders) int {
	id := t.copies[name]
	a := engine.Attempt{ID: name, Task: t.number, State: engine.Failed}
	switch r := v.rows[id]; {
	case r == nil || r.final():
		delete(t.copies, name)
	case !r.runs():
		a.State = engine.Queued
	case r.isLost:
		a.State = engine.Lost
		todo.drops = append(todo.drops, id)
		delete(t.copies, name)
	default:
		a.State, a.Machine, a.Begun = engine.Running, r.client, r.begun
		if a.Progress.Score = r.progress; r.progress > 0 {
			a.AsOf = r.progressAt
		}
	}
	k.list = append(k.list, a)
	if a.State == engine.Running || a.State == engine.Queued {
		return 1
	}
	return 0
}

// act turns an action of a phase into an order. A job that hangs is the business of the next turn: see [kind.hung].
func (c *coordinator) act(v *view, k *kind, a engine.Action, todo *orders) {
	t := k.jobs[a.Task]
	if t == nil {
		return
	}
	r := v.rows[t.run.id]
	switch a.Op {
	case engine.Submit:
		o := order{r: r, k: k, task: a.Task, id: a.ID, avoid: a.Avoid, why: a.Decision.Sentence()}
		if r == nil || !r.runs() || c.p.options.Shadow {
			k.refuse(o)
			return
		}
		todo.copies = append(todo.copies, o)
	case engine.Cancel:
		if id, is := t.copies[a.ID]; is {
			k.unwant[id] = true
			return
		}
		if r != nil && a.Decision.Reason == restart.Overdue && a.ID == jobName(t.run) && t.overdue == 0 {
			t.overdue, t.hung = v.now.Sub(r.begun), true
		}
	case engine.Publish:
		k.phase.Published(a.ID)
	}
}

// refuse tells the phase at the next poll that a copy was not made.
func (k *kind) refuse(o order) {
	if o.id == "" {
		return
	}
	k.unable = append(k.unable, engine.Attempt{ID: o.id, Task: o.task, State: engine.Failed})
}

// clean forgets the jobs that have ended, and what is known about rows that are gone.
func (k *kind) clean(v *view) {
	for _, number := range k.forget {
		k.phase.Forget(number)
	}
	k.forget, k.fresh = k.forget[:0], 0
	hung := 0
	for id, t := range k.tasks {
		r := v.rows[id]
		if !t.over || len(t.copies) > 0 || r != nil && r.runs() {
			continue
		}
		if t.hung && r != nil && !r.final() {
			hung++ // a rescue has put it back
		}
		if !t.hung || r == nil || r.final() || hung > mostHung {
			k.phase.Forget(t.number)
			delete(k.tasks, id)
			delete(k.jobs, t.number)
		}
	}
	for id := range k.unwant {
		if v.rows[id] == nil {
			delete(k.unwant, id)
		}
	}
	for j, at := range k.learnt {
		if v.now.Sub(at) > 5*silence {
			delete(k.learnt, j)
		}
	}
}
