package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hibiken/asynq"
	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
)

func upper(ctx context.Context, t *asynq.Task) error {
	return asynqqueue.WriteResult(ctx, t, bytes.ToUpper(t.Payload()))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx, redis := context.Background(), asynq.RedisClientOpt{Network: "unix", Addr: os.Args[1]}
	tasks := []*asynq.Task{asynq.NewTask("upper", []byte("anna")), asynq.NewTask("upper", []byte("bob"))}
	mux := asynq.NewServeMux()
	mux.HandleFunc("upper", upper)
	q, err := asynqqueue.Open(ctx, redis, "default") // +
	check(err)
	w, err := q.Worker(ctx, queue.Worker{Slots: 4}) // +
	check(err)
	mux.Use(w.Middleware) // +
	check(asynq.NewServer(redis, w.Config()).Start(mux))
	results, err := q.Run(ctx, "names", tasks, queue.Options{}) // in place of client.Enqueue
	check(err)
	for _, r := range results {
		fmt.Println(string(r.Output))
	}
}
