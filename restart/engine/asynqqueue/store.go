package asynqqueue

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Waiting is a method of [queue.Jobs].
func (q *Queue) Waiting(ctx context.Context, limit int) (jobs []queue.Job, err error) {
	rows, err := q.rows(ctx, waitingScript, limit)
	for _, f := range rows {
		work, _ := strconv.ParseFloat(f[3], 64)
		failures, _ := strconv.Atoi(f[4])
		jobs = append(jobs, queue.Job{ID: f[0], Kind: f[1], Batch: f[2], Work: work, Failures: failures})
	}
	return jobs, err
}

// List is a method of [queue.Attempts]. It also enqueues attempts that were submitted by a process that died before it
// could enqueue them.
func (q *Queue) List(ctx context.Context) (all []queue.Attempt, err error) {
	rows, err := q.rows(ctx, listScript)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range rows {
		a := queue.Attempt{Name: f[0], Worker: f[1], Error: f[7], Published: f[8] == "1"}
		state, _ := strconv.Atoi(f[2])
		a.State = engine.State(state)
		a.Begun, a.Ended, a.AsOf = timeOf(f[3]), timeOf(f[4]), timeOf(f[6])
		a.Share, _ = strconv.ParseFloat(f[5], 64)
		if sent, _ := strconv.ParseInt(f[9], 10, 64); a.State == engine.Queued && (sent == 0 || sent > lostAfter.Milliseconds()) {
			errs = append(errs, q.sendAgain(ctx, a, sent == 0))
		}
		all = append(all, a)
	}
	return all, errors.Join(errs...)
}

// Workers is a method of [queue.Attempts].
func (q *Queue) Workers(ctx context.Context) (all []queue.WorkerStatus, err error) {
	rows, err := q.rows(ctx, workersScript)
	for _, f := range rows {
		slots, _ := strconv.Atoi(f[1])
		silent, _ := strconv.ParseInt(f[2], 10, 64)
		all = append(all, queue.WorkerStatus{Name: f[0], Slots: slots, Silent: time.Duration(silent) * time.Millisecond})
	}
	return all, err
}

// Open is a method of [queue.State].
func (q *Queue) Open(ctx context.Context, owner string, term time.Duration) (epoch int64, state []byte, err error) {
	rows, err := q.rows(ctx, openScript, owner, term.Milliseconds())
	if err != nil {
		return 0, nil, err
	}
	if len(rows) == 0 {
		return 0, nil, queue.ErrHeld
	}
	if epoch, err = strconv.ParseInt(rows[0][0], 10, 64); err == nil && rows[0][1] != "" {
		state, err = base64.StdEncoding.DecodeString(rows[0][1])
	}
	return epoch, state, err
}

// Commit is a method of [queue.State].
func (q *Queue) Commit(ctx context.Context, c queue.Commit) error {
	d := commit{
		Epoch: c.Epoch, Term: c.Term.Milliseconds(), Reset: c.Reset, Cancel: names(c.Cancel), Seen: c.Seen,
		Keep: keep.Milliseconds(),
	}
	if c.State != nil {
		d.State = base64.StdEncoding.EncodeToString(c.State)
	}
	for _, r := range c.Rest {
		d.Rest = append(d.Rest, rest{r.Job.ID, r.Job.Failures, r.For.Microseconds()})
	}
	for _, j := range c.Take {
		d.Take = append(d.Take, j.ID)
	}
	for _, s := range c.Submit {
		d.Submit = append(d.Submit, submission{s.Name, s.Worker, s.Job.ID, s.Number})
	}
	for _, p := range c.Publish {
		d.Publish = append(d.Publish, pair{p.Job.ID, p.Name})
	}
	for _, f := range c.Fail {
		d.Fail = append(d.Fail, pair{f.Job.ID, f.Error})
	}
	done, err := q.run(ctx, commitScript, mustJSON(d))
	if err != nil {
		return err
	}
	if done != int64(1) { // another coordinator, or Redis has lost an output that this one has seen
		return queue.ErrFenced
	}
	var errs []error
	for _, s := range c.Submit {
		errs = append(errs, q.send(ctx, s.Name)) // if it fails, List does it
	}
	for _, t := range c.Cancel {
		_ = q.tool.CancelProcessing(q.message(t.Name)) // the worker finds out by itself if these fail
		_ = q.tool.DeleteTask(q.queueOf(t.Worker), q.message(t.Name))
	}
	return errors.Join(errs...)
}

// send enqueues an attempt as a task of asynq, unless it is enqueued.
func (q *Queue) send(ctx context.Context, name string) error {
	f, err := q.rdb.HMGet(ctx, q.attempt(name), "worker", "job", "state").Result()
	if err != nil {
		return err
	}
	worker, exists := f[0].(string)
	if state, _ := f[2].(string); !exists || state != "0" {
		return nil
	}
	f, err = q.rdb.HMGet(ctx, q.job(fmt.Sprint(f[1])), "kind", "input").Result()
	if err != nil {
		return err
	}
	kind, exists := f[0].(string)
	if !exists {
		_, err = q.run(ctx, stopScript, name, int(engine.Cancelled))
		return err
	}
	input, _ := f[1].(string)
	options := append([]asynq.Option{asynq.Timeout(longest)}, q.Enqueue...)
	options = append(options,
		asynq.Queue(q.queueOf(worker)), asynq.TaskID(q.message(name)), asynq.MaxRetry(0), asynq.Retention(0))
	_, err = q.client.EnqueueContext(ctx, asynq.NewTask(kind, []byte(input)), options...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return err
	}
	return q.sent(ctx, name)
}

