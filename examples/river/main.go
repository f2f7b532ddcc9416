// Command river compares package riverplugin with plain River, with River that ends and rescues jobs after a fixed time, and
// with a naive rule that copies once whatever runs over twice the median. It starts a Postgres and four workers as
// processes, and runs each scenario under each rule, in turn.
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
)

func main() {
	names := flag.String("scenarios", "", "scenarios to run, with commas; empty: all")
	runs := flag.Int("runs", 3, "how often each scenario runs under each rule")
	atOnce := flag.Int("at-once", 1, "batches at the same time, each with a Postgres and workers of its own")
	record := flag.String("record", "", "file of runs; runs that it has are not repeated")
	number := flag.Int("worker", -1, "run as this worker")
	url := flag.String("url", "", "with -worker: the address of Postgres")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *number >= 0 {
		err = work(ctx, *url, *number)
	} else {
		err = compare(ctx, *names, *runs, *atOnce, *record)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}
