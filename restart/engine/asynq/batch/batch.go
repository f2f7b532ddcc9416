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

// Options are the choices of Run. The zero value will do.
type Options struct {
	// Work is how much each task has to do, in units of your choice; nil: all are alike.
	Work []float64
	// Alone says which tasks must not run twice at once. Nil: none.
	Alone func(task int) bool
	// Kind names what the tasks are, for all batches of such tasks, such as "resize": what one shows of how long they
	// take, and what its copies and restarts came to, the next knows from the start. So hangs in a batch of few tasks are
	// found. It is kept for 30 days. Empty: a batch learns from no other.
	Kind string
	// Policy decides about slow tasks. Nil: that of package engine.
	Policy restart.Policy
	// Interval is how often it is asked. 0 means a second. Ends are acted on at once.
	Interval time.Duration
	// Enqueue are asynq's options for each attempt, such as asynq.Timeout, behind those of the task. Queue, TaskID,
	// MaxRetry and Retention are set by this package, and asynq.Unique does not fit.
	Enqueue []asynq.Option
	// Retention is for how long the batch's keys stay in Redis once it is over, its results among them. 0 means a day. A
	// batch that nobody is at work on is forgotten after so long, and a day at least.
	Retention time.Duration
	// Configure may change the configuration of a new phase in all that has no field here: its order, its budget,
	// what is recorded.
	Configure func(*engine.Config)
	// OnAction is told of each action before it is carried out. Nil: nothing.
	OnAction func(engine.Action)
	// Log is told of what goes wrong and is tried again. Nil: slog's default.
	Log *slog.Logger
}

// Outcome is what a batch has come to.
type Outcome struct {
	// Results are by task; those of tasks that have failed for good are empty.
	Results []Result
	// Failed are the tasks that have failed for good, in ascending order.
	Failed []int
	Ledger tracker.Ledger
}

// Result is that of a task.
type Result struct {
	// Attempt is the one that won: what [Attempt] said to its handler. Empty if there is no result.
	Attempt string
	// Data is what the handler gave to [WriteResult].
	Data []byte
}

const (
	saveEvery  = 5 * time.Second
	sweepEvery = 2 * time.Second // asynq's own heartbeat lasts for ten
	goneWithin = 5 * time.Second // from the last result to the end of what was told to end
)

// run is a batch under way.
type run struct {
	Options
	keys
	tasks  []*asynq.Task
	rdb    redis.UniversalClient
	client *asynq.Client
	tool   *asynq.Inspector
	hosts  *engine.Machines
	names  []string // of the hosts
	phase  *engine.Phase

	token        string              // of the lease
	epoch        string              // of the batch: another one of that name has another
	experience   *tracker.Experience // of the kind; nil if there is none
	running      map[string]began
	leased       time.Time
	last         string           // what was read of the stream
	told         []engine.Attempt // to be told to the phase besides
	ended        []string         // attempts that were told to end and have, by queue and ID
	saved, swept time.Time
	over         time.Time // since when only what was told to end is waited for
	trouble      map[int]string
	missed       map[string]bool // attempts whose output Redis had lost
	waits        time.Time       // since when Run waits for a first worker
	warned       bool            // that there is none
}

// Run runs the tasks of a batch, or goes on with it if there is one of that name, and returns once it is over. It is
// an error if tasks have failed for good; the others' results are returned with it. If ctx ends, the batch is left as
// it is, for another call to go on with. As long as Redis is away, Run waits.
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
		tool: asynq.NewInspectorFromRedisClient(rdb), token: newToken(), trouble: map[int]string{},
		missed: map[string]bool{},
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
		if errors.Is(err, errTaken) || errors.Is(err, errBehind) {
			err, over = r.again(ctx, r.start), false
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return out, r.failure(out.Failed)
}

// again does something until it goes well, or is of no use.
func (r *run) again(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, errors.Is(err, errTaken), errors.Is(err, errBehind), errors.Is(err, errForGood):
			return err
		case !errors.Is(err, errWait):
			r.Log.Warn("batch: tried again", "batch", string(r.keys), "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(r.Interval, time.Second)):
		}
	}
}

// named is what an attempt is called among those of all epochs, and message what asynq calls it.
func (r *run) named(id string) string   { return r.epoch + "/" + id }
func (r *run) message(id string) string { return r.keys.message(r.named(id)) }

// turn takes what there is to be heard, for a moment, and does what follows from it.
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
	events, r.told = append(r.told, events...), nil
	var errs []error
	for _, a := range r.phase.Push(time.Now(), events) {
		if r.OnAction != nil {
			r.OnAction(a)
		}
		err := r.carryOut(ctx, a)
		if errors.Is(err, errForGood) || errors.Is(err, errBehind) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...) // what was not carried out is asked for again
}

// isOver reports whether the batch is over: all is done, and what was told to end has, or has had the time.
func (r *run) isOver() bool {
	if !r.phase.Done() {
		return false
	}
	if r.over.IsZero() {
		r.over = time.Now()
	}
	for _, q := range r.phase.Outstanding() {
		if q.Op == engine.Cancel && time.Since(r.over) < goneWithin {
			return false
		}
	}
	return true
}

// finish publishes what may not have been, for the last time, and returns the outcome.
func (r *run) finish(ctx context.Context) (out Outcome, err error) {
	for task := range r.tasks {
		if id, won := r.phase.Winner(task); won {
			if err := r.publish(ctx, task, id); err != nil {
				return out, err
			}
		}
	}
	if err := errors.Join(r.save(ctx), r.teach(ctx)); err != nil {
		return out, err
	}
	for _, id := range r.ended {
		queue, id, _ := strings.Cut(id, " ")
		_ = r.tool.DeleteTask(queue, id) // else asynq keeps it among what failed
	}
	if err := r.rdb.Del(ctx, r.outputs()).Err(); err != nil { // of attempts that were overtaken
		return out, err
	}
	out = Outcome{Results: make([]Result, len(r.tasks)), Failed: r.phase.GivenUp(), Ledger: r.phase.Ledger()}
	err = r.eachResult(ctx, func(task int, name, data string) {
		out.Results[task] = Result{Attempt: r.keys.message(name), Data: []byte(data)}
	})
	return out, errors.Join(err, r.expire(ctx))
}

func (r *run) failure(failed []int) error {
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("batch %s: %d of %d tasks have failed for good, the first of them, %d: %s",
		string(r.keys), len(failed), len(r.tasks), failed[0], cmp.Or(r.trouble[failed[0]], "of which no error is known"))
}
