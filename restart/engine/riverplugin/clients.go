package riverplugin

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// notice notes when the beat of each client was last seen to change, by the clock of this process. If the coordinator
// itself may have been blind, everybody's silence begins anew: absence of evidence is not death. That is so if the look was
// late or took long. Now is when the look ended.
func (c *coordinator) notice(v *view, now time.Time) {
	c.at = now
	blind := c.looked.IsZero() || c.at.Sub(c.looked) > idleBeat+silence/5
	c.looked = c.at
	for name, cl := range v.clients {
		if h := c.beats[name]; blind && !c.lost[name] || !h.seen.Equal(cl.seen) {
			c.beats[name] = heard{cl.seen, c.at}
		}
	}
	maps.DeleteFunc(c.beats, func(name string, _ heard) bool { return v.clients[name] == nil })
	maps.DeleteFunc(c.lost, func(name string, _ bool) bool { return v.clients[name] == nil })
	maps.DeleteFunc(c.strange, func(_ place, when time.Time) bool { return v.now.Sub(when) > strangeFor })
	c.left, c.from = nil, v.now.Add(-overlap)
}

// overlap is how far the ends that a look reads reach back before the look before. A transaction that wrote an end may have
// taken so long.
const overlap = 3 * time.Second

// heard is the last beat of a client, and when the coordinator first saw it.
type heard struct{ seen, at time.Time }

// silent returns how long a client has been silent.
func (c *coordinator) silent(name string) time.Duration { return c.at.Sub(c.beats[name].at) }

// judgeClients finds out which clients are lost, and which have come back. If most clients are silent at once, the fault
// may lie between the clients and the database: then everybody's silence begins anew, once. A client that is silent for half
// as long is quiet: it may be lost.
func (c *coordinator) judgeClients(v *view) {
	var fresh []string
	known := 0
	for name, cl := range v.clients {
		switch {
		case cl.gone() && len(cl.running) == 0:
			continue
		case c.silent(name) > silence && !c.lost[name]:
			fresh = append(fresh, name)
		case c.silent(name) == 0 && c.lost[name]:
			delete(c.lost, name)
			c.p.options.Log.Info("riverplugin: a lost client is back", "client", name)
		}
		if !c.lost[name] {
			known++
		}
	}
	if len(fresh) > 1 && 2*len(fresh) > known && c.at.Sub(c.doubted) > 3*silence {
		c.p.options.Log.Warn("riverplugin: most clients are silent at once; their silence begins anew", "clients", len(fresh))
		c.doubted = c.at
		for name, h := range c.beats {
			c.beats[name] = heard{h.seen, c.at}
		}
		fresh = nil
	}
	slices.Sort(fresh)
	for _, name := range fresh {
		c.lost[name] = true
		level := slog.LevelWarn
		if len(v.clients[name].running) == 0 {
			level = slog.LevelInfo // it may have stopped
		}
		c.p.options.Log.Log(context.Background(), level, "riverplugin: a client is lost",
			"client", name, "silent", c.silent(name).Round(time.Millisecond), "jobs", len(v.clients[name].running))
	}
	c.quiet = nil
	for name, cl := range v.clients {
		if !cl.gone() && !c.lost[name] && c.silent(name) >= silence/2 {
			c.quiet = append(c.quiet, name)
		}
	}
	if len(c.quiet) > 1 && 2*len(c.quiet) > known {
		c.quiet = nil // as above
	}
	slices.Sort(c.quiet)
	for _, r := range v.rows {
		if r.known && r.copied.Job == 0 && !c.p.options.Shadow && !v.clients[r.client].guardsKind(r.kind) {
			r.isWatched = true
			continue
		}
		r.isLost = r.known && (c.lost[r.client] || v.clients[r.client].replaced(r))
	}
}

// place is a client at a queue.
type place struct{ queue, client string }

// meet notes a client without the plugin. Its jobs are never touched, and as long as it may be there, jobs of the queue
// get no copies: it could take a copy.
func (c *coordinator) meet(v *view, at place) {
	if _, met := c.strange[at]; !met {
		c.p.options.Log.Warn("riverplugin: a client lacks the plugin, so its queue gets no copies", "client", at.client, "queue", at.queue)
	}
	c.strange[at] = v.now
}

// mayCopy reports whether jobs of a queue may get copies now.
func (c *coordinator) mayCopy(queue string) bool {
	for at := range c.strange {
		if at.queue == queue {
			return false
		}
	}
	return true
}

// others reports whether another client lives that works the queue of a job, and could work a copy of the job.
func (v *view) others(c *coordinator, r *row) bool {
	for name, cl := range v.clients {
		if name != r.client && c.worked[place{r.queue, name}] && (c.p.options.Shadow || cl.guardsKind(r.kind)) && !cl.gone() && !c.lost[name] {
			return true
		}
	}
	return false
}
