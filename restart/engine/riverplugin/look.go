package riverplugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// client is a client of River that has the plugin, as its last beat says.
type client struct {
	Name    string
	Since   time.Time      // when the present process took the name from another; long ago if no other had it
	Before  map[string]any // by their names, the runs that the process before had listed
	Guards  []string       // the kinds in which it lets only one attempt end a job
	Seen    time.Time
	Slots   int
	Running map[string]attempt // by the runs of their rows
	Queues  []string           // those of which it has worked jobs

	heard time.Time // when the coordinator first saw the last beat, by the clock of this process
	lost  bool
}

// gone reports whether the client has stopped.
func (cl *client) gone() bool { return cl.Slots < 0 }

// actsAt reports whether this coordinator acts on jobs of a kind at a client: both must name the kind. If the client is in the
// shadow mode, only a coordinator in the shadow mode decides about its jobs.
func (c *coordinator) actsAt(cl *client, kind string) bool {
	_, named := c.p.options.of(kind)
	return named && (c.p.options.Shadow || slices.Contains(cl.Guards, kind) || slices.Contains(cl.Guards, AllKinds))
}

// row is the row of a job, or of a copy. The end of a run, which River may have written already, looks like a row, too.
type row struct {
	ID                         int64
	Kind, Queue, Run           string
	State                      string // as of the engine: queued, running, succeeded, failed or cancelled; another is one of River
	Attempt, Failures, Rescues int    // Rescues: since the job hung
	Begun                      time.Time
	Client                     string
	Mark                       []byte     // for a copy, what its metadata say
	Cancelled                  bool       // the user has asked to cancel the job
	Ended                      *time.Time // when the end of the run was claimed
	Args                       []byte
	copied                     mark
	name                       string // in the phase
	dead                       string // why its attempt does not run any more; "" if it may run
}

func (r *row) runs() bool { return r.State == "running" }

// view is what a look has shown.
type view struct {
	now     time.Time
	started time.Time // when Postgres began: the ends of runs before are not known
	idle    int       // slots that no job uses or waits for
	clients map[string]*client
	rows    []*row
	copies  map[string][]*row // the copies of each run
}

// overlap is how far the ends that a look reads reach back before the look before. A transaction that wrote an end may have
// taken so long.
const overlap = 3 * time.Second

// look reads what the clients say, which jobs run and which have ended. River's index of metadata finds copies. It also reads all
// rows that were inserted a moment ago. So look uses it only if there may be copies that are not known.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{clients: map[string]*client{}, copies: map[string][]*row{}}
	// The order makes the planner take River's index. Without it, the planner may read all old jobs before it finds one that
	// waits. EXISTS would drop the order.
	if err := c.p.own.QueryRow(ctx, c.p.in(`SELECT now(), pg_postmaster_start_time(), CASE WHEN EXISTS (
		SELECT FROM (SELECT DISTINCT unnest(queues) AS queue FROM SCHEMA.straggler_client) AS worked, LATERAL (
			SELECT true FROM SCHEMA.river_job j
			WHERE state = 'available' AND j.queue = worked.queue AND scheduled_at <= now() - interval '50 ms'
			ORDER BY priority, scheduled_at, id LIMIT 1
		) AS waits WHERE NOT EXISTS (SELECT FROM SCHEMA.river_queue q WHERE q.name = worked.queue AND paused_at IS NOT NULL)
	) THEN 0 ELSE (
		SELECT coalesce(sum(greatest(slots - (SELECT count(*) FROM jsonb_object_keys(running)), 0)), 0) FROM SCHEMA.straggler_client
		WHERE seen > now() - $1::interval
	) END`), silence).Scan(&v.now, &v.started, &v.idle); err != nil {
		return nil, err
	}
	clients, err := list[client](ctx, c, `SELECT client, since, before, guards, coalesce(seen, 'epoch'), coalesce(slots, 0),
		coalesce(running, '{}'), coalesce(queues, '{}') FROM SCHEMA.straggler_member LEFT JOIN SCHEMA.straggler_client USING (client)`)
	if err == nil {
		v.rows, err = list[row](ctx, c, `
			SELECT j.id, j.kind, queue, RUN, CASE state WHEN 'available' THEN 'queued' ELSE state::text END,
				attempt, coalesce(array_length(errors, 1), 0),
				(SELECT count(*) FROM unnest(errors) AS e WHERE e->>'error' LIKE 'straggler: rescued: it hangs%'), coalesce(attempted_at, now()),
				coalesce(attempted_by[array_upper(attempted_by, 1)], ''), coalesce(metadata->'straggler', '{}')::text,
				metadata ? 'cancel_attempted_at', ended, CASE WHEN $1 THEN args::text ELSE '' END
			FROM SCHEMA.river_job j LEFT JOIN SCHEMA.straggler_end e ON e.run = RUN
			WHERE state = 'running' OR j.id = ANY($3) OR metadata ?| CASE WHEN $4 THEN ARRAY['straggler'] END
			UNION ALL
			SELECT job, kind, '', run, CASE WHEN by = job AND ok THEN 'succeeded' WHEN by IN (0, job) THEN 'failed' ELSE 'cancelled' END,
				0, 0, 0, began, '', '{}', false, ended, '' FROM SCHEMA.straggler_end WHERE ended > $2
			UNION ALL
			SELECT by, kind, '', '', 'succeeded', 0, 0, 0, '0001-01-01 UTC', '',
				jsonb_build_object('job', job, 'run', run, 'name', copy)::text, false, ended, ''
			FROM SCHEMA.straggler_end WHERE ended > $2 AND by NOT IN (0, job)
			ORDER BY 1`, c.p.sized, c.from, c.copies, c.unsure)
	}
	if err != nil {
		return nil, err
	}
	c.from, c.copies = v.now.Add(-overlap), nil
	for _, cl := range clients {
		v.clients[cl.Name] = cl
	}
	for _, r := range v.rows {
		r.name = r.Run
		var m struct{ mark }
		if json.Unmarshal(r.Mark, &m) == nil && m.Job != 0 {
			// The phases of other terms have given names of the same form.
			r.copied, r.name = m.mark, strings.TrimPrefix(m.Name, fmt.Sprint(c.term, ":"))
			v.copies[r.copied.Run], c.copies = append(v.copies[r.copied.Run], r), append(c.copies, r.ID)
		}
	}
	return v, nil
}

