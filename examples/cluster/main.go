// Command cluster simulates jobs on a cluster in which this library makes every decision, and prints times and counts.
//
//	go run ./cluster                              use every mechanism of the library
//	go run ./cluster -with restart=late,clone     use some mechanisms
//	go run ./cluster -explain 7                   print every decision about job 7, in order, with its numbers
//	go run ./cluster -compare                     compare none, each mechanism alone, all but one, and all
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// options are the values of the command line.
type options struct {
	workload
	with    string
	explain int
	compare bool
	seeds   int
}

func run(args []string, out, usage io.Writer) error {
	var o options
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.IntVar(&o.machines, "machines", 100, "number of machines, each with four map slots and two reduce slots")
	flags.IntVar(&o.racks, "racks", 5, "number of racks")
	flags.IntVar(&o.jobs, "jobs", 300, "number of jobs")
	flags.Float64Var(&o.load, "load", 0.6, "share of the map slots that the work of the jobs keeps busy, above 0, up to 2")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of all random numbers")
	flags.StringVar(&o.with, "with", "all", "mechanisms to use, separated by commas: "+strings.Join(names(), ", ")+"; all; none")
	flags.IntVar(&o.explain, "explain", 0, "print every decision about the job with this number, counted from 1")
	flags.BoolVar(&o.compare, "compare", false, "compare none, each mechanism alone, all but one, and all")
	flags.IntVar(&o.seeds, "seeds", 10, "number of seeds of -compare, from -seed on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.compare {
		return compare(out, o)
	}
	c := o.config()
	if err := use(&c, o.with); err != nil {
		return err
	}
	c.Explain = o.explain
	r, err := cluster.Run(c)
	if err != nil {
		return err
	}
	return show(out, c, r)
}

func (o *options) check() error {
	switch {
	case o.machines < 1 || o.jobs < 1 || o.racks < 1 || o.racks > o.machines || o.seeds < 1:
		return fmt.Errorf("-machines is %d, -racks %d, -jobs %d, -seeds %d: want 1 or more for each, and at most as many racks as machines",
			o.machines, o.racks, o.jobs, o.seeds)
	case !(o.load > 0 && o.load <= 2):
		return fmt.Errorf("-load is %v, want above 0 and at most 2", o.load)
	case o.explain < 0 || o.explain > o.jobs:
		return fmt.Errorf("-explain is %d, want a job from 1 to %d", o.explain, o.jobs)
	}
	return nil
}

// show prints the summary, and with -explain the decisions.
func show(out io.Writer, c cluster.Config, r cluster.Result) error {
	s := summarise(c, r)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "jobs\t%d in %v, %d events\n", len(c.Jobs), r.End.Round(time.Second), r.Events)
	fmt.Fprintf(t, "mean time\t%.1f s; small jobs (up to ten maps) %.1f s; 95th percentile %.1f s\n", s.Mean, s.Small, s.P95)
	fmt.Fprintf(t, "deadlines\t%.1f %% missed\n", 100*s.Missed)
	fmt.Fprintf(t, "data\t%.1f %% of the maps on a machine with their block, %.1f %% in a rack with their block\n",
		100*s.Local, 100*s.Rack)
	fmt.Fprintf(t, "copies\t%d copies and %d restarts, %d of them won; %d copies killed as not worth their slot\n",
		r.Speculative, r.Restarted, r.Won, r.Pruned)
	fmt.Fprintf(t, "clones\t%d phases cloned, %d not cloned because the budget or the ceiling was reached\n", r.Cloned, r.Refused)
	fmt.Fprintf(t, "outputs\t%d lost outputs computed again, %d read from a replica; %.1f %% of the bytes replicated\n",
		r.Recomputed, r.Saved, 100*r.Replicated/max(1, r.Processed))
	fmt.Fprintf(t, "slots\t%.0f s used, %.1f %% of it by attempts that did not end their task; %d attempts preempted\n",
		s.Used, 100*s.Wasted, r.Preempted)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range r.Story {
		fmt.Fprintf(out, "%12.3fs  %s\n", line.At.Seconds(), line.Text)
	}
	return nil
}
