// Command fetch compares pool.Map with errgroup, conc and failsafe-go's hedge, on 500 requests of 20 ms, 32 at once.
//
//	go run ./examples/pool/fetch [-runs 5]
//
// A request has a timeout of 3 s and three tries. The table has the median time of each way, divided by errgroup's
// median in the same trouble, and the mean number of requests. The ways run in turn. If a request panics, the table has
// seconds, or says that the process dies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"
	concpool "github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

const (
	urls    = 500
	atOnce  = 32
	takes   = 20 * time.Millisecond
	timeout = 3 * time.Second
	tries   = 3
)

// server is the trouble of the requests. It counts them.
type server struct {
	seed     uint64
	requests atomic.Int64
	// answer returns the time of request n for a URL, and whether it fails. A time of 0 means that it hangs.
	answer func(s *server, url int, n int64) (takes time.Duration, fails bool)
	deaf   bool // requests do not notice the end of their context
	panics bool // the request of the last URL panics
}

// chance returns a random number for request n of a URL.
func (s *server) chance(url int, n int64) float64 {
	return rand.New(rand.NewPCG(s.seed, uint64(url)<<32|uint64(n))).Float64()
}

var errFails = errors.New("the request fails")

// get makes one request.
func (s *server) get(ctx context.Context, url int) error {
	n := s.requests.Add(1)
	if s.panics && url == urls-1 {
		panic("the request panics")
	}
	d, fails := s.answer(s, url, n)
	if fails {
		return errFails
	}
	if d == 0 {
		d = time.Hour
	}
	if s.deaf {
		time.Sleep(d)
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// fetch makes a request, with a timeout, up to three times.
func (s *server) fetch(ctx context.Context, url int) (result int, err error) {
	for range tries {
		try, cancel := context.WithTimeout(ctx, timeout)
		err = s.get(try, url)
		cancel()
		if err == nil || ctx.Err() != nil {
			return url, err
		}
		time.Sleep(takes)
	}
	return url, err
}

// troubles are the rows of the table.
var troubles = []struct {
	name string
	server
}{
	{"nothing", server{answer: healthy}},
	{"3 % of the requests are slow or hang", server{answer: slowRequests(0)}},
	{"the same, and 2 % fail at once", server{answer: slowRequests(.02)}},
	{"3 % of the URLs are always slow", server{answer: func(_ *server, url int, _ int64) (time.Duration, bool) {
		if url%33 == 5 {
			return time.Second, false
		}
		return takes, false
	}}},
	{"one URL always fails", server{answer: func(_ *server, url int, _ int64) (time.Duration, bool) {
		return takes, url == 300
	}}},
	{"one URL always hangs", server{answer: func(_ *server, url int, _ int64) (time.Duration, bool) {
		if url == 300 {
			return 0, false
		}
		return takes, false
	}}},
	{"2 % of the requests take 1 s, and are deaf", server{deaf: true, answer: func(
		s *server, url int, n int64,
	) (time.Duration, bool) {
		if s.chance(url, n) < .02 {
			return time.Second, false
		}
		return takes, false
	}}},
	{"the request of the last URL panics", server{panics: true, answer: healthy}},
}

func healthy(*server, int, int64) (time.Duration, bool) { return takes, false }

func slowRequests(fail float64) func(s *server, url int, n int64) (time.Duration, bool) {
	return func(s *server, url int, n int64) (time.Duration, bool) {
		switch x := s.chance(url, n); {
		case x < .015:
			return time.Second, false
		case x < .03:
			return 0, false
		case x < .03+fail:
			return 0, true
		}
		return takes, false
	}
}

// way is a column of the table. It fetches all URLs.
type way struct {
	name  string
	dies  bool // the process, if a request panics
	fetch func(items []int, f func(context.Context, int) (int, error)) error
}

var ways = []way{
	{"errgroup", true, func(items []int, f func(context.Context, int) (int, error)) error {
		group, ctx := errgroup.WithContext(context.Background())
		group.SetLimit(atOnce)
		for _, url := range items {
			group.Go(func() error { _, err := f(ctx, url); return err })
		}
		return group.Wait()
	}},
	{"conc", false, func(items []int, f func(context.Context, int) (int, error)) error {
		group := concpool.NewWithResults[int]().WithContext(context.Background()).WithCancelOnError().WithMaxGoroutines(atOnce)
		for _, url := range items {
			group.Go(func(ctx context.Context) (int, error) { return f(ctx, url) })
		}
		_, err := group.Wait()
		return err
	}},
	{"errgroup, failsafe-go's hedge", true, func(items []int, f func(context.Context, int) (int, error)) error {
		policy := hedgepolicy.NewBuilderWithDelayQuantile[int](.95, 100, 20).WithMaxHedges(2).Build()
		group, ctx := errgroup.WithContext(context.Background())
		group.SetLimit(atOnce)
		for _, url := range items {
			group.Go(func() error {
				_, err := failsafe.With[int](policy).WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) {
					return f(e.Context(), url)
				})
				return err
			})
		}
		return group.Wait()
	}},
	{"Map", false, mapped()},
	{"Map, Copies", false, mapped(pool.Copies())},
	{"Map, Restarts", false, mapped(pool.Restarts())},
	{"Each, Copies", false, func(items []int, f func(context.Context, int) (int, error)) (err error) {
		for _, r := range pool.Each(context.Background(), items, f, pool.Goroutines(atOnce), pool.Copies()) {
			err = errors.Join(err, r.Err) // all other items have their results
		}
		return err
	}},
}

func mapped(more ...pool.Option) func([]int, func(context.Context, int) (int, error)) error {
	return func(items []int, f func(context.Context, int) (int, error)) error {
		_, err := pool.Map(context.Background(), items, f, append([]pool.Option{pool.Goroutines(atOnce)}, more...)...)
		return err
	}
}

// run fetches all URLs one way. A panic that reaches this goroutine is an error.
func (w way) run(s *server, items []int) (took time.Duration, err error) {
	began := time.Now()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		took = time.Since(began)
	}()
	return 0, w.fetch(items, s.fetch)
}

func main() {
	runs := flag.Int("runs", 5, "how often each way runs")
	flag.Parse()
	if *runs < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "fetch: -runs must be at least 1, and there are no arguments")
		os.Exit(2)
	}
	var items []int
	for i := range urls {
		items = append(items, i)
	}
	fmt.Printf("| trouble | errgroup, s |")
	for _, w := range ways[1:] {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Printf("\n|---|---|---|---|---|---|---|---|\n")
	for i := range troubles {
		t := &troubles[i]
		times := make([][]float64, len(ways))
		requests := make([]int64, len(ways))
		for run := range *runs {
			for k, w := range ways {
				if t.panics && w.dies {
					continue
				}
				t.seed = uint64(run)
				t.requests.Store(0)
				took, _ := w.run(&t.server, items)
				times[k] = append(times[k], took.Seconds())
				requests[k] += t.requests.Load()
			}
		}
		base := 1. // a second, if errgroup dies
		if len(times[0]) == 0 {
			fmt.Printf("| %s | dies |", t.name)
		} else {
			base = median(times[0])
			fmt.Printf("| %s | %.2f (%d) |", t.name, base, requests[0]/int64(*runs))
		}
		for k := range ways[1:] {
			if k++; len(times[k]) == 0 {
				fmt.Printf(" dies |")
				continue
			}
			fmt.Printf(" %.2f (%d) |", median(times[k])/base, requests[k]/int64(*runs))
		}
		fmt.Println()
	}
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
