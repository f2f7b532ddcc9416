// Command bench measures libraries for second requests on real servers on this machine: net/http, gRPC, and an S3
// server for ranged reads. Server 0 of the four servers is ten times slower.
//
//	go run . -rounds 5 -out .
//
// It writes the medians of the rounds as a table to standard output, and a picture into the directory out.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const (
	// A server takes 4 ms with a standard deviation of 1 ms, and the slow one ten times as long.
	meanTime, spread, slowTimes = 4 * time.Millisecond, 0.25, 10
	// The delay of the libraries that have a fixed one: most answers of healthy servers come within it.
	fixedDelay = 8 * time.Millisecond
	// The share of second requests that the libraries with a budget may send: a quarter of the requests are slow.
	budgetShare = 0.3
	quantile    = 0.75 // delay of failsafe-go's second rule
	warmup      = 0.2  // share of the requests of a round; they are not counted
	deadline    = 10 * time.Second
)

// work takes the time of requests, and counts them.
type work struct{ requests atomic.Int64 }

// serve takes the time of a request on the server, or less if the client has gone.
func (w *work) serve(ctx context.Context, server int) {
	n := w.requests.Add(1)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	took := float64(meanTime) * math.Exp(spread*r.NormFloat64())
	if server == 0 {
		took *= slowTimes
	}
	select {
	case <-time.After(time.Duration(took)):
	case <-ctx.Done():
	}
}

// ask sends a request, and returns when the answer has come.
type ask func(ctx context.Context) error

// protocol is a kind of servers with the libraries that can ask them.
type protocol struct {
	name string
	// start starts the servers. It returns the ways to ask them, and stops the servers by stop.
	start func(w *work) (asks []library, stop func(), err error)
}

type library struct {
	name string
	ask  ask
}

// row is the result of a library in a round.
type row struct{ p50, p99, p999, load float64 }

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "rounds; the medians are printed")
	requests := flags.Int("requests", 2000, "requests of a round")
	rate := flags.Float64("rate", 400, "requests each second, on average")
	only := flags.String("servers", "all", "the servers to measure: net/http, gRPC, S3, or all")
	dir := flags.String("out", "", "directory for the picture; empty: none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	protocols := []protocol{{"net/http", startHTTP}, {"gRPC", startGRPC}, {"S3", startS3}}
	if *only != "all" {
		protocols = slices.DeleteFunc(protocols, func(p protocol) bool { return p.name != *only })
	}
	switch {
	case *rounds < 1:
		return fmt.Errorf("-rounds is %d, want at least 1", *rounds)
	case *requests < 100:
		return fmt.Errorf("-requests is %d, want at least 100", *requests)
	case !(*rate > 0):
		return fmt.Errorf("-rate is %v, want above 0", *rate)
	case len(protocols) == 0:
		return fmt.Errorf("-servers is %q, want net/http, gRPC, S3, or all", *only)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "| servers\t| library\t| p50 in ms\t| p99 in ms\t| p99.9 in ms\t| load\t|")
	fmt.Fprintln(t, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	var bars []bar
	for _, p := range protocols {
		names, results := []string{}, map[string][]row{}
		for range *rounds {
			var w work
			asks, stop, err := p.start(&w)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			for _, l := range asks {
				r, err := measure(&w, l.ask, *requests, *rate)
				if err != nil {
					stop()
					return fmt.Errorf("%s, %s: %w", p.name, l.name, err)
				}
				if results[l.name] == nil {
					names = append(names, l.name)
				}
				results[l.name] = append(results[l.name], r)
			}
			stop()
		}
		for _, name := range names {
			r := medians(results[name])
			fmt.Fprintf(t, "| %s\t| %s\t| %.1f\t| %.1f\t| %.1f\t| %.2f\t|\n", p.name, name, r.p50, r.p99, r.p999, r.load)
			bars = append(bars, bar{p.name, name, r.p99, r.load})
		}
	}
	if err := t.Flush(); err != nil || *dir == "" {
		return err
	}
	return draw(bars, filepath.Join(*dir, "p99.png"))
}

// measure sends requests at random instants, whether or not the earlier ones are answered.
func measure(w *work, ask ask, requests int, rate float64) (row, error) {
	times, errs := make([]float64, requests), make([]error, requests)
	var all sync.WaitGroup
	skip := int(warmup * float64(requests))
	var before int64
	next := time.Now()
	for i := range requests {
		next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second)))
		time.Sleep(time.Until(next))
		if i == skip { // the requests of the warm-up have all arrived, so that the load is of the others alone
			all.Wait()
			before, next = w.requests.Load(), time.Now()
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			sent := time.Now()
			errs[i] = ask(ctx)
			times[i] = float64(time.Since(sent)) / float64(time.Millisecond)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return row{}, err
		}
	}
	list := times[skip:]
	slices.Sort(list)
	at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, list, nil) }
	return row{at(0.5), at(0.99), at(0.999), float64(w.requests.Load()-before) / float64(requests-skip)}, nil
}

// medians returns the median of each number of the rows.
func medians(rows []row) row {
	of := func(get func(r row) float64) float64 {
		list := make([]float64, len(rows))
		for i, r := range rows {
			list[i] = get(r)
		}
		slices.Sort(list)
		return stat.Quantile(0.5, stat.Empirical, list, nil)
	}
	return row{
		of(func(r row) float64 { return r.p50 }), of(func(r row) float64 { return r.p99 }),
		of(func(r row) float64 { return r.p999 }), of(func(r row) float64 { return r.load }),
	}
}
