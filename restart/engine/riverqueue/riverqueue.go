// Package riverqueue copies slow jobs of River, a job queue on Postgres (https://riverqueue.com), to other
// workers. The workers stay as they are: they implement river.Worker, and are registered with river.AddWorker.
//
//	q, err := riverqueue.Open(ctx, db, "default") // db is a *sql.DB; stdlib.OpenDBFromPool makes one of a pgxpool.Pool
//	config := &river.Config{Workers: workers}
//	err = q.AddWorker(ctx, config, queue.Worker{Slots: 8})
//	client, err := river.NewClient(riverpgxv5.New(pool), config)
//	err = client.Start(ctx)
//
//	results, err := q.Run(ctx, "thumbnails-2026-11", args, queue.Options{
//		Kinds: map[string]queue.Kind{"resize": {Copies: true}},
//	})
//
// [Queue.Run] runs a batch. Single jobs are inserted with [Queue.Insert], and one process or several call
// [queue.Serve]. Jobs that are inserted with River's own Insert are none of this package's business.
//
// # How it works
//
// Each attempt of a job is a job of River with one try, in a queue of River that a single worker reads. It is inserted
// and cancelled by River's own API, in the transaction that also has the state of the coordinator. A middleware reports
// when an attempt begins and ends. So the tries, the back-off and the timeout of a job are set in queue.Kind.
// River's settings for them have no effect, except JobTimeout: set it to more than Kind.Timeout, or to -1.
//
// A worker that is not heard from for Options.Silence is lost, and its attempts are run elsewhere: after five seconds,
// not after River's RescueStuckJobsAfter, an hour. A job that hangs on a worker that is well ends after Kind.Timeout.
// With Kind.Patience this time is learned for each kind of job, from the run times of the kind. If a handler ignores the
// end of its context, River calls Config.JobStuckHandler; AddWorker sets a handler that gives the slot to the next
// attempt.
package riverqueue

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivertype"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// Queue is a job queue on River. It is a [queue.Store]. It is safe for concurrent use.
type Queue struct {
	*sqlqueue.Queue
	db   *sql.DB
	name string
}

// Open returns the queue of the given name in a database that has River's tables. It creates the tables of package
// sqlqueue if they are missing.
func Open(ctx context.Context, db *sql.DB, name string) (*Queue, error) {
	client, err := river.NewClient(riverdatabasesql.New(db), &river.Config{})
	if err != nil {
		return nil, fmt.Errorf("riverqueue: %w", err)
	}
	q := &Queue{db: db, name: name}
	q.Queue, err = sqlqueue.OpenWith(ctx, db, name, delivery{q, client})
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Run runs a batch of the given name, a job for each of args, and returns the results in the order of args. A worker
// passes its output to [queue.SetOutput]. All args have one kind. See [sqlqueue.Queue.Run].
func (q *Queue) Run(ctx context.Context, batch string, args []river.JobArgs, o queue.Options) ([]queue.Result, error) {
	jobs, err := Jobs(args...)
	if err != nil {
		return nil, err
	}
	return q.Queue.Run(ctx, batch, jobs, o)
}

// Insert adds single jobs, in order, and returns their IDs. in is a *sql.Tx, or nil for the database itself. See
// [sqlqueue.Queue.Insert].
func (q *Queue) Insert(ctx context.Context, in sqlqueue.Executor, args ...river.JobArgs) (ids []string, err error) {
	jobs, err := Jobs(args...)
	if err != nil {
		return nil, err
	}
	var single []sqlqueue.Job
	for _, j := range jobs {
		single = append(single, sqlqueue.Job{Kind: j.Kind, Input: j.Input})
	}
	return q.Queue.Insert(ctx, in, single...)
}

// Jobs returns jobs with River's arguments, for programs that set the work of each job and call the methods of
// [sqlqueue.Queue].
func Jobs(args ...river.JobArgs) ([]queue.Job, error) {
	jobs := make([]queue.Job, len(args))
	for i, a := range args {
		if a == nil {
			return nil, fmt.Errorf("riverqueue: job %d has nil as its arguments, want river.JobArgs", i)
		}
		input, err := json.Marshal(a)
		if err != nil {
			return nil, fmt.Errorf("riverqueue: job %d: %w", i, err)
		}
		jobs[i] = queue.Job{Kind: a.Kind(), Input: input}
	}
	return jobs, nil
}

// delivery inserts and cancels the jobs of River.
type delivery struct {
	q      *Queue
	client *river.Client[*sql.Tx]
}

// rawArgs are arguments of a job that are JSON already.
type rawArgs struct {
	kind string
	json.RawMessage
}

func (a rawArgs) Kind() string { return a.kind }

// metadata is the metadata of a job of River that is an attempt.
type metadata struct {
	Straggler struct{ Queue, Attempt string } `json:"straggler"`
}

// Submit inserts attempts as jobs of River.
func (d delivery) Submit(ctx context.Context, tx *sql.Tx, attempts []queue.Submit) (ids []int64, err error) {
	params := make([]river.InsertManyParams, len(attempts))
	for i, s := range attempts {
		var m metadata
		m.Straggler.Queue, m.Straggler.Attempt = d.q.name, s.Name
		data, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		params[i] = river.InsertManyParams{Args: rawArgs{s.Job.Kind, s.Job.Input}, InsertOpts: &river.InsertOpts{
			MaxAttempts: 1, Queue: d.q.queueOf(s.Worker), Metadata: data,
		}}
	}
	results, err := d.client.InsertManyTx(ctx, tx, params)
	if err != nil {
		return nil, err
	}
	byName := map[string]int64{} // River does not promise an order
	for _, r := range results {
		var m metadata
		if err := json.Unmarshal(r.Job.Metadata, &m); err != nil {
			return nil, err
		}
		byName[m.Straggler.Attempt] = r.Job.ID
	}
	for _, s := range attempts {
		ids = append(ids, byName[s.Name])
	}
	return ids, nil
}

// Cancel cancels a job of River.
func (d delivery) Cancel(ctx context.Context, tx *sql.Tx, job int64) error {
	_, err := d.client.JobCancelTx(ctx, tx, job)
	if errors.Is(err, river.ErrNotFound) {
		err = nil // River has deleted the job, long after its end
	}
	return err
}

// queueOf returns the name of the queue of River that belongs to a worker. River allows lower-case letters, digits, and
// single hyphens in it, so the name ends with a hash.
func (q *Queue) queueOf(worker string) string {
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(worker))
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%d %s%s", len(q.name), q.name, worker)
	return fmt.Sprintf("straggler-%.20s-%016x", readable+"x", hash.Sum64())
}

