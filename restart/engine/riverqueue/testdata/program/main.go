package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/riverqueue"
)

type args struct{ Name string }

func (args) Kind() string { return "upper" }

type worker struct{ river.WorkerDefaults[args] }

func (worker) Work(ctx context.Context, job *river.Job[args]) error {
	queue.SetOutput(ctx, []byte(strings.ToUpper(job.Args.Name)))
	return nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx, jobs := context.Background(), []river.JobArgs{args{"anna"}, args{"bob"}}
	config := &river.Config{Workers: river.NewWorkers()}
	river.AddWorker(config.Workers, &worker{})
	pool, err := pgxpool.New(ctx, os.Args[1])
	check(err)
	// from here
	q, err := riverqueue.Open(ctx, stdlib.OpenDBFromPool(pool), "default")
	check(err)
	check(q.AddWorker(ctx, config, queue.Worker{Slots: 4}))
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	check(err)
	check(client.Start(ctx))
	results, err := q.Run(ctx, "names", jobs, queue.Options{})
	check(err)
	fmt.Printf("%s\n%s\n", results[0].Output, results[1].Output)
	// to here
}
