package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/requests"
)

// loads are the shares of the servers' time that the requests take without copies.
var loads = []float64{0.1, 0.3, 0.5, 0.7, 0.9}

// askers are the compared ways to send requests.
var askers = []struct {
	name string
	use  func(*requests.Config)
}{
	{"no copies", func(*requests.Config) {}},
	{"clone, no limits", func(c *requests.Config) {
		c.Clone = &clone.Config{BudgetShare: clone.Off, Ceiling: clone.Off}
	}},
	{"clone, ceiling 0.8", func(c *requests.Config) { c.Clone = &clone.Config{BudgetShare: clone.Off} }},
	{"clone, ceiling 0.5", func(c *requests.Config) {
		c.Clone = &clone.Config{BudgetShare: clone.Off, Ceiling: 0.5}
	}},
	{"age > p75, no budget", func(c *requests.Config) { c.Restart, c.Queued = rules.Dryad{}, true }},
	{"age > p75, budget, idle", func(c *requests.Config) { c.Restart, c.Budget = rules.Dryad{}, &tracker.BudgetConfig{} }},
	{"Mantri by age, budget, idle", func(c *requests.Config) {
		c.Restart, c.Budget = restart.Mantri{}, &tracker.BudgetConfig{}
	}},
}

// requestsConfig describes a hundred servers. A server takes 10 ms for a request, and 100 ms for one of twenty
// requests. A fan-out sends ten requests. The data of each request is on three servers.
func requestsConfig(o options, load float64, seed int) requests.Config {
	return requests.Config{
		Servers: 100, Fanouts: 4000, Fan: 10, Warmup: 500, Replicas: 3, Load: load, Mean: 0.0145, Cancel: o.cancel,
		Seconds: func(r *rand.Rand) float64 {
			if r.IntN(20) == 0 {
				return 0.1
			}
			return 0.01
		},
		Straggler: stragglerShare, Interval: 5 * time.Millisecond, Seed: o.seed + uint64(seed),
	}
}

// compareRequests simulates each way to send requests at each load, and prints the means over the seeds.
func compareRequests(out io.Writer, o options) error {
	type cell struct{ mean, p99, copies float64 }
	cells := make([][]cell, len(askers)*len(loads))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cells {
		cells[i] = make([]cell, o.seeds)
		for seed := range o.seeds {
			g.Go(func() error {
				c := requestsConfig(o, loads[i%len(loads)], seed)
				askers[i/len(loads)].use(&c)
				r, err := requests.Run(c)
				if err == nil {
					cells[i][seed] = cell{1000 * r.Mean, 1000 * r.Quantile(0.99), float64(r.Copies) / float64(r.Requests)}
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, l := range loads {
		fmt.Fprintf(t, "load %.1f\t", l)
	}
	fmt.Fprintln(t, "  mean / p99 in ms, copies per request\t")
	for a, asker := range askers {
		for l := range loads {
			var mean, p99, copies []float64
			for _, c := range cells[a*len(loads)+l] {
				mean, p99, copies = append(mean, c.mean), append(p99, c.p99), append(copies, c.copies)
			}
			fmt.Fprintf(t, "%.0f / %.0f, %.2f\t", stat.Mean(mean, nil), stat.Mean(p99, nil), stat.Mean(copies, nil))
		}
		fmt.Fprintf(t, "  %s\t\n", asker.name)
	}
	return t.Flush()
}

// explainRequests prints the decisions about one fan-out, with clones and Mantri's rule by age, at a load of 0.5.
func explainRequests(out io.Writer, o options) error {
	c := requestsConfig(o, 0.5, 0)
	c.Restart, c.Budget, c.Clone, c.Explain = restart.Mantri{}, &tracker.BudgetConfig{}, &clone.Config{}, o.explain
	r, err := requests.Run(c)
	if err != nil {
		return err
	}
	for _, line := range r.Story {
		fmt.Fprintf(out, "%12.4fs  %s\n", line.At.Seconds(), line.Text)
	}
	return nil
}
