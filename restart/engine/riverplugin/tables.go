package riverplugin

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tables are the plugin's tables, in the schema of River's tables.
//
// straggler_end decides which attempt ends a job: whoever inserts the row of a run of a job may end it, and nobody
// else. The attempt itself, a copy of it and a rescue compete for the row. The tables without a log are empty after a
// crash of Postgres. A client that lives fills its row again with its next beat. A client that died with Postgres is still in
// straggler_member, so its jobs are rescued. That table also says when the present process took the name from another, what
// that one had listed in its last beat, and in which kinds the client lets only one attempt end a job: in none, in
// the shadow mode.
const tables = `
SELECT pg_advisory_xact_lock(7235419082);
CREATE UNLOGGED TABLE IF NOT EXISTS SCHEMA.straggler_client (
	client text PRIMARY KEY, seen timestamptz NOT NULL, busy int NOT NULL, slots int NOT NULL,
	running jsonb NOT NULL, ends text[] NOT NULL DEFAULT '{}'
);
CREATE UNLOGGED TABLE IF NOT EXISTS SCHEMA.straggler_end (
	job bigint, attempt int, began timestamptz, by bigint NOT NULL, ok boolean NOT NULL, kind text NOT NULL,
	ended timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (job, attempt, began)
);
CREATE INDEX IF NOT EXISTS straggler_end_ended ON SCHEMA.straggler_end (ended);
CREATE TABLE IF NOT EXISTS SCHEMA.straggler_lease (
	name text PRIMARY KEY, holder text NOT NULL, term bigint NOT NULL, until timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS SCHEMA.straggler_knowledge (name text PRIMARY KEY, known bytea NOT NULL, saved timestamptz NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS SCHEMA.straggler_member (
	client text PRIMARY KEY, holder text NOT NULL, guards text[] NOT NULL,
	since timestamptz, before jsonb NOT NULL DEFAULT '{}'
);`

// create creates the tables if they are missing. If they are there, it needs no right to create any.
func create(ctx context.Context, conn *pgx.Conn, schema string) error {
	var there bool
	err := conn.QueryRow(ctx, in(schema, `SELECT to_regclass('SCHEMA.straggler_knowledge') IS NOT NULL`)).Scan(&there)
	if err == nil && !there {
		_, err = conn.PgConn().Exec(ctx, in(schema, tables)).ReadAll()
	}
	return err
}

// in writes the name of a schema where sql has the word SCHEMA. The empty schema stands for the search path, as in River's
// configuration.
func in(schema, sql string) string {
	if schema != "" {
		schema = pgx.Identifier{schema}.Sanitize() + "."
	}
	return strings.ReplaceAll(sql, "SCHEMA.", schema)
}

// querier is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// line is a connection of the plugin's own. The pool of the program may have no connection left, and a beat must not
// wait for one. After a fault the line connects again.
type line struct {
	mu     sync.Mutex
	config *pgxpool.Config
	conn   *pgx.Conn
}

// patience is how long the plugin waits for an answer of the database. A connection that takes longer may be dead.
const patience = 2 * time.Second

// do calls f with the connection. If f returns an error, the connection is closed.
func (l *line) do(ctx context.Context, f func(ctx context.Context, conn *pgx.Conn) error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if l.conn == nil {
		if err = l.connect(ctx); err != nil {
			l.close()
			return err
		}
	}
	if err = f(ctx, l.conn); err != nil {
		l.close()
	}
	return err
}

// connect connects as the pool does.
func (l *line) connect(ctx context.Context) (err error) {
	c := l.config.ConnConfig.Copy()
	if l.config.BeforeConnect != nil {
		if err = l.config.BeforeConnect(ctx, c); err != nil {
			return err
		}
	}
	if l.conn, err = pgx.ConnectConfig(ctx, c); err != nil {
		l.conn = nil
		return err
	}
	if l.config.AfterConnect != nil {
		return l.config.AfterConnect(ctx, l.conn)
	}
	return nil
}

// close closes the connection, and waits only a moment for the server.
func (l *line) close() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/4)
		defer cancel()
		l.conn.Close(ctx)
		l.conn = nil
	}
}
