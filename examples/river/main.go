// Command river compares package riverqueue with plain River, and with a naive rule that copies once whatever runs over
// twice the median. It starts a Postgres and four workers as processes, and runs each scenario under each rule, in turn.
//
//	cd examples/river && go run . -runs 20
//
// Flags:
//
//   - -scenarios NAME,...: the scenarios to run; empty: all of them
//   - -runs N: how often
//   - -at-once N: the number of batches at the same time, each with a Postgres and workers of its own
//   - -record FILE: write each run to this file; runs that the file has are not repeated
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/straggler-go/straggler/restart/engine/riverqueue"
)

func main() {
	names := flag.String("scenarios", "", "scenarios to run, with commas; empty: all")
	runs := flag.Int("runs", 3, "how often each scenario runs under each rule")
	atOnce := flag.Int("at-once", 1, "batches at the same time, each with a Postgres and workers of its own")
	record := flag.String("record", "", "file of runs; runs that it has are not repeated")
	number := flag.Int("worker", -1, "run as this worker")
	batch := flag.String("batch", "", "coordinate this batch")
	of := flag.String("of", "", "with -batch: the scenario")
	seed := flag.Uint64("seed", 1, "with -batch: the seed")
	url := flag.String("url", "", "with -worker and -batch: the address of Postgres")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *number >= 0:
		err = work(ctx, *url, *number)
	case *batch != "":
		var q *riverqueue.Queue
		if _, q, err = open(ctx, *url); err == nil {
			err = coordinate(ctx, q, *batch, *of, *seed)
		}
	default:
		err = compare(ctx, *names, *runs, *atOnce, *record)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

// open returns the database at an address, and its queue.
func open(ctx context.Context, url string) (*pgxpool.Pool, *riverqueue.Queue, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	q, err := riverqueue.Open(ctx, stdlib.OpenDBFromPool(pool), queueName)
	return pool, q, err
}