// AddWorker lets a client of River run attempts: it adds a queue and a middleware to the client's configuration, and
// reports to the store until ctx ends. End ctx when the client has stopped. The kinds of jobs are the registered workers
// of the configuration; an attempt of another kind fails, and so does an attempt that another middleware refuses.
func (q *Queue) AddWorker(ctx context.Context, config *river.Config, w queue.Worker) error {
	a, err := queue.NewAgent(q.Queue, w)
	if err != nil {
		return err
	}
	if config.Queues == nil {
		config.Queues = map[string]river.QueueConfig{}
	}
	config.Queues[q.queueOf(a.Name())] = river.QueueConfig{
		MaxWorkers: max(w.Slots, 1), FetchCooldown: fetchPause, FetchPollInterval: fetchEvery,
	}
	m := &middleware{q: q, agent: a}
	config.Middleware = append(config.Middleware, m)
	if config.JobStuckHandler == nil {
		config.JobStuckHandler = func(context.Context, river.JobStuckHandlerParams) river.JobStuckHandlerResult {
			return river.JobStuckHandlerResult{AddWorkerSlot: true}
		}
	}
	go a.Serve(ctx, nil)
	go q.watch(ctx, a.Name(), cmp.Or(w.Log, slog.Default()))
	return nil
}

const (
	fetchEvery = 50 * time.Millisecond // River looks for attempts as often, and when Postgres notifies it or an attempt ends
	fetchPause = 10 * time.Millisecond // between two such looks; with River's 100 ms a slot would be idle after each attempt
	tryAgain   = time.Second           // until an attempt is tried to begin again, if the database does not answer
	watchEvery = time.Second           // a worker looks for the attempts that River has ended as often
	// of a query for these attempts
	callTimeout = 30 * time.Second
)

// middleware reports the attempts that River begins.
type middleware struct {
	river.MiddlewareDefaults
	q     *Queue
	agent *queue.Agent
}

// Work calls the worker of a job, and reports the begin and the end if the job is an attempt of the queue.
func (m *middleware) Work(ctx context.Context, job *rivertype.JobRow, next func(context.Context) error) error {
	var data metadata
	if json.Unmarshal(job.Metadata, &data) != nil || data.Straggler.Attempt == "" || data.Straggler.Queue != m.q.name {
		return next(ctx)
	}
	name, begun := data.Straggler.Attempt, false
	err := m.agent.Run(ctx, name, func(ctx context.Context) (o queue.Order, ok bool, err error) {
		o, ok, err = m.q.Begin(ctx, m.agent.Name(), name)
		begun = ok && err == nil
		return o, ok, err
	}, next)
	switch {
	case begun || err == nil:
		return err
	case errors.Is(err, queue.ErrNotBegun):
		return river.JobCancel(err)
	}
	return river.JobSnooze(tryAgain)
}

// watch fails the attempts of a worker that River has ended before the middleware was called: no worker is registered for
// their kind, another middleware has refused them, or somebody has cancelled the job of River. River tells nobody of some
// of these, so watch asks the database, until ctx ends.
func (q *Queue) watch(ctx context.Context, worker string, log *slog.Logger) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		call, cancel := context.WithTimeout(ctx, callTimeout)
		_, err := q.db.ExecContext(call, endedByRiver, q.name, worker)
		cancel()
		if err != nil && ctx.Err() == nil {
			log.Warn("riverqueue: can't look for the attempts that River has ended, and tries again", "worker", worker, "error", err)
		}
	}
}

// endedByRiver fails the attempts of a worker that wait while their jobs of River have ended, or were deleted after their
// end. An attempt and its job are inserted in one transaction, so no job is missing because it is too new. The error is
// River's last one.
const endedByRiver = `UPDATE straggler_attempt AS a SET state = 3, begun = now.micros, ended = now.micros,
	error = coalesce(
		(SELECT errors[array_upper(errors, 1)]->>'error' FROM river_job WHERE id = a.message),
		'riverqueue: the job of River was cancelled or deleted before it began')
	FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS micros) AS now
	WHERE a.queue = $1 AND a.worker = $2 AND a.state = 0 AND NOT EXISTS (
		SELECT 1 FROM river_job WHERE id = a.message AND state NOT IN ('cancelled', 'completed', 'discarded'))`
