// The program of the page without the plugin.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hibiken/asynq"
)

func resize(_ context.Context, t *asynq.Task) error {
	_, err := fmt.Fprintf(t.ResultWriter(), "small %s", t.Payload())
	return err
}

func run(ctx context.Context) error {
	conn, err := asynq.ParseRedisURI(os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	mux := asynq.NewServeMux()
	mux.HandleFunc("resize", resize)
	server := asynq.NewServer(conn, asynq.Config{Concurrency: 4})
	return server.Run(mux)
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
