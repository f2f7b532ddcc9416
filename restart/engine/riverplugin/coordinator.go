package riverplugin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// coordinator decides for all clients, as long as it has the lease. It looks at the running jobs of the named kinds,
// tells them to the phase of their kind, and carries out what the phase asks for.
type coordinator struct {
	p      *Plugin
	line   *line
	active atomic.Bool  // jobs of named kinds run somewhere
	term   atomic.Int64 // the term of the lease; 0 if this process does not have it
	state
}

// state is what a coordinator knows. It begins anew with each term.
type state struct {
	of       int64            // the term
	machines *engine.Machines // with what earlier coordinators have learnt about each kind
	kinds    map[string]*kind
	at       time.Time        // of this turn, by the clock of this process
	looked   time.Time        // when the last look succeeded, by the same clock
	beats    map[string]heard // the beats of all clients
	doubted  time.Time        // when most clients were silent at once
	lost     map[string]bool  // clients that are lost
	quiet    []string         // clients that may be lost
	unsure   bool             // copies may exist that this coordinator does not know: see findCopies
	left     []int64          // such copies, until the next turn
	turns    int
	from     time.Time // ends of attempts before this time are known, by the clock of the database
	swept    time.Time // of the last removal of old rows
	sweeps   int
	strange  map[place]time.Time
	worked   map[place]bool       // the clients that have worked jobs of a queue
	shadow   map[string]*imagined // by kind, what the shadow mode would have done since the last line of the log
	told     time.Time
}

func newCoordinator(p *Plugin) *coordinator {
	return &coordinator{p: p, line: &line{config: p.pool.Config()}}
}

// elected sets the term of the lease. It is called by the goroutine of the beats.
func (c *coordinator) elected(term *int64) {
	if term == nil {
		c.term.Store(0)
		c.active.Store(false)
	} else {
		c.term.Store(*term)
	}
}

// run takes turns until ctx ends.
func (c *coordinator) run(ctx context.Context) {
	defer c.line.close()
	for {
		pause := c.p.options.Interval
		if term := c.term.Load(); term == 0 {
			c.of = 0
		} else if err := c.turn(ctx, term); err != nil && ctx.Err() == nil {
			c.p.options.Log.Warn("riverplugin: a turn of the coordinator failed", "error", err)
			pause = max(pause, time.Second/2)
		}
		if !c.active.Load() {
			pause = idleBeat
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// turn looks once and acts once.
func (c *coordinator) turn(ctx context.Context, term int64) error {
	if c.of != term {
		if err := c.begin(ctx, term); err != nil {
			return err
		}
	}
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	c.judgeClients(v)
	var todo orders
	c.tell(v, &todo)
	c.endOthers(v, &todo)
	c.orphans(v, &todo)
	if c.p.options.Shadow {
		c.imagine(&todo)
		c.report()
		return c.sweep(ctx, v)
	}
	if err := c.carryOut(ctx, term, &todo); err != nil {
		return err
	}
	return c.sweep(ctx, v)
}

// begin begins a term. What the coordinator before knew about kinds is in the database.
func (c *coordinator) begin(ctx context.Context, term int64) error {
	c.state = state{
		of: term, machines: new(engine.Machines), kinds: map[string]*kind{},
		beats: map[string]heard{}, lost: map[string]bool{}, strange: map[place]time.Time{}, shadow: map[string]*imagined{},
		worked: map[place]bool{}, unsure: true,
	}
	c.told = time.Now()
	if err := c.recall(ctx); err != nil {
		c.of = 0
		return err
	}
	c.p.options.Log.Info("riverplugin: this client coordinates", "client", c.p.name(), "term", term)
	return nil
}

// imagined is what the shadow mode would have done for the jobs of a kind.
type imagined struct {
	copies, rescues int
	such            string // one of the jobs
}

// would notes what the shadow mode would have done for an attempt of a job.
func (c *coordinator) would(kind string, copied bool, job int64, client, why string) {
	of := c.shadow[kind]
	if of == nil {
		of = &imagined{such: fmt.Sprintf(", such as job %d at client %s: %s", job, client, why)}
		c.shadow[kind] = of
	}
	if copied {
		of.copies++
	} else {
		of.rescues++
	}
}

// imagine notes the rescues that the shadow mode does not carry out, each once. A job that would have a copy would not be
// rescued as well.
func (c *coordinator) imagine(todo *orders) {
	for _, o := range todo.rescues {
		if t := c.kindOf(o.r.kind).tasks[o.r.id]; t != nil && !t.imagined {
			t.imagined = true
			c.would(o.r.kind, false, o.r.id, o.r.client, o.why)
		}
	}
}

// report writes to the log, once a minute, what the shadow mode would have done, and what is known about each kind.
func (c *coordinator) report() {
	if c.at.Sub(c.told) < time.Minute {
		return
	}
	c.told = c.at
	args := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		of := cmp.Or(c.shadow[name], new(imagined))
		longest, known := c.machines.Knowledge().Longest(name, 0)
		args = append(args, name, fmt.Sprintf("copies %d, rescues %d%s; the longest of %d known run times is %.3gs",
			of.copies, of.rescues, of.such, known, longest))
	}
	c.p.options.Log.Info("riverplugin: shadow mode: in the last minute there would have been", args...)
	clear(c.shadow)
}
