package main

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// The databases of Redis. Each has servers of its own.
const (
	plainDB  = 0 // asynq alone; the naive rule uses it as well
	pluginDB = 1 // asynq with the plugin
)

// The keys of a batch.
const (
	begunKey   = "demo:begun"   // a hash: by attempt, when it began
	resultsKey = "demo:results" // a hash: by task, the seconds that its attempt took
)

func connection(socket string, db int) asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Network: "unix", Addr: socket, DB: db}
}

func open(socket string, db int) *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: socket, DB: db})
}

// quiet is a logger of asynq that writes nothing.
type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}

// work runs a server of a database.
func work(ctx context.Context, socket string, db, number int) error {
	conn := connection(socket, db)
	var handler asynq.Handler = &worker{redis: open(socket, db), last: number == hosts-1}
	if db == pluginDB {
		p, err := asynqplugin.New(conn, asynqplugin.Options{Kinds: map[string]asynqplugin.Kind{kind: {Copies: true}}})
		if err != nil {
			return err
		}
		go p.Run(ctx)
		handler = p.Middleware(handler)
	}
	s := asynq.NewServer(conn, asynq.Config{Concurrency: slots, TaskCheckInterval: slice, Logger: quiet{}})
	if err := s.Start(handler); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// worker runs the tasks of a scenario.
type worker struct {
	redis *redis.Client
	last  bool
}

func (w *worker) ProcessTask(ctx context.Context, t *asynq.Task) error {
	var j job
	if err := json.Unmarshal(t.Payload(), &j); err != nil {
		return err
	}
	s := j.scenario()
	number, _ := asynq.GetRetryCount(ctx)
	id, _ := asynq.GetTaskID(ctx)
	if j.Copy || strings.Contains(id, ":copy:") {
		number += 100
	}
	began := time.Now()
	if err := w.redis.HSet(ctx, begunKey, id, began.UnixMilli()).Err(); err != nil {
		return err
	}
	defer w.redis.HDel(context.WithoutCancel(ctx), begunKey, id)
	hangs, takes := j.hangs(number), j.work()
	if s.slow > 0 && w.last {
		takes *= s.slow
	}
	end := time.Duration(takes * float64(time.Second))
	for hangs || time.Since(began) < end {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		pause := slice
		if !hangs {
			pause = min(pause, end-time.Since(began))
		}
		time.Sleep(pause)
	}
	return w.redis.HSetNX(ctx, resultsKey, strconv.Itoa(j.Task), time.Since(began).Seconds()).Err()
}
