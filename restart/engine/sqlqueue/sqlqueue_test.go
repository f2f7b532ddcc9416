package sqlqueue_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
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
	file := filepath.Join(t.TempDir(), "jobs.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
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
	require.EqualError(t, err, "sqlqueue: the database has a batch x of 1 other jobs: "+
		"give each batch a name of its own, such as one with its date")
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
	assert.EqualError(t, err, `queue: Job.Kind is "", want a kind: job 0`)
	ids, err := q.Insert(t.Context(), nil, sqlqueue.Job{Kind: "a"}, sqlqueue.Job{})
	assert.EqualError(t, err, `queue: Job.Kind is "", want a kind: job 1`)
	assert.Empty(t, ids, "no job is inserted")
	none, _, err := q.Results(t.Context(), "")
	assert.NoError(t, err)
	assert.Empty(t, none)
	for name, jobs := range map[string][]queue.Job{
		"": queue.Batch("a", nil), "a/b": queue.Batch("a", nil), "x": queue.Batch("", nil),
		"y": append(queue.Batch("a", nil), queue.Job{Kind: "b"}),
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
	assert.ErrorContains(t, err, "the tables have version 99, and this program knows 2: use a newer program")
}

// A program needs at most 15 lines from an open database to the results.
func TestProgram(t *testing.T) { queuetest.Program(t, 15, filepath.Join(t.TempDir(), "jobs.db")) }

// A coordinator takes a large batch in one short commit, also if Postgres has no statistics of the tables yet.
func TestLargeBatch(t *testing.T) {
	for name, open := range map[string]func() *sql.DB{
		"SQLite": func() *sql.DB { return openSQLite(t) },
		"Postgres": func() *sql.DB {
			db, err := sql.Open("pgx", queuetest.Postgres(t).URL)
			require.NoError(t, err)
			return db
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open()
			defer db.Close()
			q, err := sqlqueue.Open(t.Context(), db, "default")
			require.NoError(t, err)
			_, err = q.Beat(t.Context(), queue.Beat{Worker: "a", Slots: 8})
			require.NoError(t, err)
			require.NoError(t, q.InsertBatch(t.Context(), "x", queue.Batch("k", make([][]byte, 20_000)...)))
			c, err := queue.NewCoordinator(q, queue.Options{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			require.NoError(t, c.Turn(ctx, time.Now()))
			require.NoError(t, c.Turn(ctx, time.Now()))
			jobs, err := q.Waiting(ctx, 1)
			require.NoError(t, err)
			require.Empty(t, jobs, "all are taken")
		})
	}
}

// Single jobs begin in the order of their insertion, as soon as they may.
func TestJobsForLater(t *testing.T) {
	q, err := sqlqueue.Open(t.Context(), openSQLite(t), "default")
	require.NoError(t, err)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	_, err = q.Insert(t.Context(), nil, sqlqueue.Job{Kind: "1", After: past}, sqlqueue.Job{Kind: "2"},
		sqlqueue.Job{Kind: "never", After: future}, sqlqueue.Job{Kind: "3", After: past.Add(-time.Hour)}, sqlqueue.Job{Kind: "4"})
	require.NoError(t, err)
	for limit, want := range []string{"", "1", "12", "123", "1234", "1234"} {
		jobs, err := q.Waiting(t.Context(), limit)
		require.NoError(t, err)
		got := ""
		for _, j := range jobs {
			got += j.Kind
		}
		if limit != 1 && limit != 2 { // of jobs for later, the first that may begin comes first
			require.Equal(t, want, got)
		}
		require.Len(t, jobs, min(limit, 4))
	}
}

// Somebody deletes the row of a job that is not over. The worker and the coordinator go on with the others.
func TestDeletedJob(t *testing.T) {
	db := openSQLite(t)
	q, err := sqlqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	ids, err := q.Insert(t.Context(), nil, slices.Repeat([]sqlqueue.Job{{Kind: "k"}}, 6)...)
	require.NoError(t, err)
	begun := make(chan bool, 100)
	handle := func(context.Context, []byte) ([]byte, error) {
		begun <- true
		time.Sleep(100 * time.Millisecond)
		return nil, nil
	}
	quiet := slog.New(slog.DiscardHandler)
	go queue.Worker{Name: "a", Log: quiet}.Run(t.Context(), q, map[string]queue.Handler{"k": handle})
	go queue.Serve(t.Context(), q, queue.Options{Log: quiet, Kinds: map[string]queue.Kind{"": {Tries: 3}}})
	<-begun
	time.Sleep(50 * time.Millisecond) // so that two attempts wait
	_, err = db.Exec("DELETE FROM straggler_job WHERE id = ?", ids[1])
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, ok, err := q.Result(t.Context(), ids[5])
		require.NoError(t, err)
		return ok
	}, 20*time.Second, 20*time.Millisecond)
}

