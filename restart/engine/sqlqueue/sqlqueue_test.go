package sqlqueue_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// backend returns a queue as queuetest checks it.
func backend(t *testing.T, db *sql.DB, name string) queuetest.Backend {
	q, err := sqlqueue.Open(t.Context(), db, name)
	require.NoError(t, err)
	return queuetest.Backend{
		Store: q, Source: q,
		Insert: func(batch string, jobs []queue.Job) (err error) {
			ctx := context.Background()
			if batch != "" {
				return q.InsertBatch(ctx, batch, jobs)
			}
			for _, j := range jobs {
				_, err = q.Insert(ctx, nil, sqlqueue.Job{Kind: j.Kind, Input: j.Input})
			}
			return err
		},
		Results: func(batch string) ([]queue.Result, bool, error) {
			return q.Results(context.Background(), batch)
		},
	}
}

func openSQLite(t *testing.T) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "jobs.db")+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSQLite(t *testing.T) {
	queuetest.Test(t, func(t *testing.T) queuetest.Backend { return backend(t, openSQLite(t), "default") })
}

// All queues of this test are in one database, and have odd names.
func TestPostgres(t *testing.T) {
	url := queuetest.Postgres(t).URL
	var n atomic.Int64
	t.Run("", func(t *testing.T) { // so that the server runs until all checks have ended
		queuetest.Test(t, func(t *testing.T) queuetest.Backend {
			db, err := sql.Open("pgx", url)
			require.NoError(t, err)
			t.Cleanup(func() { db.Close() })
			return backend(t, db, fmt.Sprint("queue's ", n.Add(1)))
		})
	})
}

// Postgres crashes and comes back while a batch runs.
func TestPostgresCrashes(t *testing.T) {
	server := queuetest.Postgres(t)
	db, err := sql.Open("pgx", server.URL)
	require.NoError(t, err)
	defer db.Close()
	q, err := sqlqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	square := func(ctx context.Context, input []byte) ([]byte, error) {
		var n int
		_, err := fmt.Sscan(string(input), &n)
		time.Sleep(50 * time.Millisecond)
		return fmt.Append(nil, n*n), err
	}
	quiet := slog.New(slog.DiscardHandler)
	for _, name := range []string{"a", "b"} {
		go queue.Worker{Name: name, Slots: 2, Log: quiet}.Run(t.Context(), q, map[string]queue.Handler{"square": square})
	}
	go func() {
		for range 3 {
			time.Sleep(500 * time.Millisecond)
			assert.NoError(t, server.Restart())
		}
	}()
	var inputs [][]byte
	for i := range 120 {
		inputs = append(inputs, fmt.Append(nil, i))
	}
	results, err := q.Run(t.Context(), "x", queue.Batch("square", inputs...), queue.Options{Log: quiet})
	require.NoError(t, err)
	for i, r := range results {
		require.Equal(t, fmt.Sprint(i*i), string(r.Output))
	}
}

// Run with the name of a batch that exists continues it, or refuses other jobs.
func TestBatchOfTheSameName(t *testing.T) {
	q, err := sqlqueue.Open(t.Context(), openSQLite(t), "default")
	require.NoError(t, err)
	calls := new(atomic.Int64)
	handle := func(context.Context, []byte) ([]byte, error) { return fmt.Append(nil, calls.Add(1)), nil }
	go queue.Worker{Name: "a"}.Run(t.Context(), q, map[string]queue.Handler{"count": handle})
	o := queue.Options{Log: slog.New(slog.DiscardHandler)}
	for range 2 {
		results, err := q.Run(t.Context(), "x", queue.Batch("count", []byte("one")), o)
		require.NoError(t, err)
		require.Equal(t, "1", string(results[0].Output))
	}
	_, err = q.Run(t.Context(), "x", queue.Batch("count", []byte("two")), o)
	require.EqualError(t, err, "sqlqueue: the database has a batch x of 1 other jobs: give each batch a name of its own, such as one with its date")
	require.NoError(t, q.Forget(t.Context(), "x"))
	results, err := q.Run(t.Context(), "x", queue.Batch("count", []byte("two")), o)
	require.NoError(t, err)
	require.Equal(t, "2", string(results[0].Output))
}

func TestRubbish(t *testing.T) {
	db := openSQLite(t)
	q, err := sqlqueue.Open(t.Context(), db, "")
	require.NoError(t, err, "a queue may have any name")
	_, _, err = q.Result(t.Context(), "no such job")
	assert.EqualError(t, err, "sqlqueue: there is no job no such job")
	_, err = q.Insert(t.Context(), nil, sqlqueue.Job{})
	assert.EqualError(t, err, `sqlqueue: Job.Kind is "", want a kind: job 0`)
	for name, jobs := range map[string][]queue.Job{
		"": queue.Batch("a", nil), "a/b": queue.Batch("a", nil), "x": queue.Batch("", nil), "y": append(queue.Batch("a", nil), queue.Job{Kind: "b"}),
	} {
		_, err = q.Run(t.Context(), name, jobs, queue.Options{})
		assert.Error(t, err, name)
	}
	_, err = q.Run(t.Context(), "x", queue.Batch("a", nil), queue.Options{Interval: -1})
	assert.EqualError(t, err, "queue: Options.Interval is -1ns, want a positive duration, or 0 for 250ms")
	_, err = sqlqueue.OpenWith(t.Context(), db, "", nil)
	assert.ErrorContains(t, err, "needs Postgres")
	_, err = db.Exec("INSERT INTO straggler_migration (version) VALUES (99)")
	require.NoError(t, err)
	_, err = sqlqueue.Open(t.Context(), db, "")
	assert.ErrorContains(t, err, "the tables have version 99, and this program knows 1: use a newer program")
}

// A program needs at most 15 lines from an open database to the results.
func TestProgram(t *testing.T) { queuetest.Program(t, 15, filepath.Join(t.TempDir(), "jobs.db")) }
