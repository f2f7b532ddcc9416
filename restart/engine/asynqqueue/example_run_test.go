package asynqqueue_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hibiken/asynq"

	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

// A process runs a batch of two tasks. Slow attempts are copied.
func ExampleQueue_Run() {
	ctx, redis := context.Background(), asynq.RedisClientOpt{Addr: "localhost:6379"}
	q, err := asynqqueue.Open(ctx, redis, "default")
	if err != nil {
		log.Fatal(err)
	}
	tasks := []*asynq.Task{asynq.NewTask("resize", []byte("a.jpg")), asynq.NewTask("resize", []byte("b.jpg"))}
	results, err := q.Run(ctx, "thumbnails-2026-11", tasks, queue.Options{
		Kinds: map[string]queue.Kind{"resize": {Copies: true}},
	})
	if err != nil {
		log.Print(err) // some tasks have failed for good
	}
	for i, r := range results {
		fmt.Println(string(tasks[i].Payload()), len(r.Output), "bytes by", r.Attempt)
	}
}

// A worker has four slots. Its handler reports its progress and writes its result.
func ExampleQueue_Worker() {
	ctx, redis := context.Background(), asynq.RedisClientOpt{Addr: "localhost:6379"}
	q, err := asynqqueue.Open(ctx, redis, "default")
	if err != nil {
		log.Fatal(err)
	}
	w, err := q.Worker(ctx, queue.Worker{Slots: 4})
	if err != nil {
		log.Fatal(err)
	}
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware)
	mux.HandleFunc("resize", func(ctx context.Context, t *asynq.Task) error {
		var small []byte
		for part := range 10 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			small = append(small, byte(part)) // a tenth of the work
			queue.Progress(ctx, float64(part+1)/10)
		}
		return asynqqueue.WriteResult(ctx, t, small)
	})
	if err := asynq.NewServer(redis, w.Config()).Run(mux); err != nil {
		log.Fatal(err)
	}
}
