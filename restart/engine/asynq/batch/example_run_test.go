package batch_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hibiken/asynq"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/asynq/batch"
)

// A process runs a batch of three tasks and prints the actions. The last task is four times as large as the other tasks.
func ExampleRun() {
	redis := asynq.RedisClientOpt{Addr: "localhost:6379"}
	tasks := []*asynq.Task{
		asynq.NewTask("resize", []byte("a.jpg")),
		asynq.NewTask("resize", []byte("b.jpg")),
		asynq.NewTask("resize", []byte("poster.jpg")),
	}
	out, err := batch.Run(context.Background(), redis, "thumbnails-2026-11", tasks, batch.Options{
		Work:     []float64{1, 1, 4},
		Kind:     "resize",
		OnAction: func(a engine.Action) { fmt.Println(a) }, // "copy", "restart" and so on, with the numbers compared
	})
	if err != nil {
		log.Print(err) // some tasks have failed for good
	}
	for i, r := range out.Results {
		fmt.Println(string(tasks[i].Payload()), len(r.Data), "bytes by", r.Attempt)
	}
}

// A worker has four slots. Its handler reports its progress and writes its result.
func ExampleWorker() {
	redis := asynq.RedisClientOpt{Addr: "localhost:6379"}
	w := batch.Worker{Redis: redis, Slots: 4}
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware())
	mux.HandleFunc("resize", func(ctx context.Context, t *asynq.Task) error {
		var small []byte
		for part := range 10 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			small = append(small, byte(part)) // a tenth of the work
			batch.Progress(ctx, float64(part+1)/10)
		}
		return batch.WriteResult(ctx, t, small)
	})
	if err := asynq.NewServer(redis, w.Config()).Run(mux); err != nil {
		log.Fatal(err)
	}
}
