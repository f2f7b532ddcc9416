package riverplugin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// coordinator decides for all clients, as long as it has the lease. It looks at the running jobs of the named kinds,
// tells them to the phase of their kind, and carries out what the phase asks for. It begins anew with each term of the lease.
type coordinator struct {
	p        *Plugin
	term     int64            // of the lease; 0 if this process does not have it
	machines *engine.Machines // with what earlier coordinators have learnt about each kind
	kinds    map[string]*kind
	active   bool                 // jobs of named kinds run somewhere
	todo     []order              // what this turn wants to change in the database
	copies   []int64              // that the last look has shown
	unsure   bool                 // there may be others
	looked   time.Time            // when the last look succeeded, by the clock of this process
	watches  map[string]*watch    // of all clients
	doubted  time.Time            // when most clients were silent at once
	quiet    []string             // clients that may be lost
	strange  map[string]time.Time // by queue, when a client without the plugin was seen
	from     time.Time            // ends of attempts before this time are known, by the clock of the database
	swept    time.Time            // of the last removal of old rows
	told     time.Time            // of the last line of the shadow mode
}

// turn looks once and acts once.
func (c *coordinator) turn(term int64) (err error) {
	if term == 0 {
		c.term, c.active = 0, false
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if c.term != term {
		if err = c.begin(ctx, term); err != nil {
			return err
		}
	}
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	c.judge(v, time.Now())
	c.tell(v)
	if c.p.options.Shadow {
		c.report()
	} else {
		err = c.carryOut(ctx)
	}
	if err == nil && v.now.Sub(c.swept) > sweepEvery {
		c.swept = v.now
		err = c.sweep(ctx)
	}
	return err
}

// begin begins a term, with what earlier coordinators have learnt about each kind.
func (c *coordinator) begin(ctx context.Context, term int64) error {
	var data []byte
	if err := c.p.own.QueryRow(ctx, c.p.in(`SELECT known FROM SCHEMA.straggler_lease WHERE name = $1`), c.p.lease).Scan(&data); err != nil {
		return err
	}
	*c = coordinator{
		p: c.p, term: term, machines: new(engine.Machines), kinds: map[string]*kind{},
		watches: map[string]*watch{}, strange: map[string]time.Time{}, told: time.Now(), unsure: true,
	}
	know := c.machines.Knowledge()
	if err := know.UnmarshalBinary(data); err != nil && data != nil {
		c.p.options.Log.Warn("riverplugin: what was learnt about kinds can't be read, and begins anew", "error", err)
	}
	record := know.Machines() // nil if a later release has saved none
	for number := 0; record != nil && record.Len() > 0 && number < record.Config().MaxMachines; number++ {
		record.Forget(number) // the numbers of the clients are those of another term
	}
	c.p.options.Log.Info("riverplugin: this client coordinates", "client", c.p.client, "term", term)
	return nil
}

// watch says when the coordinator first saw the last beat of a client, by the clock of this process.
type watch struct {
	beat, seen time.Time
	lost       bool
}

// judge finds out which clients are lost, and which have come back. Absence of evidence is not death: if the coordinator itself may
// have been blind, since a look was late, everybody's silence begins anew. It does so, too, but only once, if most clients are
// silent at once: the fault may lie between the clients and the database. A client that is silent for half as long is quiet: it
// may be lost. Now is when the look ended.
func (c *coordinator) judge(v *view, now time.Time) {
	blind := now.Sub(c.looked) > idleBeat+silence/5
	c.looked, c.quiet = now, nil
	maps.DeleteFunc(c.watches, func(name string, _ *watch) bool { return v.clients[name] == nil })
	var fresh []string
	known := 0
	for _, name := range slices.Sorted(maps.Keys(v.clients)) {
		cl, w := v.clients[name], c.watches[name]
		if w == nil {
			w = &watch{}
			c.watches[name] = w
		}
		if beats := !w.beat.Equal(cl.Seen); beats || blind && !w.lost {
			if beats && w.lost {
				c.p.options.Log.Info("riverplugin: a lost client is back", "client", name)
			}
			*w = watch{beat: cl.Seen, seen: now}
		}
		cl.watch, cl.silent = w, now.Sub(w.seen)
		if w.lost || cl.gone() {
			continue
		}
		known++
		if cl.silent > silence {
			fresh = append(fresh, name)
		}
		if cl.silent >= silence/2 {
			c.quiet = append(c.quiet, name)
		}
	}
	if len(fresh) > 1 && 2*len(fresh) > known && now.Sub(c.doubted) > 3*silence {
		c.p.options.Log.Warn("riverplugin: most clients are silent at once; their silence begins anew", "clients", len(fresh))
		c.doubted = now
		for _, w := range c.watches {
			w.seen = now
		}
		fresh = nil
	}
	if len(c.quiet) > 1 && 2*len(c.quiet) > known {
		c.quiet = nil // as above
	}
	for _, name := range fresh {
		cl, level := v.clients[name], slog.LevelWarn
		if cl.lost = true; len(cl.Running) == 0 {
			level = slog.LevelInfo // it may have stopped
		}
		c.p.options.Log.Log(context.Background(), level, "riverplugin: a client is lost",
			"client", name, "silent", cl.silent.Round(time.Millisecond), "jobs", len(cl.Running))
	}
}

// meet notes a client without the plugin that works a row. Its jobs are never touched, and as long as it may be there, jobs of the
// queue get no copies: it could take a copy.
func (c *coordinator) meet(v *view, r *row) {
	if v.now.Sub(c.strange[r.Queue]) > strangeFor {
		c.p.options.Log.Warn("riverplugin: a client lacks the plugin, so its queue gets no copies", "client", r.Client, "queue", r.Queue)
	}
	c.strange[r.Queue] = v.now
}

// report writes to the log, once a minute, what the shadow mode would have done, one thing for each run of a job, and what is
// known about each kind.
func (c *coordinator) report() {
	for _, o := range c.todo {
		if o.t == nil || o.t.imagined {
			continue
		}
		o.t.imagined = true
		k := c.kindOf(o.r.Kind)
		if k.imagined[o.verb]++; k.such == "" {
			k.such = fmt.Sprintf(", such as job %d at client %s: %s", o.r.ID, o.r.Client, o.why)
		}
	}
	if c.looked.Sub(c.told) < time.Minute {
		return
	}
	c.told = c.looked
	args := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		k := c.kinds[name]
		longest, known := c.machines.Knowledge().Longest(name, 0)
		args = append(args, name, fmt.Sprintf("copies %d, rescues %d%s; the longest of %d known run times is %.3gs",
			k.imagined[copies], k.imagined[rescues], k.such, known, longest))
		k.imagined, k.such = [drops]int{}, ""
	}
	c.p.options.Log.Info("riverplugin: shadow mode: in the last minute there would have been", args...)
}
