// Package asynqqueue copies slow tasks of asynq, a job queue on Redis (https://github.com/hibiken/asynq), to other
// workers. It is for services that use asynq. The handlers need no change:
//
//	q, err := asynqqueue.Open(ctx, redis, "default")
//	w, err := q.Worker(ctx, queue.Worker{Slots: 8})
//	mux := asynq.NewServeMux()
//	mux.Use(w.Middleware)
//	mux.HandleFunc("resize", resize)
//	asynq.NewServer(redis, w.Config()).Run(mux)
//
// The process that wants the results runs a batch. It returns when each task has a result or has failed for good:
//
//	results, err := q.Run(ctx, "thumbnails-2026-11", tasks, queue.Options{
//		Kinds: map[string]queue.Kind{"resize": {Copies: true}},
//	})
//
// Single tasks are inserted with [Queue.Insert], and one process or several call [queue.Serve]. Tasks that are enqueued
// with asynq's own client are none of this package's business, but they use the same slots if the server reads their
// queue.
//
// # How it works
//
// Each attempt of a task is a task of asynq with one try, in a queue of asynq that a single worker reads. A middleware
// reports when an attempt begins and ends. So the tries, the back-off and the timeout of a task are set in queue.Kind;
// asynq's options Queue, TaskID, MaxRetry and Retention are set by this package, and asynq's own timeout is a day
// unless [Queue.Enqueue] has another one.
//
// A handler passes its result to [WriteResult], and reports its progress to [queue.Progress]. [queue.Key] is the same
// for all attempts of a task. If a handler ignores the end of its context, asynq gives its slot to the next task all
// the same, but this package counts the slot as busy until the handler returns.
//
// # The keys in Redis
//
// Redis holds all state, in keys that begin with "straggler:{NAME}:", where NAME is the name of the queue, and in keys
// of knowledge that begin with "straggler:{knowledge}:". A coordinator writes its actions and its own state by one
// script, which first checks that it is still the coordinator. So a process may die anywhere, and two coordinators at
// once do no harm. Redis's clock gives all times. A single job and its result are deleted a week after the end of the
// job, and the jobs of a batch a week after the end of the batch. A job that has not ended is never deleted.
//
// Redis must not evict keys; asynq demands this, too. If Redis comes back without its last writes, the coordinator goes
// on from the state that Redis has, and a task whose result was lost runs again. Redis must have version 6.2 or later.
package asynqqueue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Queue is a job queue on asynq. It is a [queue.Store] for coordinators and a [queue.Source] for workers. It is safe
// for concurrent use.
type Queue struct {
	// Enqueue are asynq's options for each attempt. The options of this package override them. Set the field before
	// the first use.
	Enqueue []asynq.Option

	rdb    redis.UniversalClient
	client *asynq.Client
	tool   *asynq.Inspector
	name   string
}

// Open returns the queue of the given name on a Redis, for example "default". The name must not be empty, and must not
// contain "/", "{" or "}".
func Open(ctx context.Context, connect asynq.RedisConnOpt, name string) (*Queue, error) {
	if name == "" || strings.ContainsAny(name, "/{}") {
		return nil, fmt.Errorf("asynqqueue: the name of the queue is %q, want one without / { }", name)
	}
	rdb, ok := connect.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, errors.New("asynqqueue: the connection makes no redis.UniversalClient")
	}
	if err := rdb.Ping(ctx).Err(); err != nil {
		_ = rdb.Close()
		return nil, fmt.Errorf("asynqqueue: Redis does not answer: %w", err)
	}
	return &Queue{
		rdb: rdb, client: asynq.NewClientFromRedisClient(rdb), tool: asynq.NewInspectorFromRedisClient(rdb), name: name,
	}, nil
}

// Close closes the connection to Redis.
func (q *Queue) Close() error { return q.rdb.Close() }

// Run runs tasks of one type as a batch of the given name, and returns their results in the order of the tasks. It
// coordinates the queue meanwhile, unless another process does. If some tasks have failed for good, it also returns an
// error.
//
// If Redis already has a batch of this name with the same tasks, Run continues this batch, or returns its results. So a
// process that has died calls Run again. If ctx ends, Run returns the cause of ctx.
func (q *Queue) Run(ctx context.Context, batch string, tasks []*asynq.Task, o queue.Options) ([]queue.Result, error) {
	jobs, err := q.Jobs(ctx, tasks...)
	if err != nil {
		return nil, err
	}
	return q.RunJobs(ctx, batch, jobs, o)
}

// Jobs returns tasks as jobs, for programs that set the work of each job and call [Queue.RunJobs]. A task that asynq
// would refuse is an error. Options of a task are ignored: see [Queue.Enqueue].
func (q *Queue) Jobs(ctx context.Context, tasks ...*asynq.Task) ([]queue.Job, error) {
	if err := check(ctx, tasks, q.Enqueue); err != nil {
		return nil, err
	}
	jobs := make([]queue.Job, len(tasks))
	for i, t := range tasks {
		jobs[i] = queue.Job{Kind: t.Type(), Input: t.Payload()}
		if err := queue.CheckJob(jobs[i]); err != nil {
			return nil, fmt.Errorf("asynqqueue: task %d has %w", i, err)
		}
	}
	return jobs, nil
}

