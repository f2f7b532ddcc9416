package sqlqueue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// dialect is the kind of database. The texts of queries are written for Postgres, with words in braces where the
// databases differ.
type dialect struct {
	words *strings.Replacer
	// setup are the commands before a transaction that database/sql can't begin; nil if it can. SQLite has to lock the
	// database at the begin of a transaction, since a transaction that begins by reading can't be sure to write.
	setup []string
}

var (
	postgres = dialect{words: strings.NewReplacer(
		"{serial}", "bigserial PRIMARY KEY", "{blob}", "bytea", "{lock}", "FOR UPDATE",
		"{now}", "(extract(epoch from clock_timestamp()) * 1000000)::bigint",
	)}
	sqlite = dialect{words: strings.NewReplacer(
		"{serial}", "integer PRIMARY KEY AUTOINCREMENT", "{blob}", "blob", "{lock}", "",
		"{now}", "CAST(unixepoch('subsec') * 1000000 AS integer)", "$", "?",
	), setup: []string{"PRAGMA busy_timeout = 10000", "BEGIN IMMEDIATE"}}
)

// The states of a job in its row. An attempt's row has a number of engine.State.
const (
	waiting = iota // the job waits, and no coordinator has it
	taken          // a coordinator has it in its state
	done           // the job has a result
	failed         // the job has failed for good
)

// migrations are the changes of the tables from version to version. Never change one: add another.
var migrations = [][]string{{
	`CREATE TABLE straggler_job (
		n {serial}, queue text NOT NULL, id text NOT NULL, batch text NOT NULL, kind text NOT NULL,
		work double precision NOT NULL DEFAULT 0, input {blob}, run_at bigint NOT NULL DEFAULT 0,
		state smallint NOT NULL DEFAULT 0, output {blob}, winner text NOT NULL DEFAULT '', error text NOT NULL DEFAULT '')`,
	`CREATE UNIQUE INDEX straggler_job_id ON straggler_job (queue, id)`, // Postgres prefers it also without statistics
	`CREATE INDEX straggler_job_batch ON straggler_job (queue, batch, state) WHERE batch <> ''`,
	`CREATE INDEX straggler_job_waiting ON straggler_job (queue, n) WHERE state = 0 AND batch <> ''`,
	`CREATE INDEX straggler_job_due ON straggler_job (queue, run_at, n) WHERE state = 0 AND batch = ''`,
	`CREATE TABLE straggler_batch (queue text NOT NULL, name text NOT NULL, jobs text NOT NULL, PRIMARY KEY (queue, name))`,
	`CREATE TABLE straggler_attempt (
		n {serial}, queue text NOT NULL, name text NOT NULL, job text NOT NULL, number integer NOT NULL,
		worker text NOT NULL, state smallint NOT NULL DEFAULT 0, begun bigint NOT NULL DEFAULT 0, ended bigint NOT NULL DEFAULT 0,
		share double precision NOT NULL DEFAULT 0, as_of bigint NOT NULL DEFAULT 0, cancel smallint NOT NULL DEFAULT 0,
		message bigint NOT NULL DEFAULT 0, output {blob}, error text NOT NULL DEFAULT '', UNIQUE (queue, name))`,
	`CREATE INDEX straggler_attempt_worker ON straggler_attempt (queue, worker, state)`,
	`CREATE TABLE straggler_worker (
		queue text NOT NULL, name text NOT NULL, slots integer NOT NULL, heard bigint NOT NULL, PRIMARY KEY (queue, name))`,
	`CREATE TABLE straggler_state (
		queue text PRIMARY KEY, epoch bigint NOT NULL, owner text NOT NULL, until bigint NOT NULL, state {blob})`,
	`CREATE TABLE straggler_knowledge (key text PRIMARY KEY, version bigint NOT NULL, value {blob})`,
}, {
	`ALTER TABLE straggler_job ADD COLUMN failures integer NOT NULL DEFAULT 0`,
}}

// migrate brings the tables to the newest version.
func (q *Queue) migrate(ctx context.Context) error {
	_, err := q.db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS straggler_migration (version integer PRIMARY KEY)`)
	if err != nil {
		// Postgres may fail if two processes create the table at once; then it exists.
		var n int
		if q.db.QueryRowContext(ctx, `SELECT count(*) FROM straggler_migration`).Scan(&n) != nil {
			return err
		}
	}
	return q.transact(ctx, func(t *tx) error {
		if q.dialect.setup == nil {
			if _, err := t.exec(`LOCK TABLE straggler_migration IN EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		var version int
		if err := t.row(`SELECT coalesce(max(version), 0) FROM straggler_migration`).Scan(&version); err != nil {
			return err
		}
		if version > len(migrations) {
			return fmt.Errorf("the tables have version %d, and this program knows %d: use a newer program", version, len(migrations))
		}
		for v := version; v < len(migrations); v++ {
			for _, statement := range migrations[v] {
				if _, err := t.exec(statement); err != nil {
					return err
				}
			}
			if _, err := t.exec(`INSERT INTO straggler_migration (version) VALUES ($1)`, v+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// text returns a query for the database.
func (q *Queue) text(query string) string { return q.dialect.words.Replace(query) }

// tx is a transaction.
type tx struct {
	q   *Queue
	ctx context.Context
	on  interface {
		Executor
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
}

// transact runs do in a transaction.
func (q *Queue) transact(ctx context.Context, do func(*tx) error) error {
	if q.dialect.setup != nil {
		return q.lockAndTransact(ctx, do)
	}
	// Rows are locked where that matters. So a database that isolates more strictly by default refuses no transaction.
	t, err := q.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := do(&tx{q, ctx, t}); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Commit()
}

// lockAndTransact runs do in a transaction that begins with the commands of the dialect.
func (q *Queue) lockAndTransact(ctx context.Context, do func(*tx) error) error {
	conn, err := q.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range q.dialect.setup {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if err = do(&tx{q, ctx, conn}); err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		back, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if _, failed := conn.ExecContext(back, "ROLLBACK"); failed != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // so the pool closes the connection
		}
	}
	return err
}

// together is the number of rows in one statement.
const together = 500

// values are the rows of an INSERT with their arguments.
type values struct {
	rows []string
	args []any
}

func (v *values) add(row ...any) {
	places := make([]string, len(row))
	for i := range row {
		places[i] = fmt.Sprint("$", len(v.args)+i+1)
	}
	v.rows, v.args = append(v.rows, "("+strings.Join(places, ", ")+")"), append(v.args, row...)
}

func (v *values) text() string { return strings.Join(v.rows, ", ") }

func (t *tx) exec(query string, args ...any) (rows int64, err error) {
	r, err := t.on.ExecContext(t.ctx, t.q.text(query), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (t *tx) row(query string, args ...any) *sql.Row {
	return t.on.QueryRowContext(t.ctx, t.q.text(query), args...)
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	return t.on.QueryContext(t.ctx, t.q.text(query), args...)
}

// micros returns a time as the database has it: in microseconds since 1970; the zero time as 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}

// fingerprint returns the number of the jobs and a hash of their kinds and inputs.
func fingerprint(jobs []queue.Job) string {
	hash := sha256.New()
	write := func(data []byte) {
		_ = binary.Write(hash, binary.LittleEndian, uint64(len(data)))
		hash.Write(data)
	}
	for _, j := range jobs {
		write([]byte(j.Kind))
		write(j.Input)
	}
	return fmt.Sprint(len(jobs), " ", hex.EncodeToString(hash.Sum(nil)[:16]))
}
