package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Options are the settings of Run. The zero value has a sensible default for each field.
type Options struct {
	// Work contains the size of each task, by index, in a unit of your choice, such as bytes. Nil means that sizes
	// are not known.
	Work []float64
	// NoCopy is called with the index of a task. It reports whether two attempts of this task must never run at the
	// same time. Then Run never starts a copy of the task. Nil means that every task may be copied.
	NoCopy func(task int) bool
	// Kind is a name for the work that the tasks do, such as "resize". Batches with the same Kind share their
	// experience: the run times of their tasks, and how often their copies and restarts won. With this experience Run
	// finds hung attempts even in a batch of few tasks. Redis keeps the experience for 30 days after the last batch
	// of the kind. "" means that the batch shares no experience.
	Kind string
	// Policy decides which slow attempts are copied or restarted. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Interval is the time between two decisions of the policy about the running attempts. 0 means a second. Run
	// handles the end of an attempt at once, whatever Interval is.
	Interval time.Duration
	// Enqueue contains asynq's options for each attempt, such as asynq.Timeout. They override the options of the task
	// itself. Run itself sets the options Queue, TaskID, MaxRetry and Retention, and overrides yours. Do not use
	// asynq.Unique.
	Enqueue []asynq.Option
	// Retention is how long Redis keeps the keys of the batch after the end of the batch. The keys include the
	// results. 0 means a day. If a batch has not ended and no process continues it, Redis keeps its keys for
	// Retention, or for a day if that is longer.
	Retention time.Duration
	// Configure is called with the configuration of the phase before Run makes the phase. Configure may set the
	// fields that Options does not have, such as Order, Budget or Journal. Nil changes nothing.
	Configure func(*engine.Config)
	// OnAction is called with each action before Run carries out the action. Nil means that no function is called.
	OnAction func(engine.Action)
	// Log receives a message for each error after which Run tries again, and other warnings. Nil means
	// slog.Default().
	Log *slog.Logger
}

// Outcome is what Run returns about a batch: the results, the failed tasks and the cost.
type Outcome struct {
	// Results has one entry for each task, in the order of the tasks. The entry of a task that has failed for good is
	// the zero Result.
	Results []Result
	// Failed are the indexes of the tasks that have failed for good, in ascending order.
	Failed []int
	// Ledger contains the numbers of attempts, copies and restarts, and the slot time that they took.
	Ledger tracker.Ledger
}

// Result is the result of a task.
type Result struct {
	// Attempt is the name of the attempt that won. In the handler of this attempt the function [Attempt] returned the
	// same name. "" means that the task has no result.
	Attempt string
	// Data is the data that the handler passed to its last call of [WriteResult].
	Data []byte
}

const (
	saveEvery = 5 * time.Second // time between two snapshots of the state of Run
	// sweepEvery is the time between two sweeps. A sweep lists the workers. asynq lists a worker until ten seconds
	// after its last heartbeat.
	sweepEvery = 2 * time.Second
	endWithin  = 5 * time.Second // how long Run waits for the end of cancelled attempts after the last result
)

// run is the state of one call of Run.
type run struct {
	Options
	keys
	tasks  []*asynq.Task
	rdb    redis.UniversalClient
	client *asynq.Client
	tool   *asynq.Inspector
	hosts  *engine.Machines
	names  []string // the names of all workers, in the order in which Run saw them first
	phase  *engine.Phase

	token string // the random value that this call of Run writes into the lease key
	// epoch is a random word that Redis keeps with the batch. If the keys of a batch are deleted, a later batch of
	// the same name has another epoch.
	epoch      string
	experience *tracker.Experience // run times and trials of this batch and its kind; nil if Options.Kind is ""
	running    map[string]began    // by attempt ID: the attempts whose begin was reported and whose end was not
	leased     time.Time           // when this call of Run renewed the lease last
	last       string              // ID of the last entry that was read from the stream of reports
	// attempts that the next call of turn reports to the phase, besides the reports in the stream
	toPush        []engine.Attempt
	ended         []string        // cancelled attempts that have ended: "queue ID" of each message in asynq
	saved         time.Time       // when the snapshot was written last
	swept         time.Time       // when the workers were listed last
	doneSince     time.Time       // when phase.Done first returned true; zero: not yet
	lastError     map[int]string  // by task index: the error of the task's last failed attempt
	missingOutput map[string]bool // by attempt ID: true if the attempt succeeded and Redis has lost its output
	noWorkerSince time.Time       // when Run began to wait for a first worker; zero: it does not wait
	warned        bool            // Run has logged a warning that there is no worker
}

