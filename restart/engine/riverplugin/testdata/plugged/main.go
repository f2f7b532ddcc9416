// Command plugged is command plain with the plugin.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

type resize struct{ Image string }

func (resize) Kind() string { return "resize" }

type worker struct{ river.WorkerDefaults[resize] }

func (*worker) Work(ctx context.Context, job *river.Job[resize]) error {
	return river.RecordOutput(ctx, "small "+job.Args.Image)
}

func run(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{})
	config := &river.Config{Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 8}}}
	plugin, err := riverplugin.New(pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"resize": {Copies: true}}})
	if err != nil {
		return err
	}
	config.Plugins = append(config.Plugins, plugin)
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	go plugin.Run(ctx, client)
	<-client.Stopped()
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}