// Forget deletes single jobs that have ended, and no others.
func TestForgetSingleJobs(t *testing.T) {
	q, err := sqlqueue.Open(t.Context(), openSQLite(t), "default")
	require.NoError(t, err)
	ids, err := q.Insert(t.Context(), nil, sqlqueue.Job{Kind: "k"}, sqlqueue.Job{Kind: "k", After: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	handle := func(context.Context, []byte) ([]byte, error) { return nil, nil }
	quiet := slog.New(slog.DiscardHandler)
	go queue.Worker{Name: "a", Log: quiet}.Run(t.Context(), q, map[string]queue.Handler{"k": handle})
	_, err = q.Run(t.Context(), "x", queue.Batch("k", nil), queue.Options{Log: quiet})
	require.NoError(t, err)
	go queue.Serve(t.Context(), q, queue.Options{Log: quiet})
	require.Eventually(t, func() bool {
		_, ok, err := q.Result(t.Context(), ids[0])
		return err == nil && ok
	}, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, q.Forget(t.Context(), ""))
	_, _, err = q.Result(t.Context(), ids[0])
	assert.ErrorContains(t, err, "there is no job")
	_, ok, err := q.Result(t.Context(), ids[1])
	assert.NoError(t, err)
	assert.False(t, ok)
	batch, ended, err := q.Results(t.Context(), "x")
	assert.NoError(t, err)
	assert.True(t, ended && len(batch) == 1)
}

// Postgres isolates transactions more strictly by default. No transaction of the queue is refused for that.
func TestSerializable(t *testing.T) {
	url := queuetest.Postgres(t).URL + "&default_transaction_isolation=serializable"
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	q, err := sqlqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	handle := func(context.Context, []byte) ([]byte, error) { time.Sleep(time.Millisecond); return nil, nil }
	ctx, cancel := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		workers.Go(func() {
			w := queue.Worker{Name: name, Slots: 4, Interval: 5 * time.Millisecond, Log: logger}
			_ = w.Run(ctx, q, map[string]queue.Handler{"k": handle})
		})
	}
	jobs, o := queue.Batch("k", make([][]byte, 300)...), queue.Options{Log: logger, Look: 5 * time.Millisecond}
	_, err = q.Run(t.Context(), "x", jobs, o)
	require.NoError(t, err)
	cancel()
	workers.Wait()
	require.Empty(t, log.String())
}

// A database in memory belongs to one connection. It works with one, and is refused with several.
func TestDatabaseInMemory(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	_, err = sqlqueue.Open(t.Context(), db, "default")
	require.ErrorContains(t, err, "want a database in a file, or in memory with SetMaxOpenConns(1)")
	db.SetMaxOpenConns(1)
	q, err := sqlqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	handle := func(context.Context, []byte) ([]byte, error) { return nil, nil }
	quiet := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go queue.Worker{Name: "a", Log: quiet}.Run(ctx, q, map[string]queue.Handler{"k": handle})
	_, err = q.Run(ctx, "x", queue.Batch("k", nil, nil), queue.Options{Log: quiet})
	require.NoError(t, err)
}
