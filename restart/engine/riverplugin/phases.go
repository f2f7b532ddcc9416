package riverplugin

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// place is a client at a queue.
type place struct{ queue, client string }

// kind is a kind of jobs, and its phase. Each run of a job is a task of the phase.
type kind struct {
	Kind
	name    string
	phase   *engine.Phase
	tasks   map[string]*task // by the runs
	numbers map[int]*task
	told    []engine.Attempt // what the next poll tells the phase
	// In the shadow mode, since the last line of the log: the number of orders, and one of them.
	imagined [drops]int
	such     string
}

// task is a run of a job: it goes on, or the coordinator has seen its end a moment ago.
type task struct {
	number  int
	r       *row    // as the last look has shown it
	seen    bool    // in this turn
	overdue float64 // the age in seconds at which it hangs; 0: not yet known
	copied  bool    // it has got a copy; in the shadow mode, it would have been copied or rescued
}

// These numbers are choices.
const (
	// A job is rescued when it has run for this number of times the longest known run time of its kind.
	ageTimes = 4
	// This time doubles with each rescue of the job that hung, at most so often.
	mostDoublings = 20
	// An ended job counts for the phase of its kind for this time.
	recent = 10 * time.Minute
	// Jobs that began and ended between two looks are learnt from, unless the phase has more tasks than this.
	mostLearnt = 1000
	// The phase of a kind is replaced after so many tasks: it can have 2^30.
	mostAdded = 1 << 29
	// No copies are made for this time after a client without the plugin was seen.
	strangeFor = 5 * time.Minute
)

// kindOf returns the kind of a name. It makes the phase of the kind when the first of its jobs is seen.
func (c *coordinator) kindOf(name string) *kind {
	if k := c.kinds[name]; k != nil {
		return k
	}
	k := &kind{name: name, tasks: map[string]*task{}, numbers: map[int]*task{}}
	k.Kind, _ = c.p.options.of(name)
	config := engine.Config{
		Recent: recent, EngineRetries: true, Stream: true, Interval: c.p.options.Interval,
		Machines: c.machines, Kind: name, Patience: ageTimes, Limits: restart.Limits{Restarts: restart.Off},
	}
	if c.p.options.Shadow {
		config.Shadow = func(number int, d restart.Decision) {
			if t := k.numbers[number]; t != nil {
				c.todo = append(c.todo, order{verb: copies, r: t.r, t: t, why: d.Sentence()})
			}
		}
	}
	k.phase, _ = engine.New(config) // the configuration is the plugin's own, and right
	c.kinds[name] = k
	return k
}

// task returns the task of a run, and adds it to the phase if it is new. It lists the copies of the run.
func (k *kind) task(v *view, r *row) *task {
	t := k.tasks[r.Run]
	if t == nil {
		t = &task{number: k.phase.Add(k.work(r))}
		k.tasks[r.Run], k.numbers[t.number] = t, t
	}
	t.r, t.seen = r, true
	for _, of := range v.copies[r.Run] {
		k.list(t, of)
	}
	return t
}

// work returns the size of a job, or -1 if it is not known.
func (k *kind) work(r *row) float64 {
	if k.Work != nil {
		if w := k.Work(r.Args); w > 0 {
			return w
		}
	}
	return -1
}