// sent records that asynq has an attempt now.
func (q *Queue) sent(ctx context.Context, name string) error {
	_, err := q.run(ctx, sentScript, name)
	return err
}

// sendAgain enqueues an attempt that waits, if asynq does not have it: nobody has enqueued it, or the worker could not
// reach Redis to begin it.
func (q *Queue) sendAgain(ctx context.Context, a queue.Attempt, never bool) error {
	if !never {
		info, err := q.tool.GetTaskInfo(q.queueOf(a.Worker), q.message(a.Name))
		gone := errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound)
		switch {
		case err != nil && !gone:
			return err
		case err == nil && info.State == asynq.TaskStateActive:
			// asynq has given it to a worker that does not begin it, since the answer of Redis was lost.
			_, err := q.run(ctx, stopScript, a.Name, int(engine.Lost))
			return err
		case err == nil && info.State != asynq.TaskStateArchived && info.State != asynq.TaskStateCompleted:
			return q.sent(ctx, a.Name) // so that the next looks of the coordinator do not ask again
		case err == nil:
			_ = q.tool.DeleteTask(q.queueOf(a.Worker), q.message(a.Name))
		}
	}
	return q.send(ctx, a.Name)
}

// lostAfter is the time after which an attempt that waits is looked for in asynq, and looked for again.
const lostAfter = 5 * time.Second

// longest is asynq's timeout of an attempt, so that Kind.Timeout applies.
const longest = 24 * time.Hour

// Get is a method of [queue.Knowledge].
func (q *Queue) Get(ctx context.Context, key string) (value []byte, version int64, err error) {
	f, err := q.rdb.HMGet(ctx, knowledgeKey(key), "value", "version").Result()
	if err != nil {
		return nil, 0, err
	}
	text, exists := f[0].(string)
	if !exists {
		return nil, 0, nil
	}
	version, err = strconv.ParseInt(fmt.Sprint(f[1]), 10, 64)
	return []byte(text), version, err
}

// Put is a method of [queue.Knowledge].
func (q *Queue) Put(ctx context.Context, key string, value []byte, version int64) error {
	done, err := putScript.Run(ctx, q.rdb, []string{knowledgeKey(key)}, value, version).Int()
	if err == nil && done == 0 {
		err = queue.ErrConflict
	}
	return err
}

func knowledgeKey(key string) string { return "straggler:{knowledge}:" + key }

// Beat is a method of [queue.Source]. It begins no attempts: asynq does.
func (q *Queue) Beat(ctx context.Context, b queue.Beat) (o queue.Orders, err error) {
	d := beat{Worker: b.Worker, Slots: b.Slots, Leaving: b.Leaving}
	for _, r := range b.Running {
		d.Running = append(d.Running, progress{r.Name, r.Share})
	}
	rows, err := q.rows(ctx, beatScript, mustJSON(d))
	for _, f := range rows {
		o.Cancel = append(o.Cancel, f[0])
	}
	return o, err
}

// Begin begins an attempt that waits in the queue of a worker. ok is false if the attempt does not wait, because it was
// cancelled or has begun before.
func (q *Queue) Begin(ctx context.Context, worker, name string) (o queue.Order, ok bool, err error) {
	rows, err := q.rows(ctx, beginScript, name, worker)
	if err != nil || len(rows) == 0 {
		return o, false, err
	}
	f := rows[0]
	o = queue.Order{Name: name, Job: queue.Job{ID: f[0], Kind: f[2], Batch: f[3], Input: []byte(f[5])}}
	o.Number, _ = strconv.Atoi(f[1])
	o.Job.Work, _ = strconv.ParseFloat(f[4], 64)
	o.Job.Failures, _ = strconv.Atoi(f[6])
	return o, true, nil
}

// End is a method of [queue.Source].
func (q *Queue) End(ctx context.Context, e queue.End) error {
	_, err := q.run(ctx, endScript, e.Name, int(e.State), e.Output, e.Error)
	return err
}

// rows runs a script that returns a list of lists of texts.
func (q *Queue) rows(ctx context.Context, s *redis.Script, args ...any) (rows [][]string, err error) {
	result, err := q.run(ctx, s, args...)
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	list, _ := result.([]any)
	for _, row := range list {
		fields, _ := row.([]any)
		texts := make([]string, len(fields))
		for i, f := range fields {
			texts[i], _ = f.(string)
		}
		rows = append(rows, texts)
	}
	return rows, err
}

// timeOf converts a time in microseconds since 1970; "" and "0" are the zero time.
func timeOf(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n)
}

var (
	_ queue.Store  = (*Queue)(nil)
	_ queue.Source = (*Queue)(nil)
)
