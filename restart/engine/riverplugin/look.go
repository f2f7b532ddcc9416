package riverplugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// client is a client of River that has the plugin, as its last beat says.
type client struct {
	since       time.Time      // when the present process took the name from another; long ago if no other had it
	before      map[string]any // the names of what the process before had listed
	guards      []string       // the kinds in which it lets only one attempt end a job
	seen        time.Time
	busy, slots int
	running     map[string]float64 // by the names of the attempts, the shares of work that they have reported
	ends        []string
}

// gone reports whether the client has stopped.
func (cl *client) gone() bool { return cl.busy < 0 }

// guardsKind reports whether the client lets only one attempt end a job of a kind.
func (cl *client) guardsKind(kind string) bool {
	return slices.Contains(cl.guards, kind) || slices.Contains(cl.guards, AllKinds)
}

// replaced reports whether another process of the same name has taken the place of the one that ran a row. If that one had not
// listed the row, the present process may have fetched the row before its first beat, and will list it.
func (cl *client) replaced(r *row) bool {
	wait := 2 * silence
	if _, listed := cl.before[r.run().String()]; listed {
		wait = 2 * idleBeat
	}
	return r.hasReturned && r.begun.Before(cl.since) && cl.seen.After(cl.since.Add(wait))
}

// row is a row of a job, or of a copy, that runs, or that the coordinator knows.
type row struct {
	id            int64
	kind, queue   string
	attempt, most int
	state         string
	begun         time.Time
	client        string
	copied        mark // for a copy
	cancelled     bool // the user has asked to cancel the job
	failures      int
	args          []byte
	known, isLost bool // known: a client with the plugin runs the attempt; isLost: and this client, or its process, is lost
	isWatched     bool // the client runs the attempt as River alone would: nothing is done with it
	hasReturned   bool // the client does not run the attempt any more, and River has not yet written that
	progress      float64
	progressAt    time.Time
}

func (r *row) runs() bool { return r.state == "running" }

// final reports whether the job has ended for good.
func (r *row) final() bool {
	return r.state == "completed" || r.state == "cancelled" || r.state == "discarded"
}

// run is a run of a job. A job that was snoozed, or that a soft stop has ended, runs again with the same number of the attempt.
// So a run has the time of its begin, too.
type run struct {
	id      int64
	attempt int
	begun   int64 // in microseconds, as Postgres has it
}

// String is the name of the run in a beat.
func (j run) String() string { return fmt.Sprintf("%d.%d.%d", j.id, j.attempt, j.begun) }

// run returns the run of the row itself.
func (r *row) run() run { return run{r.id, r.attempt, r.begun.UnixMicro()} }

// of returns the run of the job that a copy runs beside.
func (m *mark) of() run { return run{m.Job, m.Attempt, m.Began.UnixMicro()} }

// ending says who has ended an attempt of a job.
type ending struct {
	by           int64 // the row of the attempt that has ended it; 0 for a rescue
	ok           bool
	kind         string
	began, ended time.Time
}

// view is what a look has shown.
type view struct {
	now     time.Time
	started time.Time // when Postgres began: the ends of runs before are not known
	clients map[string]*client
	rows    map[int64]*row
	copies  map[run][]*row // the copies of each run
	ends    map[run]ending
	waiting bool // a job waits for a slot
}

// findCopies finds the copies that wait and that no phase knows: those of an earlier coordinator, and those of a transaction
// whose result was lost.
func (c *coordinator) findCopies(ctx context.Context) error {
	if !c.unsure {
		return nil
	}
	return c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, c.in(`SELECT id FROM SCHEMA.river_job WHERE metadata ? 'straggler' AND state <> 'running'`))
		if err != nil {
			return err
		}
		c.left, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		c.unsure = err != nil
		return err
	})
}

// allEnds is the number of looks of which one reads all ends of attempts, also old ones: see [coordinator.orphans].
const allEnds = 64