// Run runs the tasks as a batch of the given name. It returns when each task has a result or has failed for good,
// which means that the task is not tried again. If Redis already has a batch of this name, Run continues this batch,
// or returns the outcome if the batch has ended. The name must not be empty, and must not contain "/", "{" or "}".
//
// If some tasks have failed for good, Run returns an error, and also the results of the other tasks. If ctx ends, Run
// returns the cause of ctx. Another call of Run may then continue the batch. Run waits while Redis does not answer,
// and while there is no worker.
func Run(
	ctx context.Context, connect asynq.RedisConnOpt, name string, tasks []*asynq.Task, o Options,
) (Outcome, error) {
	if name == "" || strings.ContainsAny(name, "/{}") {
		return Outcome{}, fmt.Errorf("batch: the name is %q, want one without / { }", name)
	}
	if len(tasks) == 0 {
		return Outcome{}, nil
	}
	if err := check(ctx, tasks, o.Enqueue); err != nil {
		return Outcome{}, err
	}
	o.Interval, o.Retention = cmp.Or(o.Interval, time.Second), cmp.Or(o.Retention, day)
	o.Log = cmp.Or(o.Log, slog.Default())
	rdb := connect.MakeRedisClient().(redis.UniversalClient)
	defer rdb.Close()
	r := &run{
		Options: o, keys: keys(name), tasks: tasks, rdb: rdb, client: asynq.NewClientFromRedisClient(rdb),
		tool: asynq.NewInspectorFromRedisClient(rdb), token: newToken(), lastError: map[int]string{},
		missingOutput: map[string]bool{},
	}
	defer r.unlock()
	var out Outcome
	err := r.again(ctx, r.start)
	for over := false; err == nil && !over; {
		if over = r.isOver(); over {
			err = r.again(ctx, func(ctx context.Context) (err error) { out, err = r.finish(ctx); return err })
		} else {
			err = r.again(ctx, r.turn)
		}
		if errors.Is(err, errLeaseTaken) || errors.Is(err, errRedisLost) {
			err, over = r.again(ctx, r.start), false
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return out, r.failure(out.Failed)
}

// again calls do until do returns no error. If another call of do would not help, again returns the error of do:
// errLeaseTaken, errRedisLost or errFatal. If ctx ends, again returns the cause of ctx.
func (r *run) again(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, errors.Is(err, errLeaseTaken), errors.Is(err, errRedisLost), errors.Is(err, errFatal):
			return err
		case !errors.Is(err, errNotYet):
			r.Log.Warn("batch: tried again", "batch", string(r.keys), "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(r.Interval, time.Second)):
		}
	}
}

// named returns the attempt's ID with the epoch of the batch in front, such as "k3f9x2aq/17.2". This name is unique
// among all batches of the same name.
func (r *run) named(id string) string { return r.epoch + "/" + id }

// message returns the ID of the message by which asynq delivers the attempt to its worker.
func (r *run) message(id string) string { return r.keys.message(r.named(id)) }

// turn reads the new reports of the workers, passes them to the engine.Phase, and carries out the actions that it
// returns. If there are no reports, turn waits for a moment.
func (r *run) turn(ctx context.Context) error {
	if err := r.renew(ctx); err != nil {
		return err
	}
	if time.Since(r.swept) >= sweepEvery {
		if err := r.sweep(ctx); err != nil {
			return err
		}
	}
	if time.Since(r.saved) >= saveEvery {
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	events, err := r.read(ctx)
	if err != nil {
		return err
	}
	events, r.toPush = append(r.toPush, events...), nil
	var errs []error
	for _, a := range r.phase.Push(time.Now(), events) {
		if r.OnAction != nil {
			r.OnAction(a)
		}
		err := r.carryOut(ctx, a)
		if errors.Is(err, errFatal) || errors.Is(err, errRedisLost) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...) // the phase returns an action that has failed once more
}

// isOver reports whether the batch is over. That is so if the phase is done and all cancelled attempts have ended.
// After the phase is done, Run waits for the cancelled attempts for at most endWithin.
func (r *run) isOver() bool {
	if !r.phase.Done() {
		return false
	}
	if r.doneSince.IsZero() {
		r.doneSince = time.Now()
	}
	for _, q := range r.phase.Outstanding() {
		if q.Op == engine.Cancel && time.Since(r.doneSince) < endWithin {
			return false
		}
	}
	return true
}

// finish publishes the result of each task once more, which changes nothing if the result is published. finish then
// deletes the messages and the outputs that are no longer needed, and returns the outcome.
func (r *run) finish(ctx context.Context) (out Outcome, err error) {
	for task := range r.tasks {
		if id, won := r.phase.Winner(task); won {
			if err := r.publish(ctx, task, id); err != nil {
				return out, err
			}
		}
	}
	if err := errors.Join(r.save(ctx), r.saveExperience(ctx)); err != nil {
		return out, err
	}
	for _, id := range r.ended {
		queue, id, _ := strings.Cut(id, " ")
		_ = r.tool.DeleteTask(queue, id) // otherwise asynq keeps the message as a failed message
	}
	// the outputs that are left are of attempts that did not win
	if err := r.rdb.Del(ctx, r.outputs()).Err(); err != nil {
		return out, err
	}
	out = Outcome{Results: make([]Result, len(r.tasks)), Failed: r.phase.GivenUp(), Ledger: r.phase.Ledger()}
	err = r.eachResult(ctx, func(task int, name, data string) {
		out.Results[task] = Result{Attempt: r.keys.message(name), Data: []byte(data)}
	})
	return out, errors.Join(err, r.expire(ctx))
}

// failure returns an error if the list of failed tasks is not empty, and else nil. The error contains the last error
// of the first failed task.
func (r *run) failure(failed []int) error {
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("batch %s: %d of %d tasks have failed for good; the last error of task %d: %s",
		string(r.keys), len(failed), len(r.tasks), failed[0], cmp.Or(r.lastError[failed[0]], "not known"))
}
