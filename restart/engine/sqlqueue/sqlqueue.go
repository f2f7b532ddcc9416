package sqlqueue

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Queue is a job queue in a database. It is a [queue.Store] for coordinators and a [queue.Source] for workers. It is
// safe for concurrent use.
type Queue struct {
	db      *sql.DB
	name    string
	dialect dialect
	// delivery brings attempts to workers; nil if they get them by Beat
	delivery Delivery
}

// Delivery brings attempts to the workers of another library on the same Postgres.
type Delivery interface {
	// Submit adds a message for each attempt to the queue of the attempt's worker, in the transaction in which the
	// attempts are submitted, and returns the numbers of the messages in the order of the attempts.
	Submit(ctx context.Context, tx *sql.Tx, attempts []queue.Submit) (messages []int64, err error)
	// Cancel cancels a message, in the transaction in which its attempt is cancelled.
	Cancel(ctx context.Context, tx *sql.Tx, message int64) error
}

// OpenWith is like Open, for a queue with a Delivery.
func OpenWith(ctx context.Context, db *sql.DB, name string, d Delivery) (*Queue, error) {
	q, err := Open(ctx, db, name)
	if err != nil {
		return nil, err
	}
	if q.dialect.setup != nil {
		return nil, errors.New("sqlqueue: the database is SQLite, and a Delivery needs Postgres")
	}
	q.delivery = d
	return q, nil
}

// Open returns the queue of the given name in a database, for example "default". It creates the tables that are
// missing. The database is Postgres 12 or later, or SQLite 3.42 or later, with any driver. A name may have any
// characters.
func Open(ctx context.Context, db *sql.DB, name string) (*Queue, error) {
	q := &Queue{db: db, name: name}
	var version string
	if db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version) == nil {
		q.dialect = sqlite
		if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil { // so that readers do not wait for writers
			return nil, fmt.Errorf("sqlqueue: %w", err)
		}
	} else if err := db.QueryRowContext(ctx, "SHOW server_version_num").Scan(&version); err != nil {
		return nil, fmt.Errorf("sqlqueue: the database is neither SQLite nor Postgres, or does not answer: %w", err)
	} else {
		q.dialect = postgres
	}
	if err := q.migrate(ctx); err != nil {
		return nil, fmt.Errorf("sqlqueue: can't create the tables: %w", err)
	}
	if err := q.checkShared(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

// checkShared returns an error if each connection has a database of its own, as with ":memory:" of SQLite.
func (q *Queue) checkShared(ctx context.Context) error {
	if q.dialect.setup == nil || q.db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	for range 2 { // the first connection stays busy, so the second is another one
		c, err := q.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("sqlqueue: %w", err)
		}
		defer c.Close()
		var n int
		if err := c.QueryRowContext(ctx, `SELECT count(*) FROM straggler_migration`).Scan(&n); err != nil {
			return fmt.Errorf("sqlqueue: another connection has no tables, want a database in a file, or in memory with "+
				"SetMaxOpenConns(1): %w", err)
		}
	}
	return nil
}