// look reads everything in one round trip.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{clients: map[string]*client{}, rows: map[int64]*row{}, copies: map[run][]*row{}, ends: map[run]ending{}}
	if err := c.findCopies(ctx); err != nil {
		return nil, err
	}
	names, all := c.names()
	from := c.from
	if c.turns++; c.turns%allEnds == 0 {
		from = time.Time{}
	}
	err := c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		b := &pgx.Batch{}
		// The order makes the planner take River's index. Without it, the planner may read all old jobs before it finds one that
		// waits. EXISTS would drop the order.
		b.Queue(c.in(`SELECT now(), pg_postmaster_start_time(), EXISTS (
			SELECT FROM unnest($1::text[]) AS worked (queue), LATERAL (
				SELECT true FROM SCHEMA.river_job j WHERE state = 'available' AND j.queue = worked.queue AND scheduled_at <= now() - interval '50 ms'
				ORDER BY priority, scheduled_at, id LIMIT 1
			) AS waits WHERE NOT EXISTS (SELECT FROM SCHEMA.river_queue q WHERE q.name = worked.queue AND paused_at IS NOT NULL)
		)`), c.queues())
		b.Queue(c.in(`SELECT client, coalesce(since, 'epoch'), guards, before::text, coalesce(seen, 'epoch'), coalesce(busy, 0), coalesce(slots, 0),
			coalesce(running::text, '{}'), coalesce(ends, '{}')
			FROM SCHEMA.straggler_member LEFT JOIN SCHEMA.straggler_client USING (client)`))
		b.Queue(c.in(`
			SELECT job, attempt, began, by, ok, ended, kind FROM SCHEMA.straggler_end WHERE ended > $1`), from)
		columns := `id, kind, queue, attempt, max_attempts, state::text, coalesce(attempted_at, now()),
			coalesce(attempted_by[array_upper(attempted_by, 1)], ''), coalesce(metadata->'straggler', '{}')::text,
			metadata ? 'cancel_attempted_at', coalesce(array_length(errors, 1), 0), CASE WHEN $4 THEN args::text ELSE '' END`
		b.Queue(c.in(`SELECT `+columns+` FROM SCHEMA.river_job
			WHERE state = 'running' AND ($1 OR kind = ANY($2) OR metadata ? 'straggler')
			UNION ALL SELECT `+columns+` FROM SCHEMA.river_job WHERE id = ANY($3) AND state <> 'running'`), all, names, c.tracked(), c.sizes())
		r := conn.SendBatch(ctx, b)
		err := v.read(r)
		if e := r.Close(); err == nil {
			err = e
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.notice(v, time.Now())
	return v, nil
}

// read reads the answers to look.
func (v *view) read(r pgx.BatchResults) error {
	if err := r.QueryRow().Scan(&v.now, &v.started, &v.waiting); err != nil {
		return err
	}
	rows, err := r.Query()
	if err != nil {
		return err
	}
	var name, before, text string
	var cl client
	if _, err = pgx.ForEachRow(rows, []any{&name, &cl.since, &cl.guards, &before, &cl.seen, &cl.busy, &cl.slots, &text, &cl.ends}, func() error {
		one := cl
		one.ends, one.guards = slices.Clone(cl.ends), slices.Clone(cl.guards)
		one.running = map[string]float64{}
		one.before = map[string]any{}
		if err := json.Unmarshal([]byte(before), &one.before); err != nil {
			return err
		}
		v.clients[name] = &one
		return json.Unmarshal([]byte(text), &one.running)
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	var j run
	var e ending
	if _, err = pgx.ForEachRow(rows, []any{&j.id, &j.attempt, &e.began, &e.by, &e.ok, &e.ended, &e.kind}, func() error {
		j.begun = e.began.UnixMicro()
		v.ends[j] = e
		return nil
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	var one row
	_, err = pgx.ForEachRow(rows, []any{
		&one.id, &one.kind, &one.queue, &one.attempt, &one.most, &one.state, &one.begun, &one.client, &text, &one.cancelled,
		&one.failures, &one.args,
	}, func() error {
		r := one
		r.args = slices.Clone(one.args)
		var m struct{ mark }
		if err := json.Unmarshal([]byte(text), &m); err == nil {
			r.copied = m.mark
		}
		v.rows[r.id] = &r
		if r.copied.Job != 0 {
			v.copies[r.copied.of()] = append(v.copies[r.copied.of()], &r)
		}
		return nil
	})
	for _, r := range v.rows {
		if cl := v.clients[r.client]; r.runs() && cl != nil {
			r.known = true
			share, listed := cl.running[r.run().String()]
			_, r.isWatched = cl.running[watchedPrefix+r.run().String()]
			r.hasReturned = !listed && !r.isWatched && cl.seen.After(r.begun.Add(time.Second))
			r.progress, r.progressAt = share, cl.seen
		}
	}
	return err
}

// names returns the kinds that the options name, and whether these are all kinds.
func (c *coordinator) names() (names []string, all bool) {
	for name := range c.p.options.Kinds {
		if name == AllKinds {
			all = true
		} else {
			names = append(names, name)
		}
	}
	return names, all
}

// queues returns the queues whose jobs have run at clients with the plugin.
func (c *coordinator) queues() []string {
	queues := map[string]bool{}
	for at := range c.worked {
		queues[at.queue] = true
	}
	return slices.AppendSeq([]string{}, maps.Keys(queues))
}

// sizes reports whether a kind needs the arguments of its jobs.
func (c *coordinator) sizes() bool {
	for _, k := range c.p.options.Kinds {
		if k.Work != nil {
			return true
		}
	}
	return false
}

// tracked returns the rows of the jobs and copies that the phases know, and of the copies that findCopies has found.
func (c *coordinator) tracked() (ids []int64) {
	ids = append(ids, c.left...)
	for _, k := range c.kinds {
		for id, t := range k.tasks {
			ids = append(ids, id)
			for _, id := range t.copies {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
