package riverplugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// orders are what a turn wants to change in the database.
type orders struct {
	copies  []order
	rescues []order
	drops   []int64             // rows of copies
	ends    map[string][]string // by client, the attempts to end
}

// order is a copy or a rescue of an attempt of a job.
type order struct {
	r        *row
	k        *kind
	task     int
	id       string   // of the copy, in the phase; empty if the phase has not asked for it
	avoid    []string // the clients on which the copy should not run
	why      string
	override bool // the attempt may have claimed the end and then have died
}

// mostOrders is the number of rescues, and of copies, in a transaction. Beats wait for the transaction. The rest is the business of
// the next turns.
const mostOrders = 100

// some returns as many orders as a transaction carries out. Each turn begins elsewhere: orders that never succeed, since a row is
// locked, must not keep the others from their turn.
func some(orders []order, turn int) []order {
	if len(orders) <= mostOrders {
		return orders
	}
	at := turn * mostOrders % len(orders)
	return slices.Concat(orders[at:], orders[:at])[:mostOrders]
}

// errReplaced is the error of a coordinator that another has replaced.
var errReplaced = errors.New("another client coordinates")

// carryOut changes the database, in one transaction, if this coordinator still has the lease. Another coordinator waits
// for the end of the transaction before it takes the lease.
func (c *coordinator) carryOut(ctx context.Context, term int64, todo *orders) error {
	if len(todo.copies)+len(todo.rescues)+len(todo.drops) == 0 {
		return c.tellEnds(ctx, todo.ends)
	}
	todo.rescues, todo.copies = some(todo.rescues, c.turns), some(todo.copies, c.turns)
	made, states := map[int]int64{}, map[int]string{}
	err := c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			var one int
			err := tx.QueryRow(ctx, c.in(`SELECT 1 FROM SCHEMA.straggler_lease
				WHERE name = 'coordinator' AND holder = $1 AND term = $2 AND until > now() FOR SHARE`), c.p.holder, term).Scan(&one)
			if errors.Is(err, pgx.ErrNoRows) {
				return errReplaced
			}
			for i, o := range todo.copies {
				if err == nil {
					made[i], err = c.copy(ctx, tx, o)
				}
			}
			for i, o := range todo.rescues {
				if err == nil {
					states[i], err = c.rescueApart(ctx, tx, o)
				}
			}
			if err == nil && len(todo.drops) > 0 {
				_, err = tx.Exec(ctx, c.in(`DELETE FROM SCHEMA.river_job WHERE id = ANY($1) AND metadata ? 'straggler'`), todo.drops)
			}
			return err
		})
	})
	if err != nil {
		c.unsure = true // the transaction may have committed
		for _, o := range todo.copies {
			if t := o.k.tasks[o.r.id]; t != nil {
				t.asked = o.id
			}
		}
		return err
	}
	for i, state := range states {
		if o := todo.rescues[i]; state != "" {
			c.p.options.Log.Warn("riverplugin: a job was rescued",
				"job", o.r.id, "kind", o.r.kind, "client", o.r.client, "state", state, "why", o.why)
		}
	}
	for i, o := range todo.copies {
		t := o.k.tasks[o.r.id]
		if t != nil && o.id == "" {
			t.urgent = true
		}
		if made[i] == 0 {
			o.k.refuse(o)
		} else if t != nil {
			t.copies[cmp.Or(o.id, copyName(made[i]))], t.asked = made[i], ""
			c.p.options.Log.Info("riverplugin: a job gets a copy", "job", o.r.id, "client", o.r.client, "why", o.why)
		}
	}
	return c.tellEnds(ctx, todo.ends)
}

