package riverplugin

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tables creates the plugin's tables, in the schema of River's tables, if they are missing. If they are there, it needs no
// right to create any.
//
// straggler_end decides which attempt ends a job: whoever inserts the row of a run of a job may end it, and nobody
// else. The attempt itself, a copy of it and a rescue compete for the row. The tables without a log are empty after a
// crash of Postgres. A client that lives fills its row again with its next beat. A client that died with Postgres is still in
// straggler_member, so its jobs are rescued. That table also says when the present process took the name from another, what
// that one had listed in its last beat, and in which kinds the client lets only one attempt end a job: in none, in
// the shadow mode. straggler_lease has a row for each coordinator, and what it has learnt about kinds.
const tables = `DO $$ BEGIN
	PERFORM pg_advisory_xact_lock(7235419082);
	IF to_regclass('SCHEMA.straggler_lease') IS NULL THEN
		CREATE UNLOGGED TABLE SCHEMA.straggler_client (
			client text PRIMARY KEY, seen timestamptz NOT NULL, slots int NOT NULL, running jsonb NOT NULL, queues text[] NOT NULL
		);
		CREATE UNLOGGED TABLE SCHEMA.straggler_end (
			run text PRIMARY KEY, job bigint NOT NULL, by bigint NOT NULL, ok boolean NOT NULL, copy text NOT NULL, kind text NOT NULL,
			began timestamptz NOT NULL, ended timestamptz NOT NULL DEFAULT now()
		);
		CREATE INDEX ON SCHEMA.straggler_end (ended);
		CREATE TABLE SCHEMA.straggler_member (
			client text PRIMARY KEY, holder text NOT NULL, guards text[] NOT NULL, since timestamptz NOT NULL DEFAULT 'epoch',
			before jsonb NOT NULL DEFAULT '{}'
		);
		CREATE TABLE SCHEMA.straggler_lease (
			name text PRIMARY KEY, holder text NOT NULL DEFAULT '', term bigint NOT NULL DEFAULT 0,
			until timestamptz NOT NULL DEFAULT now(), known bytea
		);
		INSERT INTO SCHEMA.straggler_lease (name) VALUES ('coordinator'), ('shadow');
	END IF;
END $$`

// in writes what a statement leaves open: SCHEMA, the schema of River's tables, RUN, the name of the run of a row j of river_job,
// and TELL, the call that makes the clients of a queue look for jobs at once, as River does. The empty schema stands for the
// search path, as in River's configuration.
//
// A job that was snoozed, or that a soft stop has ended, runs again with the same number of the attempt. So the name of a run has
// the time of its begin, too. The Go side of it is [runOf].
func in(schema, sql string) string {
	topic := "current_schema()"
	if schema != "" {
		topic = "'" + strings.ReplaceAll(schema, "'", "''") + "'"
		schema = pgx.Identifier{schema}.Sanitize() + "."
	}
	return strings.NewReplacer("SCHEMA.", schema,
		"RUN", "concat(j.id, '.', j.attempt, '.', (extract(epoch FROM j.attempted_at) * 1000000)::bigint)",
		"TELL", fmt.Sprintf("pg_notify(concat(%s, '.river_insert'), json_build_object('queue', queue)::text)", topic)).Replace(sql)
}
