package riverplugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// client is a client of River that has the plugin, as its last beat says.
type client struct {
	Name        string
	Seen        time.Time
	Jobs, Slots int       // Slots is negative if the client has stopped
	heard       time.Time // when the coordinator first saw the last beat, by the clock of this process
	lost        bool
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
	Dead                       string    // why its attempt does not run any more; "" if it may run
	Acts                       bool      // its client and this coordinator both let only one attempt end it, or this is the shadow mode
	Listed                     bool      // the last beat of its client lists it
	Others                     bool      // another client lives that works its queue and could work a copy
	Share                      float64   // the reported share of its work
	Seen                       time.Time // when its client last beat
	copied                     mark
	name                       string // in the phase
}

func (r *row) runs() bool { return r.State == "running" }

// view is what a look has shown.
type view struct {
	now    time.Time
	idle   int // slots that no job uses or waits for
	rows   []*row
	copies map[string][]*row // the copies of each run
}

// overlap is how far the ends that a look reads reach back before the look before. A transaction that wrote an end may have
// taken so long.
const overlap = 3 * time.Second

// look reads what the clients say, which jobs run and which have ended. River's index of metadata finds copies. It also reads all
// rows that were inserted a moment ago. So look uses it only if there may be copies that are not known.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{copies: map[string][]*row{}}
	// The order makes the planner take River's index. Without it, the planner may read all old jobs before it finds one that
	// waits. EXISTS would drop the order.
	if err := c.p.own.QueryRow(ctx, c.p.in(`SELECT now(), CASE WHEN EXISTS (
		SELECT FROM (SELECT DISTINCT unnest(queues) AS queue FROM SCHEMA.straggler_client) AS worked, LATERAL (
			SELECT true FROM SCHEMA.river_job j
			WHERE state = 'available' AND j.queue = worked.queue AND scheduled_at <= now() - interval '50 ms'
			ORDER BY priority, scheduled_at, id LIMIT 1
		) AS waits WHERE NOT EXISTS (SELECT FROM SCHEMA.river_queue q WHERE q.name = worked.queue AND paused_at IS NOT NULL)
	) THEN 0 ELSE (
		SELECT coalesce(sum(greatest(slots - (SELECT count(*) FROM jsonb_object_keys(running)), 0)), 0) FROM SCHEMA.straggler_client
		WHERE seen > now() - $1::interval
	) END`), silence).Scan(&v.now, &v.idle); err != nil {
		return nil, err
	}
	clients, err := list[client](ctx, c, `SELECT client, coalesce(seen, 'epoch'),
		(SELECT count(*) FROM jsonb_object_keys(running)), coalesce(slots, 0)
		FROM SCHEMA.straggler_member LEFT JOIN SCHEMA.straggler_client USING (client)`)
	if err != nil {
		return nil, err
	}
	read := time.Now()
	// An attempt is dead if its client is lost. If another process has taken the name of its client, and the one before had not
	// listed the attempt, the present process may have fetched the row before its first beat, and will list it. If a client that lives
	// does not list a row for long, River's answer to a fetch was lost, or River has not written an end.
	v.rows, err = list[row](ctx, c, `
		WITH listed AS MATERIALIZED (
			SELECT client, own, (body->>'watched')::boolean AS watched, (body->>'share')::float8 AS share
			FROM SCHEMA.straggler_client, jsonb_each(running) AS o (own, body)
		)
		SELECT j.id, j.kind, queue, RUN, CASE state WHEN 'available' THEN 'queued' ELSE state::text END,
			attempt, coalesce(array_length(errors, 1), 0),
			(SELECT count(*) FROM unnest(errors) AS e WHERE e->>'error' LIKE 'straggler: rescued: it hangs%'), coalesce(attempted_at, now()),
			coalesce(attempted_by[array_upper(attempted_by, 1)], ''), coalesce(metadata->'straggler', '{}')::text,
			metadata ? 'cancel_attempted_at', ended, CASE WHEN $1 THEN args::text ELSE '' END,
			CASE WHEN state <> 'running' THEN '' WHEN m.client IS NULL THEN 'lacks the plugin' WHEN m.client = ANY($5) THEN 'is lost'
				WHEN l.own IS NOT NULL OR coalesce(b.seen < attempted_at + interval '1 s', true) THEN ''
				WHEN attempted_at < since AND b.seen > since + CASE WHEN before ? RUN THEN interval '2 s' ELSE '10 s' END
					THEN 'has another process now'
				WHEN now() - greatest(attempted_at, ended, pg_postmaster_start_time()) > interval '2 min' THEN 'lives and does not run it'
				ELSE '' END,
			coalesce(($6 OR guards && ARRAY[j.kind, '*']) AND NOT coalesce(l.watched, false), false), l.own IS NOT NULL,
			EXISTS (SELECT FROM SCHEMA.straggler_client o JOIN SCHEMA.straggler_member p USING (client) WHERE o.client <> m.client
				AND o.slots >= 0 AND j.queue = ANY(o.queues) AND ($6 OR p.guards && ARRAY[j.kind, '*']) AND NOT o.client = ANY($5)),
			coalesce(l.share, 0), coalesce(b.seen, 'epoch')
		FROM SCHEMA.river_job j LEFT JOIN SCHEMA.straggler_end e ON e.run = RUN
			LEFT JOIN SCHEMA.straggler_member m ON m.client = attempted_by[array_upper(attempted_by, 1)]
			LEFT JOIN SCHEMA.straggler_client b ON b.client = m.client LEFT JOIN listed l ON l.client = m.client AND l.own = RUN
		WHERE state = 'running' OR j.id = ANY($3) OR metadata ?| CASE WHEN $4 THEN ARRAY['straggler'] END
		UNION ALL
		SELECT job, kind, '', run, CASE WHEN by = job AND ok THEN 'succeeded' WHEN by IN (0, job) THEN 'failed' ELSE 'cancelled' END,
			0, 0, 0, began, '', '{}', false, ended, '', '', false, false, false, 0, 'epoch' FROM SCHEMA.straggler_end WHERE ended > $2
		UNION ALL
		SELECT by, kind, '', '', 'succeeded', 0, 0, 0, '0001-01-01 UTC', '',
			jsonb_build_object('job', job, 'run', run, 'name', copy)::text, false, ended, '', '', false, false, false, 0, 'epoch'
		FROM SCHEMA.straggler_end WHERE ended > $2 AND by NOT IN (0, job)
		ORDER BY 1`, c.p.sized, c.from, c.copies, c.unsure, c.judge(clients, read), c.p.options.Shadow)
	if err != nil {
		return nil, err
	}
	c.looked, c.from, c.copies = read, v.now.Add(-overlap), nil
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
// have been blind, since a look was late or failed, everybody's silence begins anew. It does so, too, but only once in 15 s, if most
// clients are silent at once: the fault may lie between the clients and the database. A client that is silent for half as long is quiet: it
// may be lost. Now is when the clients were read. It returns the names of the lost clients.
func (c *coordinator) judge(clients []*client, now time.Time) (lost []string) {
	blind := now.Sub(c.looked) > idleBeat+silence/5
	known := map[string]*client{}
	lost = []string{}
	for _, cl := range clients {
		before := c.clients[cl.Name]
		if before == nil {
			before = &client{}
		}
		cl.heard, cl.lost = before.heard, before.lost
		if !before.Seen.Equal(cl.Seen) || blind && !cl.lost {
			if cl.lost {
				c.p.options.Log.Info("riverplugin: a lost client is back", "client", cl.Name)
			}
			cl.heard, cl.lost = now, false
		}
		known[cl.Name] = cl
	}
	c.clients, c.quiet = known, nil
	silent := func(d time.Duration) (names []string, most bool) {
		known := 0
		for _, cl := range clients {
			if !cl.lost && cl.Slots >= 0 {
				if known++; now.Sub(cl.heard) >= d {
					names = append(names, cl.Name)
				}
			}
		}
		return names, len(names) > 1 && 2*len(names) > known
	}
	if names, most := silent(silence / 2); !most {
		c.quiet = names
	}
	fresh, most := silent(silence)
	if most && now.Sub(c.doubted) > 3*silence {
		c.p.options.Log.Warn("riverplugin: most clients are silent at once; their silence begins anew", "clients", len(fresh))
		c.doubted = now
		for _, cl := range clients {
			cl.heard = now
		}
		fresh = nil
	}
	for _, name := range fresh {
		cl, level := known[name], slog.LevelWarn
		if cl.lost = true; cl.Jobs == 0 {
			level = slog.LevelInfo // it may have stopped
		}
		c.p.options.Log.Log(context.Background(), level, "riverplugin: a client is lost",
			"client", name, "silent", now.Sub(cl.heard).Round(time.Millisecond), "jobs", cl.Jobs)
	}
	for _, cl := range clients {
		if cl.lost {
			lost = append(lost, cl.Name)
		}
	}
	return lost
}