// tellEnds tells clients which of their attempts to end: those that can end nothing any more, whoever coordinates. So it
// needs no lease. A beat locks the row of its client before the lease, and a transaction must not do the opposite.
func (c *coordinator) tellEnds(ctx context.Context, ends map[string][]string) error {
	if len(ends) == 0 {
		return nil
	}
	return c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for _, name := range slices.Sorted(maps.Keys(ends)) {
			if _, err := conn.Exec(ctx, c.in(`UPDATE SCHEMA.straggler_client SET ends = $2 WHERE client = $1`), name, ends[name]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *coordinator) in(sql string) string { return c.p.in(sql) }

// tell makes the clients of a queue look for jobs at once, as River does. Its parameter is the schema.
const tell = `pg_notify(concat(coalesce(nullif($3, ''), current_schema()), '.river_insert'), json_build_object('queue', queue)::text)`

// copy inserts a copy of a job, and returns its row; 0 if the attempt of the job does not run any more. The copy is at
// the head of the jobs of its priority.
func (c *coordinator) copy(ctx context.Context, tx pgx.Tx, o order) (id int64, err error) {
	about, _ := json.Marshal(map[string]mark{"straggler": {o.r.id, o.r.attempt, o.r.begun, o.r.client, o.avoid}}) // never fails
	err = tx.QueryRow(ctx, c.in(`
		WITH made AS (
			INSERT INTO SCHEMA.river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags)
			SELECT args, kind, 1, metadata - 'output' - 'snoozes' - 'river:rescue_count' || $3::jsonb,
				priority, queue, now() - interval '1 day', 'available', tags
			FROM SCHEMA.river_job
			WHERE id = $1 AND attempt = $2 AND attempted_at = $5 AND state = 'running' AND NOT metadata ? 'cancel_attempted_at'
				AND NOT EXISTS (SELECT FROM SCHEMA.straggler_end WHERE job = $1 AND attempt = $2 AND began = $5)
			RETURNING id, queue
		), told AS (
			SELECT `+strings.ReplaceAll(tell, "$3", "$4")+` FROM made
		)
		SELECT id FROM made LEFT JOIN told ON true`), o.r.id, o.r.attempt, string(about), *c.p.schema(), o.r.begun).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return id, err
}

// rescueApart is rescue in a transaction of its own inside of tx: a rescue that the database refuses does not stop the
// other orders.
func (c *coordinator) rescueApart(ctx context.Context, tx pgx.Tx, o order) (state string, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) (err error) {
		state, err = c.rescue(ctx, tx, o)
		return err
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) && ctx.Err() == nil {
		c.p.options.Log.Error("riverplugin: a job can't be rescued", "job", o.r.id, "error", err)
		return "", nil
	}
	return state, err
}

// rescue puts a job back as River's own rescuer does: the attempt counts, and has an error. A transaction may hold the row, such
// as that of a client that was lost after CompleteTx. Then rescue leaves the job to a later turn, since the other orders must
// not wait for it. It returns the state of the row; none if there was nothing to do.
func (c *coordinator) rescue(ctx context.Context, tx pgx.Tx, o order) (state string, err error) {
	r := o.r
	now := time.Now().UTC()
	next := new(river.DefaultClientRetryPolicy).NextRetry(&rivertype.JobRow{
		Attempt: r.attempt, AttemptedAt: &now, Errors: make([]rivertype.AttemptError, r.failures),
	})
	text, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: r.attempt, Error: "straggler: rescued: " + o.why})
	if err != nil {
		return "", err
	}
	const soon = "5 seconds" // River's scheduler makes jobs available that often
	err = tx.QueryRow(ctx, c.in(`
		WITH claimed AS (
			INSERT INTO SCHEMA.straggler_end AS e (job, attempt, began, by, ok, kind)
			SELECT id, attempt, attempted_at, 0, false, kind FROM SCHEMA.river_job
			WHERE id = $1 AND attempt = $2 AND attempted_at = $6 AND state = 'running'
			FOR NO KEY UPDATE SKIP LOCKED
			ON CONFLICT (job, attempt, began) DO UPDATE SET by = 0, ok = false WHERE $3 AND e.ended < now() - interval '5 seconds'
			RETURNING job
		)
		UPDATE SCHEMA.river_job SET
			errors = array_append(errors, $4::jsonb),
			finalized_at = CASE WHEN attempt >= max_attempts OR metadata ? 'cancel_attempted_at' THEN now() END,
			scheduled_at = CASE WHEN attempt >= max_attempts OR metadata ? 'cancel_attempted_at' THEN scheduled_at
				ELSE now() + $5 END,
			metadata = metadata || jsonb_build_object('river:rescue_count', coalesce((metadata->>'river:rescue_count')::int, 0) + 1),
			state = CASE
				WHEN metadata ? 'cancel_attempted_at' THEN 'cancelled'
				WHEN attempt >= max_attempts THEN 'discarded'
				WHEN $5 <= interval '`+soon+`' THEN 'available'
				ELSE 'retryable' END::SCHEMA.river_job_state
		WHERE id IN (SELECT job FROM claimed) AND attempt = $2 AND state = 'running' RETURNING state::text`),
		r.id, r.attempt, o.override, string(text), next.Sub(now), r.begun).Scan(&state)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil // the attempt has ended by itself
	}
	return state, err
}

// sweepEvery is the time between two calls of sweep that do something.
const sweepEvery = 10 * time.Second

// findEvery is the number of sweeps of which one looks for copies that nobody knows.
const findEvery = 6

