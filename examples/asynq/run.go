package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

// stage has the connection to Redis, on which the workers run.
type stage struct {
	at      asynq.RedisClientOpt
	rdb     *redis.Client
	verbose bool
	batches int
}

// way is a way to run a batch.
type way struct {
	name   string
	plain  bool // plain asynq, without package asynqqueue
	silent bool // attempts report no progress
	policy restart.Policy
}

// The names of the queue of plain asynq, and of the queue of package asynqqueue.
const (
	plainQueue = "plain"
	queueName  = "demo"
)

// policies has the naive rule twice: as a team writes it first, and as Spark's rule with tuned values.
var policies = []string{
	plainQueue, "none", "naive", "spark,quantile=0.1,multiplier=1.5,slow-rate=off", "default", "default/silent",
}

// wayOf reads a policy, or "plain"; a policy may end in "/silent".
func wayOf(name string) (w way, err error) {
	text, silent := strings.CutSuffix(name, "/silent")
	w = way{name: name, plain: text == plainQueue, silent: silent}
	if !w.plain {
		w.policy, err = kit.Policy(text)
	}
	return w, err
}

// outcome is the result of one run.
type outcome struct {
	seconds, used    float64
	copies, restarts int
	right            bool
}

// comparison describes the columns of the tables.
var comparison = kit.Comparison[outcome]{
	Seconds: func(o outcome) float64 { return o.seconds },
	Right:   func(o outcome) bool { return o.right },
	Measures: []kit.Measure[outcome]{
		{Head: "slots", Format: "%.0f s", Of: func(o outcome) float64 { return o.used }},
		kit.Count("copies", func(o outcome) int { return o.copies }),
		kit.Count("restarts", func(o outcome) int { return o.restarts }),
	},
}

// compare runs a scenario under each policy, and prints a table.
func (st *stage) compare(ctx context.Context, s scenario, policies []string, runs int) error {
	results, err := kit.Repeat(runs, policies, func(policy string, n int) (o outcome, err error) {
		w, err := wayOf(policy)
		if err == nil {
			o, err = st.run(ctx, s, w, uint64(n))
		}
		fmt.Fprintf(os.Stderr, "%s, %s, run %d: %+v\n", s.name, policy, n, o)
		return o, err
	})
	if err != nil {
		return fmt.Errorf("%s, %w", s.name, err)
	}
	comparison.Print(os.Stdout, s.title, policies, results)
	return nil
}

func (s scenario) jobs(seed uint64, silent bool) (jobs []job, all []*asynq.Task, work []float64) {
	for i := range tasks {
		j := job{Scenario: s.name, Seed: seed, Task: i, Silent: silent}
		payload, _ := json.Marshal(j)
		jobs, all, work = append(jobs, j), append(all, asynq.NewTask("work", payload)), append(work, j.work())
	}
	if s.untold {
		work = nil
	}
	return jobs, all, work
}

func (st *stage) run(ctx context.Context, s scenario, w way, seed uint64) (o outcome, err error) {
	jobs, all, work := s.jobs(seed, w.silent)
	if err := st.rdb.Del(ctx, usedKey, doneKey).Err(); err != nil {
		return o, err
	}
	began := time.Now()
	answers := map[int]string{}
	if w.plain {
		err = st.plain(ctx, all, answers)
	} else {
		st.batches++
		options := options(w.policy)
		options.OnAction = st.say
		options.OnEnd = func(s queue.Summary) { o.copies, o.restarts = s.Ledger.Copies, s.Ledger.Restarts }
		var results []queue.Result
		results, err = runBatch(ctx, st.at, fmt.Sprintf("%s-%d", s.name, st.batches), all, work, options)
		for i, r := range results {
			answers[i] = string(r.Output)
		}
	}
	o.seconds = time.Since(began).Seconds()
	o.right = err == nil
	for i, j := range jobs {
		o.right = o.right && answers[i] == j.answer()
	}
	time.Sleep(interval) // attempts that are told to end need this time to record their slot time
	o.used, _ = st.rdb.Get(ctx, usedKey).Float64()
	return o, err
}

// options are the options of a coordinator.
func options(policy restart.Policy) queue.Options {
	return queue.Options{
		Policy: policy, Interval: interval, Log: slog.New(slog.DiscardHandler),
		Kinds: map[string]queue.Kind{"": {Copies: true, Timeout: timeout}},
	}
}

// runBatch runs a batch. Its tasks have the given sizes, or nil if they are not told.
func runBatch(
	ctx context.Context, at asynq.RedisConnOpt, name string, tasks []*asynq.Task, work []float64, o queue.Options,
) ([]queue.Result, error) {
	q, err := asynqqueue.Open(ctx, at, queueName)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	jobs, err := q.Jobs(ctx, tasks...)
	if err != nil {
		return nil, err
	}
	for i, w := range work {
		jobs[i].Work = w
	}
	return q.RunJobs(ctx, name, jobs, o)
}

func (st *stage) say(_ string, _ queue.Job, a engine.Action) {
	if st.verbose && a.Decision.Action != restart.Keep {
		fmt.Println(a)
	}
}

// plain runs the tasks with plain asynq: one queue, a timeout, and retries.
func (st *stage) plain(ctx context.Context, all []*asynq.Task, answers map[int]string) error {
	client := asynq.NewClientFromRedisClient(st.rdb)
	for _, t := range all {
		if _, err := client.EnqueueContext(ctx, t, asynq.Queue(plainQueue), asynq.Timeout(timeout)); err != nil {
			return err
		}
	}
	for {
		done, err := st.rdb.HGetAll(ctx, doneKey).Result()
		if err != nil {
			return err
		}
		if len(done) == len(all) {
			for k, v := range done {
				i, _ := strconv.Atoi(k)
				answers[i] = v
			}
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// runOne runs a batch, in the process that kill kills.
func runOne(ctx context.Context, at asynq.RedisClientOpt, name string) error {
	jobs, all, work := scenarios[0].jobs(1, false)
	o := options(nil)
	o.OnEnd = func(s queue.Summary) { fmt.Println(s.Ledger) }
	results, err := runBatch(ctx, at, name, all, work, o)
	if err != nil {
		return err
	}
	for i, j := range jobs {
		if string(results[i].Output) != j.answer() {
			return fmt.Errorf("task %d has the result %q", i, results[i].Output)
		}
	}
	return nil
}

// kill runs batches in a process that it kills at random moments and starts again, until it has killed kills times.
func (st *stage) kill(ctx context.Context, kills int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for died, batches := 0, 0; died < kills; batches++ {
		began, crashes := time.Now(), 0
		for over := false; !over; {
			c := exec.CommandContext(ctx, self, "-batch", fmt.Sprint("killed-", batches), "-redis", st.at.Addr)
			c.Stdout, c.Stderr = os.Stdout, os.Stderr
			if err := c.Start(); err != nil {
				return err
			}
			timer := time.AfterFunc(time.Duration(rand.IntN(9000))*time.Millisecond, func() { _ = c.Process.Kill() })
			err := c.Wait()
			timer.Stop()
			var exit *exec.ExitError
			switch {
			case err == nil:
				over = true
			case errors.As(err, &exit) && !exit.Exited():
				died++
				crashes++
			default:
				return err
			}
		}
		fmt.Printf("batch %d: its process was killed %d times; every task has its result, after %.1f s\n", batches, crashes,
			time.Since(began).Seconds())
	}
	return nil
}