// list reads rows of a table.
func list[T any](ctx context.Context, c *coordinator, sql string, args ...any) ([]*T, error) {
	rows, _ := c.p.own.Query(ctx, c.p.in(sql), args...) // CollectRows returns its error
	return pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[T])
}

// judge finds out which clients are lost, and which have come back. Absence of evidence is not death: if the coordinator itself may
// have been blind, since a look was late, everybody's silence begins anew. It does so, too, but only once, if most clients are
// silent at once: the fault may lie between the clients and the database. A client that is silent for half as long is quiet: it
// may be lost. Now is when the look ended.
func (c *coordinator) judge(v *view, now time.Time) {
	blind := now.Sub(c.looked) > idleBeat+silence/5
	for name, cl := range v.clients {
		before := c.clients[name]
		if before == nil {
			before = &client{}
		}
		cl.heard, cl.lost = before.heard, before.lost
		if !before.Seen.Equal(cl.Seen) || blind && !cl.lost {
			if cl.lost {
				c.p.options.Log.Info("riverplugin: a lost client is back", "client", name)
			}
			cl.heard, cl.lost = now, false
		}
	}
	c.looked, c.clients, c.quiet = now, v.clients, nil
	silent := func(d time.Duration) (names []string, most bool) {
		known := 0
		for _, name := range slices.Sorted(maps.Keys(v.clients)) {
			if cl := v.clients[name]; !cl.lost && !cl.gone() {
				if known++; now.Sub(cl.heard) >= d {
					names = append(names, name)
				}
			}
		}
		return names, len(names) > 1 && 2*len(names) > known
	}
	if names, most := silent(silence / 2); !most {
		c.quiet = names
	}
	fresh, most := silent(silence + 1)
	if most && now.Sub(c.doubted) > 3*silence {
		c.p.options.Log.Warn("riverplugin: most clients are silent at once; their silence begins anew", "clients", len(fresh))
		c.doubted = now
		for _, cl := range v.clients {
			cl.heard = now
		}
		fresh = nil
	}
	for _, name := range fresh {
		cl, level := v.clients[name], slog.LevelWarn
		if cl.lost = true; len(cl.Running) == 0 {
			level = slog.LevelInfo // it may have stopped
		}
		c.p.options.Log.Log(context.Background(), level, "riverplugin: a client is lost",
			"client", name, "silent", now.Sub(cl.heard).Round(time.Millisecond), "jobs", len(cl.Running))
	}
	for _, r := range v.rows {
		r.dead = v.dead(r)
	}
}

// dead says why the attempt of a row does not run any more; "" if it may run. If another process has taken the name of its client,
// and the one before had not listed the attempt, the present process may have fetched the row before its first beat, and will
// list it. If a client that lives does not list a row for long, River's answer to a fetch was lost, or River has not written an end.
func (v *view) dead(r *row) string {
	cl := v.clients[r.Client]
	if !r.runs() {
		return ""
	}
	if cl == nil {
		return "the client " + r.Client + " lacks the plugin"
	}
	wait, since := 2*silence, r.Begun
	if _, listed := cl.Before[r.Run]; listed {
		wait = 2 * idleBeat
	}
	if r.Ended != nil {
		since = *r.Ended
	}
	_, listed := cl.Running[r.Run]
	unlisted := !listed && cl.Seen.After(r.Begun.Add(time.Second))
	switch {
	case cl.lost:
		return "the client " + cl.Name + " is lost"
	case unlisted && r.Begun.Before(cl.Since) && cl.Seen.After(cl.Since.Add(wait)):
		return "another process has the name of the client " + cl.Name + " now"
	case unlisted && v.now.Sub(since) > flushed && v.now.Sub(v.started) > flushed:
		return "the client " + cl.Name + " lives and does not run it"
	}
	return ""
}
