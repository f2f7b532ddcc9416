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
	// Work is the size of each task, in units of your choice, such as bytes. Nil means that sizes are not known.
	Work []float64
	// NoCopy reports whether two attempts of a task must never run at once. Nil means that every task may be copied.
	NoCopy func(task int) bool
	// Kind names the kind of the tasks, such as "resize". Batches of one kind share their experience: run times, and
	// whether copies and restarts were won. So a batch of few tasks finds hung attempts. Experience is kept for 30 days.
	// Empty means that the batch shares no experience.
	Kind string
	// Policy decides about slow attempts. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Interval is the time between two decisions of the policy. 0 means a second. Ends of attempts are handled at once.
	Interval time.Duration
	// Enqueue are asynq's options for each attempt, such as asynq.Timeout. These options come after the options of the
	// task itself. This package sets Queue, TaskID, MaxRetry and Retention. Do not use asynq.Unique.
	Enqueue []asynq.Option
	// Retention is how long the batch's keys, results included, stay in Redis after the end of the batch. 0 means a day.
	// If no call of Run works on a batch, its keys stay for Retention and at least for a day.
	Retention time.Duration
	// Configure may change the configuration of a new phase that has no field here, such as Order, Budget or Journal. Nil
	// changes nothing.
	Configure func(*engine.Config)
	// OnAction is called with each action before the action is carried out. Nil means no call.
	OnAction func(engine.Action)
	// Log receives the errors after which Run tries again. Nil means slog.Default().
	Log *slog.Logger
}

// Outcome is the outcome of a batch.
type Outcome struct {
	// Results has one entry for each task. The entry of a task that has failed for good is empty.
	Results []Result
	// Failed are the indexes of the tasks that have failed for good, in ascending order.
	Failed []int
	// Ledger counts the attempts and their time.
	Ledger tracker.Ledger
}

// Result is the result of a task.
type Result struct {
	// Attempt is the name of the winning attempt, as [Attempt] returned it to the handler. Empty means no result.
	Attempt string
	// Data is the handler's last argument to [WriteResult].
	Data []byte
}

const (
	saveEvery  = 5 * time.Second // time between two snapshots
	sweepEvery = 2 * time.Second // time between two sweeps of the workers; asynq's own heartbeat lasts for ten seconds
	endWithin  = 5 * time.Second // how long Run waits, after the last result, for cancelled attempts to end
)

// run is a call of Run that has not returned.
type run struct {
	Options
	keys
	tasks  []*asynq.Task
	rdb    redis.UniversalClient
	client *asynq.Client
	tool   *asynq.Inspector
	hosts  *engine.Machines
	names  []string // of the workers, in the order in which they were seen
	phase  *engine.Phase

	token         string              // of the lease
	epoch         string              // of the batch: a second batch of the same name has another epoch
	experience    *tracker.Experience // of the kind; nil if there is no kind
	running       map[string]began    // by attempt: the attempts without a reported end
	leased        time.Time           // when the lease was renewed last
	last          string              // the ID of the last stream entry that was read
	toPush        []engine.Attempt    // attempts to report to the phase at the next turn, besides the reports of the stream
	ended         []string            // cancelled attempts that have ended, by queue and ID
	saved         time.Time           // when the state was saved last
	swept         time.Time           // the time of the last sweep
	doneSince     time.Time           // when the phase was done; zero before
	lastError     map[int]string      // by task
	missingOutput map[string]bool     // attempts whose output Redis has lost
	noWorkerSince time.Time           // since when Run waits for a first worker
	warned        bool                // Run has logged that there is no worker
}

// Run runs the tasks of a batch and returns when each task has a result or has failed for good. If a batch of this name
// exists, Run goes on with it. The name must not be empty or contain "/", "{" or "}".
//
// If tasks have failed for good, Run returns an error together with the results of the other tasks. If ctx ends, Run
// returns the cause of ctx, and another call may go on with the batch. Run waits while Redis is away, and while there is
// no worker.
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

// again calls do until it succeeds, or returns an error that no repetition mends.
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

// named returns an attempt's name among the attempts of all epochs.
func (r *run) named(id string) string { return r.epoch + "/" + id }

// message returns the ID of an attempt's message in asynq.
func (r *run) message(id string) string { return r.keys.message(r.named(id)) }

// turn reads the reports of the workers, waiting for a moment, and carries out the actions of the phase.
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
	return errors.Join(errs...) // the phase asks again for an action that has failed
}

// isOver reports whether the batch is over: the phase is done, and the cancelled attempts have ended, or endWithin has
// passed.
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

// finish publishes the winner of each task once more, cleans up, and returns the outcome.
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
		_ = r.tool.DeleteTask(queue, id) // otherwise asynq keeps the message among the failed messages
	}
	if err := r.rdb.Del(ctx, r.outputs()).Err(); err != nil { // the outputs of attempts that did not win
		return out, err
	}
	out = Outcome{Results: make([]Result, len(r.tasks)), Failed: r.phase.GivenUp(), Ledger: r.phase.Ledger()}
	err = r.eachResult(ctx, func(task int, name, data string) {
		out.Results[task] = Result{Attempt: r.keys.message(name), Data: []byte(data)}
	})
	return out, errors.Join(err, r.expire(ctx))
}

// failure returns the error of a batch in which tasks have failed for good, or nil.
func (r *run) failure(failed []int) error {
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("batch %s: %d of %d tasks have failed for good; the last error of task %d: %s",
		string(r.keys), len(failed), len(r.tasks), failed[0], cmp.Or(r.lastError[failed[0]], "not known"))
}
