package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

const (
	tasks    = 200
	hosts    = 4
	slots    = 8
	slowdown = 8
	interval = 200 * time.Millisecond
	timeout  = 30 * time.Second // timeout of each attempt
)

// scenario describes what goes wrong with a batch. Its tasks take half a second to two seconds.
type scenario struct {
	name, title string
	untold      bool // the policy does not know the sizes of the tasks
}

var scenarios = []scenario{
	{name: kit.Slow, title: "One worker of four is 8 times slower"},
	{name: "attempts", title: "5 % of the attempts are 8 times slower"},
	{name: kit.Hang, title: "Four attempts hang for ever, and two of them ignore the end of their context"},
	{name: kit.Skew, title: "Five tasks have 5 times the data, and the policy knows it"},
	{name: kit.Untold, title: "Five tasks have 5 times the data, and the policy does not know it", untold: true},
	{name: kit.Clean, title: "Nothing is wrong"},
}

// job is the payload of a task.
type job struct {
	Scenario string
	Seed     uint64
	Task     int
	Silent   bool // its attempts report no progress
}

func (j job) random(of uint64) *rand.Rand {
	return rand.New(rand.NewPCG(j.Seed*1_000_003+uint64(j.Task), of))
}

// work returns the amount of data of the task, which is also its mean time in seconds.
func (j job) work() float64 {
	w := 0.5 + 1.5*j.random(1).Float64()
	if (j.Scenario == kit.Skew || j.Scenario == kit.Untold) && j.Task%40 == 7 {
		w *= 5
	}
	return w
}

// takes returns the time of an attempt of the task on a host, and whether the attempt hangs.
func (j job) takes(attempt int, host string) (takes time.Duration, hangs bool) {
	r := j.random(100 + uint64(attempt))
	seconds := j.work() * math.Exp(0.1*r.NormFloat64())
	if j.Scenario == "attempts" && r.Float64() < 0.05 {
		seconds *= slowdown
	}
	if j.Scenario == kit.Slow && host == hostName(hosts-1) {
		seconds *= slowdown
	}
	return time.Duration(seconds * float64(time.Second)), j.Scenario == kit.Hang && attempt == 0 && j.Task%50 == 11
}

func hostName(i int) string { return fmt.Sprint("host-", i) }

// answer is the result of a task.
func (j job) answer() string { return fmt.Sprintf("%s %d %d", j.Scenario, j.Seed, j.Task) }

const (
	usedKey = "demo:used" // slot time in seconds
	doneKey = "demo:done" // results of the tasks of the plain queue
)

// handler runs the tasks of a scenario.
type handler struct {
	rdb  *redis.Client
	host string
}

// ProcessTask runs an attempt of a batch or of the plain queue. In the plain queue, further attempts are asynq's
// retries.
func (h handler) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var j job
	if err := json.Unmarshal(t.Payload(), &j); err != nil {
		return err
	}
	number, _ := asynq.GetRetryCount(ctx)
	attempt, ours := queue.AttemptOf(ctx)
	if ours {
		number = attempt.Number
	}
	began := time.Now()
	used := func() {
		h.rdb.IncrByFloat(context.WithoutCancel(ctx), usedKey, time.Since(began).Seconds())
	}
	takes, hangs := j.takes(number, h.host)
	if hangs {
		<-ctx.Done()
		used()
		if j.Task%100 == 11 {
			select {}
		}
		return ctx.Err()
	}
	defer used()
	for ran := time.Duration(0); ran < takes; ran = time.Since(began) {
		if !j.Silent {
			queue.Progress(ctx, ran.Seconds()/takes.Seconds())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(takes-ran, interval*3/4)):
		}
	}
	if !ours {
		return h.rdb.HSet(ctx, doneKey, j.Task, j.answer()).Err()
	}
	return asynqqueue.WriteResult(ctx, t, []byte(j.answer()))
}
