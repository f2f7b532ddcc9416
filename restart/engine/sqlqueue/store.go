package sqlqueue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Waiting is a method of [queue.Jobs].
func (q *Queue) Waiting(ctx context.Context, limit int) (jobs []queue.Job, err error) {
	const fields = `SELECT n, id, kind, batch, work, failures FROM straggler_job WHERE queue = $1 AND state = 0 AND `
	rows, err := q.db.QueryContext(ctx, q.text(`SELECT id, kind, batch, work, failures FROM (
		`+fields+`batch <> ''
		UNION ALL SELECT * FROM (SELECT * FROM (
			SELECT * FROM (`+fields+`batch = '' AND run_at = 0 ORDER BY n LIMIT $2) AS now
			UNION ALL SELECT * FROM (
				`+fields+`batch = '' AND run_at > 0 AND run_at <= (SELECT {now}) ORDER BY run_at, n LIMIT $2) AS later
			) AS due ORDER BY n LIMIT $2) AS single
		) AS job ORDER BY n`), q.name, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var j queue.Job
		if err := rows.Scan(&j.ID, &j.Kind, &j.Batch, &j.Work, &j.Failures); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}

// List is a method of [queue.Attempts].
func (q *Queue) List(ctx context.Context) (all []queue.Attempt, err error) {
	rows, err := q.db.QueryContext(ctx, q.text(`SELECT a.name, a.state, a.worker, a.begun, a.ended, a.share, a.as_of, a.error,
		coalesce(j.winner, '') = a.name
		FROM straggler_attempt a LEFT JOIN straggler_job j ON j.queue = a.queue AND j.id = a.job
		WHERE a.queue = $1 ORDER BY a.n`), q.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a queue.Attempt
		var begun, ended, asOf int64
		if err := rows.Scan(&a.Name, &a.State, &a.Worker, &begun, &ended, &a.Share, &asOf, &a.Error, &a.Published); err != nil {
			return nil, err
		}
		a.Begun, a.Ended, a.AsOf = timeOf(begun), timeOf(ended), timeOf(asOf)
		all = append(all, a)
	}
	return all, rows.Err()
}

// Workers is a method of [queue.Attempts].
func (q *Queue) Workers(ctx context.Context) (all []queue.WorkerStatus, err error) {
	rows, err := q.db.QueryContext(ctx, q.text(`SELECT name, slots, {now} - heard FROM straggler_worker
		WHERE queue = $1 ORDER BY name`), q.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var w queue.WorkerStatus
		var silent int64
		if err := rows.Scan(&w.Name, &w.Slots, &silent); err != nil {
			return nil, err
		}
		w.Silent = time.Duration(silent) * time.Microsecond
		all = append(all, w)
	}
	return all, rows.Err()
}

// Open is a method of [queue.State].
func (q *Queue) Open(ctx context.Context, owner string, term time.Duration) (epoch int64, state []byte, err error) {
	err = q.transact(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO straggler_state (queue, epoch, owner, until) VALUES ($1, 0, '', 0)
			ON CONFLICT DO NOTHING`, q.name)
		if err != nil {
			return err
		}
		var held bool
		err = t.row(`SELECT epoch + 1, state, owner <> $2 AND until > {now} FROM straggler_state WHERE queue = $1 {lock}`,
			q.name, owner).Scan(&epoch, &state, &held)
		if err != nil {
			return err
		}
		if held {
			return queue.ErrHeld
		}
		_, err = t.exec(`UPDATE straggler_state SET epoch = $2, owner = $3, until = {now} + CAST($4 AS bigint) WHERE queue = $1`,
			q.name, epoch, owner, term.Microseconds())
		return err
	})
	return epoch, state, err
}

// Commit is a method of [queue.State].
func (q *Queue) Commit(ctx context.Context, c queue.Commit) error {
	return q.transact(ctx, func(t *tx) error {
		var epoch int64
		err := t.row(`SELECT epoch FROM straggler_state WHERE queue = $1 {lock}`, q.name).Scan(&epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != c.Epoch {
			return queue.ErrFenced
		}
		if err != nil {
			return err
		}
		run := func(query string, args ...any) {
			if err == nil {
				_, err = t.exec(query, append([]any{q.name}, args...)...)
			}
		}
		if c.State != nil {
			run(`UPDATE straggler_state SET state = $2 WHERE queue = $1`, c.State)
		}
		if c.Reset {
			run(`UPDATE straggler_job SET state = 0 WHERE queue = $1 AND state = 1`)
		}
		for _, r := range c.Rest {
			run(`UPDATE straggler_job SET state = 0, failures = $3, run_at = {now} + CAST($4 AS bigint)
				WHERE queue = $1 AND id = $2 AND state = 1`, r.Job.ID, r.Job.Failures, r.For.Microseconds())
		}
		for jobs := range slices.Chunk(c.Take, together) {
			// Without a condition for the state, Postgres finds the jobs by their IDs, also if it has no statistics yet.
			ids := []any{q.name}
			for _, j := range jobs {
				ids = append(ids, j.ID)
			}
			run(`UPDATE straggler_job SET state = CASE state WHEN 0 THEN 1 ELSE state END
				WHERE queue = $1 AND id IN `+list(ids), ids[1:]...)
		}
		for attempts := range slices.Chunk(c.Submit, together) {
			if err == nil {
				err = t.submit(attempts)
			}
		}
		for _, a := range c.Cancel {
			run(`UPDATE straggler_attempt SET state = 5, ended = {now} WHERE queue = $1 AND name = $2 AND state = 0`, a.Name)
			run(`UPDATE straggler_attempt SET cancel = 1 WHERE queue = $1 AND name = $2 AND state = 1`, a.Name)
			if err == nil && q.delivery != nil {
				err = t.withdraw(a.Name)
			}
		}
		for _, p := range c.Publish {
			run(`UPDATE straggler_job SET state = 2, winner = $3, output = (SELECT output FROM straggler_attempt
				WHERE queue = $1 AND name = $3) WHERE queue = $1 AND id = $2 AND state < 2`, p.Job.ID, p.Name)
		}
		for _, f := range c.Fail {
			run(`UPDATE straggler_job SET state = 3, error = $3 WHERE queue = $1 AND id = $2 AND state < 2`, f.Job.ID, f.Error)
		}
		for _, name := range c.Seen {
			run(`DELETE FROM straggler_attempt WHERE queue = $1 AND name = $2 AND state > 1`, name)
		}
		// The term begins last, because a commit that takes all jobs of a large batch may last longer than a term.
		run(`UPDATE straggler_state SET until = {now} + CAST($2 AS bigint) WHERE queue = $1`, c.Term.Microseconds())
		return err
	})
}

// submit adds attempts, and hands them to the Delivery. It skips the attempts that the database has.
func (t *tx) submit(attempts []queue.Submit) error {
	messages := make([]int64, len(attempts))
	var missing []string
	if t.q.delivery != nil {
		var err error
		if messages, missing, err = t.deliver(attempts); err != nil {
			return err
		}
	}
	var v values
	for i, s := range attempts {
		v.add(t.q.name, s.Name, s.Job.ID, s.Number, s.Worker, messages[i])
	}
	_, err := t.exec(`INSERT INTO straggler_attempt (queue, name, job, number, worker, message) VALUES `+v.text()+`
		ON CONFLICT DO NOTHING`, v.args...)
	for _, name := range missing {
		if err == nil {
			err = t.drop(name)
		}
	}
	return err
}

// deliver hands attempts to the Delivery, except the attempts that the database has and the attempts of jobs that
// somebody has deleted. The names of the latter are missing.
func (t *tx) deliver(attempts []queue.Submit) (messages []int64, missing []string, err error) {
	names, ids := []any{t.q.name}, []any{t.q.name}
	for _, s := range attempts {
		names, ids = append(names, s.Name), append(ids, s.Job.ID)
	}
	known, inputs := map[string]bool{}, map[string][]byte{}
	err = t.each(`SELECT name, NULL FROM straggler_attempt WHERE queue = $1 AND name IN `+list(names), names,
		func(name string, _ []byte) { known[name] = true })
	if err != nil {
		return nil, nil, err
	}
	err = t.each(`SELECT id, input FROM straggler_job WHERE queue = $1 AND id IN `+list(ids), ids,
		func(id string, input []byte) { inputs[id] = input })
	if err != nil {
		return nil, nil, err
	}
	var fresh []queue.Submit
	var at []int
	for i, s := range attempts {
		input, exists := inputs[s.Job.ID]
		switch {
		case known[s.Name]:
		case !exists:
			missing = append(missing, s.Name)
		default:
			s.Job.Input = input
			fresh, at = append(fresh, s), append(at, i)
		}
	}
	messages = make([]int64, len(attempts))
	if len(fresh) == 0 {
		return messages, missing, nil
	}
	numbers, err := t.q.delivery.Submit(t.ctx, t.on.(*sql.Tx), fresh)
	for k := range numbers {
		messages[at[k]] = numbers[k]
	}
	return messages, missing, err
}

// each calls f with each row of two columns: a text and bytes.
func (t *tx) each(query string, args []any, f func(key string, value []byte)) error {
	rows, err := t.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value []byte
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		f(key, value)
	}
	return errors.Join(rows.Err(), rows.Close())
}

// list returns the places of the arguments after the first one, such as "($2, $3)".
func list(args []any) string {
	places := make([]string, len(args)-1)
	for i := range places {
		places[i] = fmt.Sprint("$", i+2)
	}
	return "(" + strings.Join(places, ", ") + ")"
}

// withdraw tells the Delivery that an attempt is cancelled.
func (t *tx) withdraw(name string) error {
	var message int64
	err := t.row(`SELECT message FROM straggler_attempt WHERE queue = $1 AND name = $2`, t.q.name, name).Scan(&message)
	if err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return err
	}
	return t.q.delivery.Cancel(t.ctx, t.on.(*sql.Tx), message)
}

// Get is a method of [queue.Knowledge].
func (q *Queue) Get(ctx context.Context, key string) (value []byte, version int64, err error) {
	row := q.db.QueryRowContext(ctx, q.text(`SELECT value, version FROM straggler_knowledge WHERE key = $1`), key)
	err = row.Scan(&value, &version)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, version, err
}

// Put is a method of [queue.Knowledge].
func (q *Queue) Put(ctx context.Context, key string, value []byte, version int64) error {
	return q.transact(ctx, func(t *tx) error {
		var changed int64
		var err error
		if version == 0 {
			changed, err = t.exec(`INSERT INTO straggler_knowledge (key, version, value) VALUES ($1, 1, $2)
				ON CONFLICT DO NOTHING`, key, value)
		} else {
			changed, err = t.exec(`UPDATE straggler_knowledge SET value = $2, version = version + 1 WHERE key = $1 AND version = $3`,
				key, value, version)
		}
		if err == nil && changed == 0 {
			err = queue.ErrConflict
		}
		return err
	})
}

// Beat is a method of [queue.Source].
func (q *Queue) Beat(ctx context.Context, b queue.Beat) (orders queue.Orders, err error) {
	err = q.transact(ctx, func(t *tx) error {
		orders = queue.Orders{}
		if b.Leaving {
			if _, err := t.exec(`DELETE FROM straggler_worker WHERE queue = $1 AND name = $2`, q.name, b.Worker); err != nil {
				return err
			}
		} else if _, err := t.exec(`INSERT INTO straggler_worker (queue, name, slots, heard) VALUES ($1, $2, $3, {now})
			ON CONFLICT (queue, name) DO UPDATE SET slots = $3, heard = {now}`, q.name, b.Worker, b.Slots); err != nil {
			return err
		}
		names, place := []any{q.name, b.Worker}, make([]string, len(b.Running))
		for i, r := range b.Running {
			names = append(names, r.Name)
			place[i] = fmt.Sprint("$", i+3)
			if r.Share > 0 {
				if _, err := t.exec(`UPDATE straggler_attempt SET share = $3, as_of = {now} WHERE queue = $1 AND name = $2 AND state = 1
					AND share <> $3`, q.name, r.Name, r.Share); err != nil {
					return err
				}
			}
		}
		lost := `UPDATE straggler_attempt SET state = 4, ended = {now} WHERE queue = $1 AND worker = $2 AND `
		if b.Leaving {
			lost += `(state = 0 OR state = 1 `
		} else {
			lost += `(state = 1 `
		}
		if len(place) > 0 {
			lost += `AND name NOT IN (` + strings.Join(place, ", ") + `)`
		}
		if _, err := t.exec(lost+`)`, names...); err != nil {
			return err
		}
		if b.Free > 0 {
			if err := t.begin(b, &orders); err != nil {
				return err
			}
		}
		return t.cancelled(b, &orders)
	})
	return orders, err
}

// begin begins attempts of a worker.
func (t *tx) begin(b queue.Beat, orders *queue.Orders) error {
	return t.beginWhere(orders, `n IN (SELECT n FROM straggler_attempt
		WHERE queue = $1 AND worker = $2 AND state = 0 ORDER BY n LIMIT $3 {lock})`, t.q.name, b.Worker, b.Free)
}

// Begin begins a single attempt that waits in the queue of a worker. It is for a [Delivery], which brings attempts to
// workers by itself. ok is false if the attempt does not wait, because it was cancelled or has begun before.
func (q *Queue) Begin(ctx context.Context, worker, name string) (o queue.Order, ok bool, err error) {
	var orders queue.Orders
	err = q.transact(ctx, func(t *tx) error {
		orders = queue.Orders{}
		return t.beginWhere(&orders, `queue = $1 AND worker = $2 AND name = $3 AND state = 0`, q.name, worker, name)
	})
	if err != nil || len(orders.Begin) == 0 {
		return o, false, err
	}
	return orders.Begin[0], true, nil
}

// beginWhere begins the attempts that match a condition.
func (t *tx) beginWhere(orders *queue.Orders, where string, args ...any) error {
	rows, err := t.query(`UPDATE straggler_attempt SET state = 1, begun = {now} WHERE `+where+` RETURNING n, name, number, job`,
		args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ns []int64
	for rows.Next() {
		var o queue.Order
		var n int64
		if err := rows.Scan(&n, &o.Name, &o.Number, &o.Job.ID); err != nil {
			return err
		}
		i, _ := slices.BinarySearch(ns, n) // the database returns them in any order
		ns, orders.Begin = slices.Insert(ns, i, n), slices.Insert(orders.Begin, i, o)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	begun := orders.Begin
	orders.Begin = nil
	for _, o := range begun {
		j := &o.Job
		err := t.row(`SELECT kind, batch, work, failures, input FROM straggler_job WHERE queue = $1 AND id = $2`, t.q.name, j.ID).
			Scan(&j.Kind, &j.Batch, &j.Work, &j.Failures, &j.Input)
		if errors.Is(err, sql.ErrNoRows) {
			err = t.drop(o.Name)
		} else {
			orders.Begin = append(orders.Begin, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop ends an attempt of a job that somebody has deleted.
func (t *tx) drop(name string) error {
	_, err := t.exec(`UPDATE straggler_attempt SET state = 5, ended = {now} WHERE queue = $1 AND name = $2`, t.q.name, name)
	return err
}

// cancelled finds the attempts of a worker that are to end.
func (t *tx) cancelled(b queue.Beat, orders *queue.Orders) error {
	rows, err := t.query(`SELECT name FROM straggler_attempt WHERE queue = $1 AND worker = $2 AND state = 1 AND cancel = 1`,
		t.q.name, b.Worker)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		orders.Cancel = append(orders.Cancel, name)
	}
	return rows.Err()
}

// End is a method of [queue.Source].
func (q *Queue) End(ctx context.Context, e queue.End) error {
	return q.transact(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE straggler_attempt SET state = $3, ended = {now}, output = $4, error = $5
			WHERE queue = $1 AND name = $2 AND (state = 1 OR state > 3 AND $3 = 2)`,
			q.name, e.Name, int(e.State), e.Output, e.Error)
		return err
	})
}

var (
	_ queue.Store  = (*Queue)(nil)
	_ queue.Source = (*Queue)(nil)
	_ [2]struct{}  = [engine.Succeeded]struct{}{} // the queries have the numbers of the states
)
