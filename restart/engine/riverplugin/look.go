package riverplugin

import (
	"context"
	"encoding/json"
	"slices"
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

	*watch
	silent time.Duration
}

// gone reports whether the client has stopped.
func (cl *client) gone() bool { return cl.Slots < 0 }

// guards reports whether this coordinator acts on jobs of a kind at a client: both must name the kind. If the client is in the
// shadow mode, only a coordinator in the shadow mode decides about its jobs.
func (c *coordinator) guards(cl *client, kind string) bool {
	_, named := c.p.options.of(kind)
	return named && (c.p.options.Shadow || slices.Contains(cl.Guards, kind) || slices.Contains(cl.Guards, AllKinds))
}

// row is the row of a job, or of a copy. The end of a run, which River may have written already, looks like a row, too.
type row struct {
	ID        int64
	Kind      string
	Queue     string
	Run       string
	State     string // as of the engine: queued, running, succeeded, failed or cancelled; another is one of River
	Attempt   int
	Failures  int
	Rescues   int // how often the job was rescued since it hung
	Begun     time.Time
	Client    string
	Mark      []byte     // for a copy, what its metadata say
	Cancelled bool       // the user has asked to cancel the job
	Ended     *time.Time // when the end of the run was claimed
	Args      []byte
	copied    mark
}

func (r *row) runs() bool { return r.State == "running" }

// view is what a look has shown.
type view struct {
	now     time.Time
	started time.Time // when Postgres began: the ends of runs before are not known
	waiting bool      // a job waits for a slot
	clients map[string]*client
	rows    []*row
	copies  map[string][]*row // the copies of each run
}

// overlap is how far the ends that a look reads reach back before the look before. A transaction that wrote an end may have
// taken so long.
const overlap = 3 * time.Second

// look reads what the clients say, which jobs run and which have ended.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{clients: map[string]*client{}, copies: map[string][]*row{}}
	// The order makes the planner take River's index. Without it, the planner may read all old jobs before it finds one that
	// waits. EXISTS would drop the order.
	if err := c.p.own.QueryRow(ctx, c.p.in(`SELECT now(), pg_postmaster_start_time(), EXISTS (
		SELECT FROM (SELECT DISTINCT unnest(queues) AS queue FROM SCHEMA.straggler_client) AS worked, LATERAL (
			SELECT true FROM SCHEMA.river_job j
			WHERE state = 'available' AND j.queue = worked.queue AND scheduled_at <= now() - interval '50 ms'
			ORDER BY priority, scheduled_at, id LIMIT 1
		) AS waits WHERE NOT EXISTS (SELECT FROM SCHEMA.river_queue q WHERE q.name = worked.queue AND paused_at IS NOT NULL)
	)`)).Scan(&v.now, &v.started, &v.waiting); err != nil {
		return nil, err
	}
	var search []string
	if c.unsure {
		search = []string{"straggler"} // River's index finds copies, but reads all rows that were inserted a moment ago
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
			WHERE state = 'running' OR j.id = ANY($3) OR metadata ?| $4::text[]
			UNION ALL
			SELECT job, kind, '', run, CASE WHEN by = job AND ok THEN 'succeeded' WHEN by IN (0, job) THEN 'failed' ELSE 'cancelled' END,
				0, 0, 0, began, '', '{}', false, ended, '' FROM SCHEMA.straggler_end WHERE ended > $2
			UNION ALL
			SELECT by, kind, '', '', 'succeeded', 0, 0, 0, '0001-01-01 UTC', '',
				jsonb_build_object('job', job, 'run', run, 'name', copy)::text, false, ended, ''
			FROM SCHEMA.straggler_end WHERE ended > $2 AND by NOT IN (0, job)
			ORDER BY 1`, c.sized(), c.from, c.copies, search)
	}
	if err != nil {
		return nil, err
	}
	c.from, c.copies = v.now.Add(-overlap), nil
	for _, cl := range clients {
		v.clients[cl.Name] = cl
	}
	for _, r := range v.rows {
		var m struct{ mark }
		if json.Unmarshal(r.Mark, &m) == nil {
			r.copied = m.mark
		}
		if r.copied.Job != 0 {
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

// sized reports whether a kind needs the arguments of its jobs.
func (c *coordinator) sized() bool {
	for _, k := range c.p.options.Kinds {
		if k.Work != nil {
			return true
		}
	}
	return false
}
