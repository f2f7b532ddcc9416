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
	since       time.Time // when the present process began to have the name of the client
	guards      []string  // the kinds in which it lets only one attempt end a job
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

// replaced reports whether another process of the same name has taken the place of the one that began to run a row. A row that
// the present process fetched before its first beat is listed soon afterwards.
func (cl *client) replaced(r *row) bool {
	return r.hasReturned && r.begun.Before(cl.since) && cl.seen.After(cl.since.Add(2*idleBeat))
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

// job is an attempt of a job.
type job struct {
	id      int64
	attempt int
}

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
	clients map[string]*client
	rows    map[int64]*row
	copies  map[job][]*row // the copies of each attempt
	ends    map[job]ending
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

// look reads everything in one round trip, at one moment.
func (c *coordinator) look(ctx context.Context) (*view, error) {
	v := &view{clients: map[string]*client{}, rows: map[int64]*row{}, copies: map[job][]*row{}, ends: map[job]ending{}}
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
		b.Queue(c.in(`SELECT now(), (
			SELECT true FROM SCHEMA.river_job WHERE state = 'available' AND scheduled_at <= now() - interval '50 ms'
			ORDER BY queue, priority, scheduled_at, id LIMIT 1
		) IS NOT NULL`))
		b.Queue(c.in(`SELECT client, since, guards, coalesce(seen, 'epoch'), coalesce(busy, 0), coalesce(slots, 0),
			coalesce(running::text, '{}'), coalesce(ends, '{}')
			FROM SCHEMA.straggler_member LEFT JOIN SCHEMA.straggler_client USING (client)`))
		b.Queue(c.in(`
			SELECT e.job, e.attempt, e.by, e.ok, coalesce(e.began, e.ended), e.ended, coalesce(j.kind, '')
			FROM SCHEMA.straggler_end e LEFT JOIN SCHEMA.river_job j ON j.id = e.job WHERE e.ended > $1`), from)
		columns := `id, kind, queue, attempt, max_attempts, state::text, coalesce(attempted_at, now()),
			coalesce(attempted_by[array_upper(attempted_by, 1)], ''), coalesce(metadata->'straggler', '{}')::text,
			metadata ? 'cancel_attempted_at', coalesce(array_length(errors, 1), 0), args::text`
		b.Queue(c.in(`SELECT `+columns+` FROM SCHEMA.river_job
			WHERE state = 'running' AND ($1 OR kind = ANY($2) OR metadata ? 'straggler')
			UNION ALL SELECT `+columns+` FROM SCHEMA.river_job WHERE id = ANY($3) AND state <> 'running'`), all, names, c.tracked())
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
	if err := r.QueryRow().Scan(&v.now, &v.waiting); err != nil {
		return err
	}
	rows, err := r.Query()
	if err != nil {
		return err
	}
	var name, text string
	var cl client
	if _, err = pgx.ForEachRow(rows, []any{&name, &cl.since, &cl.guards, &cl.seen, &cl.busy, &cl.slots, &text, &cl.ends}, func() error {
		one := cl
		one.ends, one.guards = slices.Clone(cl.ends), slices.Clone(cl.guards)
		one.running = map[string]float64{}
		v.clients[name] = &one
		return json.Unmarshal([]byte(text), &one.running)
	}); err != nil {
		return err
	}
	if rows, err = r.Query(); err != nil {
		return err
	}
	var j job
	var e ending
	if _, err = pgx.ForEachRow(rows, []any{&j.id, &j.attempt, &e.by, &e.ok, &e.began, &e.ended, &e.kind}, func() error {
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
			of := job{r.copied.Job, r.copied.Attempt}
			v.copies[of] = append(v.copies[of], &r)
		}
		return nil
	})
	for _, r := range v.rows {
		if cl := v.clients[r.client]; r.runs() && cl != nil {
			r.known = true
			share, listed := cl.running[attemptName(r.id, r.attempt)]
			_, r.isWatched = cl.running[watchedPrefix+attemptName(r.id, r.attempt)]
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
