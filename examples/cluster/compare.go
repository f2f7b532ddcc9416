package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/straggler-go/straggler/fairshare"
	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

const fifo = fairshare.FIFO

// summary has the main figures of a run. Times are in seconds.
type summary struct {
	Mean, Small, P95 float64
	// Missed is the share of the jobs with a deadline that missed it. Local is the share of the maps with their block
	// on the same machine, and Rack the share with their block in the same rack. Wasted is the share of the slot time
	// of attempts that did not end their task.
	Missed, Local, Rack, Wasted float64
	Used                        float64
}

func summarise(c cluster.Config, r cluster.Result) summary {
	var all, small []float64
	due, late := 0.0, 0.0
	for i, j := range r.Jobs {
		took := j.Took().Seconds()
		all = append(all, took)
		if len(c.Jobs[i].Phases[0].Tasks) <= 10 {
			small = append(small, took)
		}
		if d := c.Jobs[i].Deadline; d > 0 {
			due++
			if j.End > d {
				late++
			}
		}
	}
	slices.Sort(all)
	used := (r.Used[cluster.Map] + r.Used[cluster.Reduce]).Seconds()
	s := summary{
		Mean: stat.Mean(all, nil), P95: stat.Quantile(0.95, stat.Empirical, all, nil), Missed: late / max(1, due),
		Local: r.Near.Share(0), Rack: r.Near.Share(1), Wasted: r.Wasted.Seconds() / used, Used: used,
	}
	if len(small) > 0 {
		s.Small = stat.Mean(small, nil)
	}
	return s
}

// set is a set of mechanisms, with its name in the table.
type set struct{ name, with string }

// sets returns the sets of mechanisms that are compared: none, each alone, all but one, all, all with laxity instead of
// fair, and all with the default rule instead of Mantri's.
func sets() []set {
	list := []set{{"none", "none"}}
	for _, name := range names() {
		list = append(list, set{name, name})
	}
	for _, name := range everything {
		rest := slices.DeleteFunc(slices.Clone(everything), func(o string) bool { return o == name })
		list = append(list, set{"all but " + name, strings.Join(rest, ",")})
	}
	all := strings.Join(everything, ",")
	laxity, least := "laxity,"+strings.Join(everything[1:], ","), strings.Replace(all, "=mantri", "=least-cost", 1)
	return append(list, set{"all", "all"}, set{laxity, laxity}, set{least, least})
}

// compare simulates every set on the same workloads, and prints the means over the seeds.
func compare(out io.Writer, o options) error {
	list := sets()
	results := make([][]summary, len(list))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range list {
		results[i] = make([]summary, o.seeds)
		for seed := range o.seeds {
			g.Go(func() error {
				w := o.workload
				w.seed += uint64(seed)
				c := w.config()
				if err := use(&c, list[i].with); err != nil {
					return err
				}
				r, err := cluster.Run(c)
				results[i][seed] = summarise(c, r)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return table(out, list, results)
}

func table(out io.Writer, list []set, results [][]summary) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "mean s\tsmall s\tp95 s\tmissed %\tlocal %\twasted %\tslots\t  with\t")
	for i, of := range list {
		mean := func(f func(summary) float64) float64 {
			var x []float64
			for _, s := range results[i] {
				x = append(x, f(s))
			}
			return stat.Mean(x, nil)
		}
		used := make([]float64, len(results[i]))
		for k, s := range results[i] {
			used[k] = s.Used / results[0][k].Used
		}
		fmt.Fprintf(t, "%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.3f\t  %s\t\n",
			mean(func(s summary) float64 { return s.Mean }), mean(func(s summary) float64 { return s.Small }),
			mean(func(s summary) float64 { return s.P95 }), 100*mean(func(s summary) float64 { return s.Missed }),
			100*mean(func(s summary) float64 { return s.Local }), 100*mean(func(s summary) float64 { return s.Wasted }),
			stat.Mean(used, nil), of.name)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, compareLegend)
	return err
}

// compareLegend explains the columns of compare.
const compareLegend = `
mean, small, p95  time of a job: the mean, the mean of jobs with up to ten maps, and the 95th percentile
missed            share of the jobs with a deadline that missed it
local             share of the maps on a machine with their block
wasted            share of the slot time of attempts that did not end their task
slots             slot time divided by the slot time without any mechanism
`
