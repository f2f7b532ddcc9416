package riverqueue_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
	"github.com/straggler-go/straggler/restart/engine/riverqueue"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// square and other are the arguments of jobs: a number, as JSON.
type square int

func (square) Kind() string { return "square" }

type other int

func (other) Kind() string { return "other" }

// postgres starts a Postgres with River's tables.
func postgres(t *testing.T) (pool *pgxpool.Pool, db *sql.DB, url string) {
	url = queuetest.Postgres(t).URL
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	db = stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { db.Close() })
	return pool, db, url
}

var quiet = slog.New(slog.DiscardHandler)

// start starts a client of River that runs attempts. stop kills it.
func start(
	t *testing.T, pool *pgxpool.Pool, q *riverqueue.Queue, name string, slots int, handle queue.Handler,
) (stop func()) {
	workers := river.NewWorkers()
	work := func(ctx context.Context, input string) error {
		output, err := handle(ctx, []byte(input))
		queue.SetOutput(ctx, output)
		return err
	}
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[square]) error {
		return work(ctx, fmt.Sprint(int(job.Args)))
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[other]) error {
		return work(ctx, fmt.Sprint(int(job.Args)))
	}))
	config := &river.Config{Workers: workers, Logger: quiet, JobTimeout: -1, TestOnly: true}
	ctx, cancel := context.WithCancel(context.Background())
	w := queue.Worker{Name: name, Slots: slots, Interval: 10 * time.Millisecond, Log: quiet}
	require.NoError(t, q.AddWorker(ctx, config, w))
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	require.NoError(t, client.Start(ctx))
	stop = sync.OnceFunc(func() {
		cancel()
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = client.StopAndCancel(end)
	})
	t.Cleanup(stop)
	return stop
}

func TestRiver(t *testing.T) {
	pool, db, _ := postgres(t)
	var n atomic.Int64
	t.Run("", func(t *testing.T) {
		queuetest.Test(t, func(t *testing.T) queuetest.Backend {
			q, err := riverqueue.Open(t.Context(), db, fmt.Sprint("Queue ", n.Add(1)))
			require.NoError(t, err)
			return queuetest.Backend{
				Store: q,
				Insert: func(batch string, jobs []queue.Job) (err error) {
					if batch != "" {
						return q.InsertBatch(context.Background(), batch, jobs)
					}
					for _, j := range jobs {
						_, err = q.Queue.Insert(context.Background(), nil, sqlqueue.Job{Kind: j.Kind, Input: j.Input})
					}
					return err
				},
				Results: func(batch string) ([]queue.Result, bool, error) { return q.Results(context.Background(), batch) },
				Work: func(t *testing.T, name string, slots int, handle queue.Handler) func() {
					return start(t, pool, q, name, slots, handle)
				},
			}
		})
	})
}

// missing are the arguments of jobs for which no worker is registered.
type missing int

func (missing) Kind() string { return "missing" }

// told is the error handler of a program.
type told chan string

func (t told) HandleError(_ context.Context, _ *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	t <- err.Error()
	return nil
}

func (t told) HandlePanic(_ context.Context, _ *rivertype.JobRow, v any, _ string) *river.ErrorHandlerResult {
	t <- fmt.Sprint(v)
	return nil
}

// cancelled are the arguments of jobs that another middleware cancels. River calls no error handler for them.
type cancelled int

func (cancelled) Kind() string { return "cancelled" }

// River ends some attempts before they begin. Their jobs fail with River's error, and the program's own error handler is
// called as without this package.
func TestAttemptsThatRiverEnds(t *testing.T) {
	pool, db, _ := postgres(t)
	q, err := riverqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	refuse := func(_ context.Context, job *rivertype.JobRow, _ func(context.Context) error) error {
		switch job.Kind {
		case "other":
			panic("no others")
		case "cancelled":
			return river.JobCancel(errors.New("not today"))
		}
		return errors.New("refused")
	}
	config := &river.Config{
		Workers: river.NewWorkers(), Logger: quiet, TestOnly: true, ErrorHandler: make(told, 9),
		Middleware: []rivertype.Middleware{river.WorkerMiddlewareFunc(refuse)},
	}
	river.AddWorker(config.Workers, river.WorkFunc(func(context.Context, *river.Job[square]) error { return nil }))
	river.AddWorker(config.Workers, river.WorkFunc(func(context.Context, *river.Job[other]) error { return nil }))
	river.AddWorker(config.Workers, river.WorkFunc(func(context.Context, *river.Job[cancelled]) error { return nil }))
	own := config.ErrorHandler.(told)
	require.NoError(t, q.AddWorker(t.Context(), config, queue.Worker{Name: "a", Log: quiet}))
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for want, args := range map[string]river.JobArgs{
		"not registered": missing(1), "refused": square(1), "no others": other(1), "not today": cancelled(1),
	} {
		o := queue.Options{Log: quiet, Kinds: map[string]queue.Kind{"": {Tries: 1}}}
		_, err := q.Run(ctx, want, []river.JobArgs{args}, o)
		require.ErrorContains(t, err, want)
		if want != "not today" {
			require.Contains(t, <-own, want)
		}
	}
	require.Empty(t, own)
}

// An attempt that waits fails if somebody cancels or deletes its job of River. Its worker is busy with another attempt,
// which goes on.
func TestJobOfRiverIsCancelledWhileItWaits(t *testing.T) {
	pool, db, _ := postgres(t)
	q, err := riverqueue.Open(t.Context(), db, "default")
	require.NoError(t, err)
	var begun atomic.Int64
	release := make(chan struct{})
	start(t, pool, q, "a", 1, func(context.Context, []byte) ([]byte, error) {
		begun.Add(1)
		<-release
		return nil, nil
	})
	ids, err := q.Insert(t.Context(), nil, square(1), square(2), square(3))
	require.NoError(t, err)
	go queue.Serve(t.Context(), q, queue.Options{
		Log: quiet, Prefetch: 2, Kinds: map[string]queue.Kind{"": {Tries: 1}},
	})
	waiting := func() (jobs []int64) {
		rows, err := pool.Query(t.Context(), `SELECT id FROM river_job WHERE state = 'available' ORDER BY id`)
		require.NoError(t, err)
		jobs, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		require.NoError(t, err)
		return jobs
	}
	require.Eventually(t, func() bool { return begun.Load() == 1 && len(waiting()) == 2 }, 20*time.Second, 20*time.Millisecond)
	jobs := waiting()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet})
	require.NoError(t, err)
	_, err = client.JobCancel(t.Context(), jobs[0])
	require.NoError(t, err)
	_, err = client.JobDelete(t.Context(), jobs[1])
	require.NoError(t, err)
	for _, id := range ids[1:] {
		require.Eventually(t, func() bool {
			r, ok, err := q.Result(t.Context(), id)
			require.NoError(t, err)
			return ok && r.Err != nil && r.Err.Error() == "riverqueue: the job of River was cancelled or deleted before it began"
		}, 20*time.Second, 20*time.Millisecond)
	}
	close(release)
	require.Eventually(t, func() bool {
		r, ok, err := q.Result(t.Context(), ids[0])
		require.NoError(t, err)
		return ok && r.Err == nil
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, int64(1), begun.Load())
}

func TestNilArguments(t *testing.T) {
	_, err := riverqueue.Jobs(square(1), nil)
	require.EqualError(t, err, "riverqueue: job 1 has nil as its arguments, want river.JobArgs")
}

// A program needs at most 10 lines from an open database to the results, with River's own.
func TestProgram(t *testing.T) {
	_, _, url := postgres(t)
	queuetest.Program(t, 10, url)
}