// Executor is a *sql.DB, a *sql.Tx or a *sql.Conn.
type Executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Insert adds single jobs to the queue, in order, and returns their IDs. With a *sql.Tx the jobs exist when the
// transaction is committed, together with your other changes. Nil means a transaction of its own. A job may not begin
// before the time Job.After. After an error Insert returns no IDs: roll your transaction back. Without a transaction of
// yours, the jobs may exist all the same if the database's answer to the commit was lost.
func (q *Queue) Insert(ctx context.Context, in Executor, jobs ...Job) (ids []string, err error) {
	if in == nil {
		err = q.transact(ctx, func(t *tx) error { ids, err = q.Insert(ctx, t.on, jobs...); return err })
		if err != nil {
			return nil, err // also if only the commit has failed
		}
		return ids, nil
	}
	for i, j := range jobs {
		if err := queue.CheckJob(queue.Job{Kind: j.Kind, Work: j.Work}); err != nil {
			return nil, fmt.Errorf("%w: job %d", err, i)
		}
		id := rand.Text()
		_, err := in.ExecContext(ctx, q.text(`INSERT INTO straggler_job (queue, id, kind, batch, work, input, run_at)
			VALUES ($1, $2, $3, '', $4, $5, $6)`), q.name, id, j.Kind, j.Work, j.Input, micros(j.After))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Job is a single job of a stream.
type Job struct {
	Kind  string
	Input []byte
	Work  float64   // the amount of work, such as bytes; 0: not known
	After time.Time // the job does not begin before this time; the zero time: at once
}

// Result returns the result of a single job. ok is false if the job has not ended. The error of a job that has failed
// for good is in Result.Err. A job that does not exist is an error.
func (q *Queue) Result(ctx context.Context, id string) (r queue.Result, ok bool, err error) {
	found, err := q.results(ctx, `id = $2`, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("sqlqueue: there is no job %s", id)
	}
	if err != nil {
		return r, false, err
	}
	return found[0].Result, found[0].ended, nil
}

// Run runs the jobs as a batch of the given name, and returns their results in the order of the jobs. It coordinates
// the queue meanwhile, unless another process does. It returns when each job has a result or has failed for good. If
// some jobs have failed, it also returns an error.
//
// If the database already has a batch of this name with the same jobs, Run continues this batch, or returns its
// results. So a process that has died calls Run again. If ctx ends, Run returns the cause of ctx. The results stay
// until [Queue.Forget].
func (q *Queue) Run(ctx context.Context, batch string, jobs []queue.Job, o queue.Options) ([]queue.Result, error) {
	if len(jobs) == 0 {
		return nil, queue.CheckBatch(batch, jobs)
	}
	if err := q.InsertBatch(ctx, batch, jobs); err != nil {
		return nil, err
	}
	var results []queue.Result
	err := queue.ServeUntil(ctx, q, o, func(ctx context.Context) (ended bool, err error) {
		var left bool
		err = q.db.QueryRowContext(ctx, q.text(`SELECT EXISTS (SELECT 1 FROM straggler_job
			WHERE queue = $1 AND batch = $2 AND batch <> '' AND state < 2)`), q.name, batch).Scan(&left)
		if err == nil && !left {
			results, ended, err = q.Results(ctx, batch)
		}
		return ended, err
	})
	if err != nil {
		return nil, err
	}
	return results, queue.FirstError(batch, results)
}

// Forget deletes the jobs of a batch that have ended, with their results, or all single jobs that have ended if batch is
// "". If all jobs of a batch have ended, another batch may have the name.
func (q *Queue) Forget(ctx context.Context, batch string) error {
	return q.transact(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM straggler_job WHERE queue = $1 AND batch = $2 AND state >= 2`, q.name, batch)
		if err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM straggler_batch WHERE queue = $1 AND name = $2 AND NOT EXISTS (
			SELECT 1 FROM straggler_job WHERE queue = $1 AND batch = $2)`, q.name, batch)
		return err
	})
}

// InsertBatch adds the jobs of a batch, all or none, for a process that does not wait for them. Processes that call
// [queue.Serve] run the batch. If the database has a batch of this name with the same jobs, nothing changes; if it has
// other jobs, InsertBatch returns an error.
func (q *Queue) InsertBatch(ctx context.Context, batch string, jobs []queue.Job) error {
	if err := queue.CheckBatch(batch, jobs); err != nil {
		return err
	}
	return q.transact(ctx, func(t *tx) error {
		added, err := t.exec(`INSERT INTO straggler_batch (queue, name, jobs) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			q.name, batch, fingerprint(jobs))
		if err != nil {
			return err
		}
		if added == 0 {
			var was string
			if err := t.row(`SELECT jobs FROM straggler_batch WHERE queue = $1 AND name = $2`, q.name, batch).Scan(&was); err != nil {
				return err
			}
			if was != fingerprint(jobs) {
				n, _, _ := strings.Cut(was, " ")
				return fmt.Errorf("sqlqueue: the database has a batch %s of %s other jobs: give each batch a name of its own, "+
					"such as one with its date", batch, n)
			}
			return nil
		}
		for first := 0; first < len(jobs); first += together {
			var v values
			for i, j := range jobs[first:min(first+together, len(jobs))] {
				v.add(q.name, fmt.Sprint(batch, "/", first+i), j.Kind, batch, j.Work, j.Input)
			}
			_, err := t.exec(`INSERT INTO straggler_job (queue, id, kind, batch, work, input) VALUES `+v.text(), v.args...)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Results returns the results of a batch, in the order of its jobs, or of all single jobs if batch is "". ended is
// false if a job has not ended; its result is empty.
func (q *Queue) Results(ctx context.Context, batch string) (all []queue.Result, ended bool, err error) {
	found, err := q.results(ctx, `batch = $2`, batch)
	ended = true
	for _, r := range found {
		all, ended = append(all, r.Result), ended && r.ended
	}
	return all, ended, err
}

// result is a result of a job, and whether the job has ended.
type result struct {
	queue.Result
	ended bool
}

// results returns the results of the jobs that match a condition, in the order of their insertion.
func (q *Queue) results(ctx context.Context, where string, arg any) (all []result, err error) {
	rows, err := q.db.QueryContext(ctx, q.text(`SELECT state, output, winner, error FROM straggler_job
		WHERE queue = $1 AND `+where+` ORDER BY n`), q.name, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r result
		var state int
		var text string
		if err := rows.Scan(&state, &r.Output, &r.Attempt, &text); err != nil {
			return nil, err
		}
		if r.ended = state >= done; state == failed {
			r.Err = errors.New(text)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}