// sweep removes rows of the plugin's tables that nobody needs, saves what was learnt, and looks for clients without the
// plugin.
func (c *coordinator) sweep(ctx context.Context, v *view) error {
	if v.now.Sub(c.swept) < sweepEvery {
		return nil
	}
	c.swept = v.now
	if c.sweeps++; c.sweeps%findEvery == 0 {
		c.unsure = true // a copy that was passed on may have a row that nobody knows
	}
	return c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		b := &pgx.Batch{}
		b.Queue(c.in(`DELETE FROM SCHEMA.straggler_end WHERE ctid IN (SELECT ctid FROM SCHEMA.straggler_end e WHERE ended < $1 AND NOT EXISTS (
			SELECT FROM SCHEMA.river_job j
			WHERE j.id = e.job AND j.attempt = e.attempt AND j.attempted_at = e.began AND j.state = 'running'
		) LIMIT 20000)`), c.from.Add(-silence)) // more would take too long; the rest is removed later
		// A client that has jobs stays: they are rescued, also if all clients were away for longer.
		b.Queue(c.in(`WITH gone AS (
			DELETE FROM SCHEMA.straggler_member
			WHERE client NOT IN (SELECT client FROM SCHEMA.straggler_client WHERE seen > now() - interval '1 hour') AND client NOT IN (
				SELECT attempted_by[array_upper(attempted_by, 1)] FROM SCHEMA.river_job
				WHERE state = 'running' AND array_length(attempted_by, 1) > 0
			) RETURNING client
		) DELETE FROM SCHEMA.straggler_client c USING gone WHERE c.client = gone.client`))
		known, _ := c.machines.Knowledge().MarshalBinary() // never fails
		b.Queue(c.in(`INSERT INTO SCHEMA.straggler_knowledge (name, known) VALUES ('kinds', $1)
			ON CONFLICT (name) DO UPDATE SET known = $1, saved = now() WHERE straggler_knowledge.known <> $1`), known)
		r := conn.SendBatch(ctx, b)
		for range b.Len() {
			if _, err := r.Exec(); err != nil {
				r.Close()
				return err
			}
		}
		if err := r.Close(); err != nil {
			return err
		}
		rows, err := conn.Query(ctx, c.in(`SELECT DISTINCT queue, attempted_by[array_upper(attempted_by, 1)] AS client FROM (
			SELECT queue, attempted_by FROM SCHEMA.river_job WHERE state = 'completed' AND finalized_at > now() - interval '1 minute'
			ORDER BY finalized_at DESC LIMIT 200
		) AS newest WHERE attempted_by IS NOT NULL`))
		if err != nil {
			return err
		}
		places, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (p place, err error) {
			return p, r.Scan(&p.queue, &p.client)
		})
		for _, p := range places {
			if v.clients[p.client] == nil {
				c.meet(v, p)
			}
		}
		return err
	})
}

// recall reads what earlier coordinators have learnt about each kind.
func (c *coordinator) recall(ctx context.Context) error {
	return c.line.do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var data []byte
		err := conn.QueryRow(ctx, c.in(`SELECT known FROM SCHEMA.straggler_knowledge WHERE name = 'kinds'`)).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		know := c.machines.Knowledge()
		if err := know.UnmarshalBinary(data); err != nil {
			c.p.options.Log.Warn("riverplugin: what was learnt about kinds can't be read, and begins anew", "error", err)
		}
		record := know.Machines() // nil if a later release has saved none
		for number := 0; record != nil && record.Len() > 0 && number < record.Config().MaxMachines; number++ {
			record.Forget(number) // the numbers of the clients are those of another term
		}
		return nil
	})
}

// wait waits until jobs have ended.
func wait(ctx context.Context, q querier, schema string, ids []int64) ([]Result, error) {
	results, place := make([]Result, len(ids)), map[int64][]int{}
	for i, id := range ids {
		place[id] = append(place[id], i)
	}
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second/2) {
		open := slices.Sorted(maps.Keys(place))
		rows, err := q.Query(ctx, in(schema, `SELECT id, state::text, (metadata->'output')::text,
			coalesce(errors[array_upper(errors, 1)]->>'error', '') FROM SCHEMA.river_job WHERE id = ANY($1)`), open)
		if err != nil {
			return nil, err
		}
		found := map[int64]bool{}
		var id int64
		var state, fault string
		var output *string
		if _, err = pgx.ForEachRow(rows, []any{&id, &state, &output, &fault}, func() error {
			found[id] = true
			var r Result
			switch state {
			case "completed":
				if output != nil {
					r.Output = json.RawMessage(*output)
				}
			case "cancelled", "discarded":
				r.Err = fmt.Errorf("riverplugin: job %d was %s: %s", id, state, fault)
			default:
				return nil
			}
			for _, i := range place[id] {
				results[i] = r
			}
			delete(place, id)
			return nil
		}); err != nil {
			return nil, err
		}
		for id, at := range place {
			for _, i := range at {
				if !found[id] {
					results[i].Err = fmt.Errorf("riverplugin: job %d does not exist", id)
				}
			}
			if !found[id] {
				delete(place, id)
			}
		}
		if len(place) == 0 {
			return results, nil
		}
		if !sleep(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}
