package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/straggler-go/straggler/skew"
)

// compare is the command that compares the plan with the plans of simpler rules.
func compare(ctx context.Context, args []string, s streams) error {
	f := s.flags("compare", "[package ...]")
	history := historyOf(f)
	var o options
	o.add(f)
	measure := f.Bool("measure", false, "run every shard of every plan on this machine, one after the other")
	if err := parse(f, args); err != nil {
		return err
	}
	r, err := o.report(ctx, *history, f.Args(), s.in)
	if err != nil {
		return err
	}
	plans, err := r.rules()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\tmachines\tpredicted\t")
	if *measure {
		fmt.Fprint(table, "measured\tprocessor time\t")
	}
	fmt.Fprintln(table)
	for _, p := range plans {
		fmt.Fprintf(table, "%s\t%d\t%s\t", p.rule, len(p.shards), duration(p.seconds))
		if *measure {
			wall, busy, err := p.measure(ctx, r.flags, s.err)
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "%s\t%s\t", duration(wall), duration(busy))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	guessed, usual, err := doubt(r.sources, r.suites)
	if guessed > 0 {
		fmt.Fprintf(s.out, "If the history did not know a package, half of the guesses of its time would be wrong by a "+
			"factor of at most %.1f. With the median of all packages as the guess, the factor would be %.1f.\n", guessed, usual)
	}
	return err
}

// ruled is a plan with the name of the rule that made it.
type ruled struct {
	plan
	rule string
}

// rules returns the plans of simpler rules, and last the plan of shard.
func (r *report) rules() ([]ruled, error) {
	machines := r.machines()
	all := []ruled{}
	for _, by := range []struct {
		rule     string
		policy   skew.Policy
		machines []machine
	}{
		{"go test", skew.Policy{}, machines[:1]},
		{"by number", skew.Policy{Rule: skew.ByHash}, machines},
		{"longest first", skew.Policy{}, machines},
	} {
		p := packed{suites: r.suites, machines: by.machines, policy: by.policy, pieces: ones(len(r.suites))}
		of, err := p.assign()
		if err != nil {
			return nil, err
		}
		all = append(all, ruled{of, by.rule})
	}
	return append(all, ruled{r.plan, "shard"}), nil
}

// measure runs the shards one after the other. It returns the longest time of a shard, and the largest processor time
// of a shard, in seconds. Processor time hardly depends on other work of the machine.
func (p *plan) measure(ctx context.Context, flags []string, log io.Writer) (wall, busy float64, err error) {
	for i := range p.shards {
		c := exec.CommandContext(ctx, "sh", "-c", p.shards[i].script(flags))
		var out strings.Builder
		c.Stdout, c.Stderr = &out, &out
		begun := time.Now()
		var failed *exec.ExitError
		if err := c.Run(); errors.As(err, &failed) {
			fmt.Fprintf(log, "a test failed: %s\n", out.String()) // a failed test takes time, too
		} else if err != nil {
			return 0, 0, err
		}
		wall = max(wall, time.Since(begun).Seconds())
		busy = max(busy, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
	}
	return wall, busy, nil
}