// tell tells the phases of the kinds what a look has shown, and collects what they ask for.
func (c *coordinator) tell(v *view) {
	c.todo, c.active = nil, false
	maps.DeleteFunc(c.strange, func(_ place, seen time.Time) bool { return v.now.Sub(seen) > strangeFor })
	goesOn := map[string]bool{} // by the runs of jobs
	for _, r := range v.rows {
		switch _, named := c.p.options.of(r.Kind); {
		case r.copied.Job != 0:
		case r.Ended != nil && !r.runs():
			if named {
				c.ended(v, r)
			}
		case c.clients[r.Client] == nil: // its jobs are never touched
			at := place{r.Queue, r.Client}
			if c.strange[at].IsZero() {
				c.p.options.Log.Warn("riverplugin: a client lacks the plugin, so its queue gets no copies", "client", r.Client, "queue", r.Queue)
			}
			c.strange[at] = v.now
		case named && r.Acts:
			c.running(v, r)
			fallthrough
		default:
			goesOn[r.Run] = r.Ended == nil
		}
	}
	for run, all := range v.copies {
		for _, r := range all {
			if r.State != "succeeded" && (!goesOn[run] || r.Dead != "" || !r.runs() && r.State != "queued") {
				c.todo = append(c.todo, order{verb: drops, r: r})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		c.poll(v, c.kinds[name])
	}
}

// list adds a row to what the next poll tells the phase.
func (k *kind) list(t *task, r *row) {
	a := engine.Attempt{ID: r.name, Task: t.number, Machine: r.Client, Begun: r.Begun}
	if a.State.UnmarshalText([]byte(r.State)) != nil {
		return // a client without the plugin has ended a copy
	}
	if r.Share > 0 {
		a.Progress, a.AsOf = tracker.Report{Score: r.Share}, r.Seen
	}
	if r.Ended != nil {
		a.Ended, a.Published = *r.Ended, a.State == engine.Succeeded
	}
	if r.Dead != "" {
		a.State = engine.Lost
	}
	k.told = append(k.told, a)
}

// ended lists the end of a run. The phase also learns from a run that began and ended between two looks, unless the jobs of the
// kind have sizes: that of a job that has ended is not known.
func (c *coordinator) ended(v *view, r *row) {
	if k := c.kindOf(r.Kind); k.tasks[r.Run] != nil || r.State == "succeeded" && k.Work == nil && len(k.tasks) < mostLearnt {
		k.list(k.task(v, r), r)
	}
}

// running lists a job that runs at a client with the plugin. It orders what the phase does not ask for: a rescue if the attempt has
// died, or if it hangs, and before that a copy, if the job may have one. A copy costs the job no attempt, no back-off, and no place
// in the queue. A job that hangs is rescued if the copy fails, or is not ready when the job has run for twice as long. A client that
// is silent may be lost: its jobs do not hang, and get a copy, too. So do jobs that it has fetched since its last beat. If a client
// is lost, its job is left to a copy that runs elsewhere.
func (c *coordinator) running(v *view, r *row) {
	c.active = true
	if r.Ended != nil { // River has not yet written the end
		if r.Dead != "" && v.now.Sub(*r.Ended) > 2*silence {
			c.todo = append(c.todo, order{verb: rescues, r: r, why: "the attempt that ended the job has died"})
		}
		return
	}
	k := c.kindOf(r.Kind)
	t, all, quiet := k.task(v, r), v.copies[r.Run], slices.Contains(c.quiet, r.Client)
	may := k.Copies && r.Others && !r.Cancelled && !c.strangers(r.Queue) && (r.Listed || quiet)
	k.phase.SetEligible(t.number, may, false)
	age, silent := v.now.Sub(r.Begun).Seconds(), c.looked.Sub(c.clients[r.Client].heard)
	late := t.overdue > 0 && age >= 2*t.overdue
	hangs := t.overdue > 0 && age >= t.overdue && r.Listed && silent < silence/2
	if !late && slices.ContainsFunc(all, func(of *row) bool { return of.runs() && of.Dead == "" }) {
		r.Dead = ""
	}
	may = may && len(all) == 0 && !t.copied
	o := order{verb: copies, r: r, t: t, name: "copy of " + r.Run, avoid: c.quiet}
	if r.Dead != "" || hangs && !may && (late || len(all) == 0) {
		o.verb, may = rescues, true
	}
	if r.Dead != "" {
		o.why = fmt.Sprintf("the client %s %s", r.Client, r.Dead)
	} else if hangs {
		longest, known := c.machines.Knowledge().Longest(r.Kind, max(k.work(r), 0))
		o.why = fmt.Sprintf("it hangs: it has run for %.3gs, and the longest of %d known jobs of its kind took %.3gs", age, known, longest)
	} else if quiet {
		o.why = fmt.Sprintf("its client %s may be lost: it has been silent for %.3gs", r.Client, silent.Seconds())
	}
	if may && o.why != "" {
		c.todo = append(c.todo, o)
	}
	k.list(t, r)
}

// strangers reports whether a client without the plugin may be there, which could take a copy of a job of the queue.
func (c *coordinator) strangers(queue string) bool {
	for at := range c.strange {
		if at.queue == queue && c.clients[at.client] == nil {
			return true
		}
	}
	return false
}

// poll tells the phase of a kind what was listed, and that everything has failed that is not there any more, and turns its actions
// into orders. Then it forgets the runs that have ended.
func (c *coordinator) poll(v *view, k *kind) {
	there, open := map[string]bool{}, 0
	for _, a := range k.told {
		there[a.ID] = true
		if a.State <= engine.Running {
			open++
		}
	}
	for _, a := range k.phase.Attempts() {
		if a.State <= engine.Running && !there[a.ID] && !(a.State == engine.Queued && c.unsure) {
			k.told = append(k.told, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Failed})
		}
	}
	k.phase.SetSlots(open + v.idle)
	for _, a := range k.phase.Poll(v.now, k.told).Actions {
		if t := k.numbers[a.Task]; t != nil {
			c.act(v, k, t, a)
		}
	}
	k.told = k.told[:0]
	for run, t := range k.tasks {
		if !t.seen {
			k.phase.Forget(t.number)
			delete(k.tasks, run)
			delete(k.numbers, t.number)
		}
		if t.seen = false; t.number > mostAdded {
			delete(c.kinds, k.name)
		}
	}
}

// act turns an action of a phase into an order. A job that hangs is the business of the next turn.
func (c *coordinator) act(v *view, k *kind, t *task, a engine.Action) {
	switch {
	case a.Op == engine.Submit:
		name := fmt.Sprint(c.term, ":", a.ID)
		c.todo = append(c.todo, order{verb: copies, r: t.r, t: t, name: name, avoid: a.Avoid, why: a.Decision.Sentence()})
	case a.ID != t.r.Run:
		for _, of := range v.copies[t.r.Run] {
			if of.name == a.ID {
				c.todo = append(c.todo, order{verb: drops, r: of})
			}
		}
	case a.Decision.Reason == restart.Overdue && t.overdue == 0:
		t.overdue = math.Ldexp(v.now.Sub(t.r.Begun).Seconds(), min(t.r.Rescues, mostDoublings))
	}
}