// RunJobs is like [Queue.Run].
func (q *Queue) RunJobs(
	ctx context.Context, batch string, jobs []queue.Job, o queue.Options,
) (all []queue.Result, err error) {
	if len(jobs) == 0 {
		return nil, queue.CheckBatch(batch, jobs)
	}
	if err := q.InsertBatch(ctx, batch, jobs); err != nil {
		return nil, err
	}
	err = queue.ServeUntil(ctx, q, o, func(ctx context.Context) (ended bool, err error) {
		left, err := q.rdb.HGet(ctx, q.batch(batch), "left").Int()
		if err != nil || left > 0 {
			return false, err
		}
		all, ended, err = q.Results(ctx, batch)
		return ended, err
	})
	if err != nil {
		return nil, err
	}
	return all, queue.FirstError(batch, all)
}

// Insert adds single tasks to the queue, in order, and returns their IDs. After an error it returns no IDs. The tasks may
// exist all the same if Redis's answer was lost.
func (q *Queue) Insert(ctx context.Context, tasks ...*asynq.Task) (ids []string, err error) {
	jobs, err := q.Jobs(ctx, tasks...)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		jobs[i].ID = rand.Text()
		ids = append(ids, jobs[i].ID)
	}
	if _, err := q.insert(ctx, jobs, "", ""); err != nil {
		return nil, err
	}
	return ids, nil
}

// InsertBatch adds the jobs of a batch, all or none, for a process that does not wait for them. Processes that call
// [queue.Serve] run the batch. If Redis has a batch of this name with other jobs, InsertBatch returns an error.
func (q *Queue) InsertBatch(ctx context.Context, batch string, jobs []queue.Job) error {
	if err := queue.CheckBatch(batch, jobs); err != nil {
		return err
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].ID, jobs[i].Batch = jobID(batch, i), batch
	}
	is := fingerprint(jobs)
	was, err := q.insert(ctx, jobs, batch, is)
	if text, _ := was.(string); err == nil && text != is {
		n, _, _ := strings.Cut(text, " ")
		err = fmt.Errorf("asynqqueue: Redis has a batch %s of %s other tasks: give each batch a name of its own, such as one "+
			"with its date", batch, n)
	}
	return err
}

// Result returns the result of a single task. ok is false if the task has not ended. A task that does not exist, or
// ended over a week ago, is an error.
func (q *Queue) Result(ctx context.Context, id string) (r queue.Result, ok bool, err error) {
	return resultOf(id, q.rdb.HMGet(ctx, q.job(id), resultFields...))
}

// Results returns the results of a batch, in the order of its tasks. ended is false if a task has not ended; its result
// is empty.
func (q *Queue) Results(ctx context.Context, batch string) (all []queue.Result, ended bool, err error) {
	n, err := q.rdb.HGet(ctx, q.batch(batch), "n").Int()
	if err != nil {
		return nil, false, fmt.Errorf("asynqqueue: batch %s: %w", batch, err)
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = jobID(batch, i)
	}
	ended = true
	for some := range slices.Chunk(ids, together) {
		replies := make([]*redis.SliceCmd, len(some))
		_, _ = q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error { // each reply has its error
			for i, id := range some {
				replies[i] = p.HMGet(ctx, q.job(id), resultFields...)
			}
			return nil
		})
		for i, reply := range replies {
			r, ok, err := resultOf(some[i], reply)
			if err != nil {
				return nil, false, err
			}
			all, ended = append(all, r), ended && ok
		}
	}
	return all, ended, nil
}

// together is the number of results in one pipeline. The Redis client has a timeout for a pipeline as a whole, 3 s by
// default, so the results of a large batch need several.
const together = 100

// resultFields are the fields of a job that resultOf reads.
var resultFields = []string{"state", "output", "winner", "error"}

// resultOf reads the result of a job from the fields of its key.
func resultOf(id string, reply *redis.SliceCmd) (r queue.Result, ok bool, err error) {
	f, err := reply.Result()
	if err != nil {
		return r, false, err
	}
	state, exists := f[0].(string)
	if !exists {
		return r, false, fmt.Errorf("asynqqueue: there is no job %s", id)
	}
	if r.Attempt, _ = f[2].(string); state == jobFailed {
		text, _ := f[3].(string)
		r.Err = errors.New(text)
	}
	if output, has := f[1].(string); has {
		r.Output = []byte(output)
	}
	return r, state == jobDone || state == jobFailed, nil
}

// jobID returns the ID of a job of a batch.
func jobID(batch string, i int) string { return batch + "/" + strconv.Itoa(i) }

// keep is how long Redis keeps a single job after its end, and the jobs of a batch after the end of the batch.
const keep = 7 * 24 * time.Hour

// The names of the keys.
func (q *Queue) key(part string) string     { return "straggler:{" + q.name + "}:" + part }
func (q *Queue) job(id string) string       { return q.key("job:" + id) }
func (q *Queue) batch(name string) string   { return q.key("batch:" + name) }
func (q *Queue) attempt(name string) string { return q.key("attempt:" + name) }

// queueOf returns the name of the queue of asynq that belongs to a worker.
func (q *Queue) queueOf(worker string) string { return "straggler:" + q.name + ":" + worker }

// message returns the ID of the task of asynq that is an attempt.
func (q *Queue) message(attempt string) string { return q.name + "/" + attempt }
