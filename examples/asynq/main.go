// Command asynq compares package asynqplugin with plain asynq, and with a naive rule that copies once whatever runs over
// twice the median. It starts a Redis and four servers as processes, and runs each scenario under each rule, in turn.
//
//	cd examples && go run ./asynq -runs 5
//
// Flags:
//
//   - -scenarios NAME,...: the scenarios to run; empty: all of them
//   - -runs N: how often
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/straggler-go/straggler/examples/kit"
)

func main() {
	names := flag.String("scenarios", "", "scenarios to run, with commas; empty: all")
	runs := flag.Int("runs", 3, "how often each scenario runs under each rule")
	db := flag.Int("db", 0, "with -worker: the database of Redis")
	number := flag.Int("worker", -1, "run as this worker")
	socket := flag.String("socket", "", "with -worker: the socket of Redis")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *number >= 0 {
		err = work(ctx, *socket, *db, *number)
	} else {
		err = compare(ctx, *names, *runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asynq:", err)
		os.Exit(1)
	}
}

// compare runs the scenarios under each rule, and prints a table for each.
func compare(ctx context.Context, names string, times int) error {
	chosen, err := kit.Pick(names, scenarios(), func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	st, err := start()
	defer st.end()
	if err != nil {
		return err
	}
	table := kit.Comparison[run]{
		Seconds: func(r run) float64 { return r.seconds },
		Right:   func(r run) bool { return r.lost == 0 },
		Measures: []kit.Measure[run]{
			kit.Count("lost", func(r run) int { return r.lost }),
			kit.Count("rows left", func(r run) int { return r.rows }),
		},
	}
	rules := []string{"plain", "naive", "plugin"}
	for _, s := range chosen {
		all, err := kit.Repeat(times, rules, func(rule string, n int) (run, error) { return st.batch(ctx, s, rule, uint64(n)) })
		if err != nil {
			return err
		}
		table.Print(os.Stdout, s.name, rules, all)
	}
	return nil
}
