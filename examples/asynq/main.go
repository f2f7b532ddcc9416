// Command asynq compares plain asynq with package asynqqueue under several policies. It starts a Redis server and four
// workers of eight slots as processes. Then it runs batches of 200 tasks in several scenarios, such as a slow worker,
// and prints the times. It needs Debian's package redis-server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

func main() {
	var c kit.Choice
	c.Flags(flag.CommandLine)
	kills := flag.Int("kills", 0,
		"instead of comparing policies, kill the process that runs a batch this `number` of times, at random moments")
	worker := flag.Int("worker", -1, "for the demonstration itself: run the worker with this number")
	one := flag.String("batch", "", "for the demonstration itself: run the batch of this name")
	socket := flag.String("redis", "", "for the demonstration itself: the socket of Redis")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at := asynq.RedisClientOpt{Network: "unix", Addr: *socket}
	var err error
	switch {
	case *worker >= 0:
		err = work(ctx, at, hostName(*worker))
	case *one != "":
		err = runOne(ctx, at, *one)
	default:
		err = demo(ctx, c, *kills)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asynq:", err)
		stop()
		os.Exit(1)
	}
}

// work runs a worker. The worker also takes tasks of the plain queue.
func work(ctx context.Context, at asynq.RedisClientOpt, host string) error {
	q, err := asynqqueue.Open(ctx, at, queueName)
	if err != nil {
		return err
	}
	w, err := q.Worker(ctx, queue.Worker{Name: host, Slots: slots})
	if err != nil {
		return err
	}
	c := w.Config()
	c.Queues[plainQueue] = 1
	c.LogLevel = asynq.FatalLevel
	c.RetryDelayFunc = func(int, error, *asynq.Task) time.Duration { return 100 * time.Millisecond }
	c.DelayedTaskCheckInterval = interval
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware)
	mux.Handle("work", handler{at.MakeRedisClient().(*redis.Client), host})
	return asynq.NewServer(at, c).Run(mux)
}

// demo starts Redis and the workers, and runs the chosen scenarios.
func demo(ctx context.Context, c kit.Choice, kills int) error {
	picked, err := kit.Pick(c.Scenarios, scenarios, func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	policies, err := kit.Policies(c.Policies, policies, wayOf)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "straggler-asynq-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st := &stage{at: asynq.RedisClientOpt{Network: "unix", Addr: filepath.Join(dir, "redis")}, verbose: c.Verbose}
	end, err := st.start(ctx, dir)
	defer end()
	if err != nil {
		return err
	}
	if kills > 0 {
		return st.kill(ctx, kills)
	}
	for _, s := range picked {
		if err := st.compare(ctx, s, policies, c.Runs); err != nil {
			return err
		}
	}
	return nil
}

// start starts Redis and the workers. They end with the demonstration.
func (st *stage) start(ctx context.Context, dir string) (end func(), err error) {
	var started []*exec.Cmd
	end = func() {
		for _, c := range slices.Backward(started) {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	run := func(name string, args ...string) error {
		c := exec.Command(name, args...)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			return err
		}
		started = append(started, c)
		return nil
	}
	if err := run("redis-server", "--port", "0", "--unixsocket", st.at.Addr, "--save", "", "--dir", dir); err != nil {
		return end, fmt.Errorf("%w (apt-get install redis-server)", err)
	}
	st.rdb = st.at.MakeRedisClient().(*redis.Client)
	for st.rdb.Ping(ctx).Err() != nil {
		select {
		case <-ctx.Done():
			return end, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	self, err := os.Executable()
	for i := 0; i < hosts && err == nil; i++ {
		err = run(self, "-worker", fmt.Sprint(i), "-redis", st.at.Addr)
	}
	tool := asynq.NewInspectorFromRedisClient(st.rdb)
	for err == nil {
		if up, e := tool.Servers(); e != nil || len(up) == hosts {
			return end, e
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return end, err
}
