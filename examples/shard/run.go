package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// execute is the command run. It runs a suite of tests, or a shard of it, on this machine.
func execute(ctx context.Context, args []string, s streams) error {
	f := s.flags("run", "[package ...]")
	file := historyOf(f)
	var o options
	o.add(f)
	which := f.String("shard", "1/1",
		"run shard I of a plan of N shards, as `I/N`; without -machines, the plan is for N machines. All "+
			"machines need the same history and the same sources")
	safe := f.String("safe", "", "a `pattern` of packages whose tests may run twice at the same time; a slow package "+
		"of them gets a copy")
	jobs := f.Int("jobs", runtime.GOMAXPROCS(0), "the number of packages that run at once")
	id := f.String("run", "", "the `name` of the run in the history; empty: computed from its times")
	kind := f.String("machine", hostname(), "the `kind` of this machine")
	if err := parse(f, args); err != nil {
		return err
	}
	may, err := regexp.Compile(*safe)
	if err != nil || badName(*id) || badName(*kind) || *jobs < 1 {
		return usage("want a regular expression in -safe, 1 or more in -jobs, and names without spaces and @ in -run and -machine")
	}
	shards := strings.Split(*which, "/")
	number, err := strconv.Atoi(shards[0])
	if err == nil && len(shards) == 2 {
		o.n, err = strconv.Atoi(shards[1])
	}
	if err != nil || len(shards) != 2 || number < 1 || number > o.n {
		return usage("-shard is %q, want I/N such as 2/3", *which)
	}
	begun := time.Now()
	r, err := o.report(ctx, *file, f.Args(), s.in)
	if err != nil {
		return err
	}
	if number > len(r.shards) {
		return usage("-shard is %q, but the plan has %d machines", *which, len(r.shards))
	}
	of := &r.shards[number-1]
	of.machine = r.machine(*kind)
	of.finish()
	fmt.Fprintf(s.out, "%s; predicted time: %s\n", of.contents(), duration(of.end))
	host := &host{streams: s, flags: r.flags, parts: of.parts, jobs: *jobs, look: time.Second}
	host.may = func(pkg string) bool { return *safe != "" && may.MatchString(pkg) }
	failed, err := host.run(ctx, r.spread())
	if err != nil {
		return err
	}
	if *id != "" && len(r.shards) > 1 {
		*id = fmt.Sprintf("%s/%d", *id, number)
	}
	if err := host.record(ctx, r.history, *file, *id, *kind, time.Since(begun)); err != nil {
		return err
	}
	if failed > 0 {
		fmt.Fprintf(s.out, "FAIL: %s\n", words.Counted(failed, "package"))
		return errFailed
	}
	return nil
}

// record adds the times of the run to the history.
func (h *host) record(ctx context.Context, into *history, file, id, kind string, wall time.Duration) error {
	t, err := readTimings(&h.events)
	if err != nil {
		return nil // there are no tests, or no package was built; the output of go test is already printed
	}
	id = cmp.Or(id, t.digest())
	t.gap = h.gap()
	r, err := into.take(t, id, kind, wall.Seconds())
	if err != nil {
		return nil
	}
	fmt.Fprintf(h.out, "run %s%s\n", id, t.summary(r))
	return into.save(ctx, file)
}

// spread returns the distribution of the times of packages, each divided by the median of the package. It returns nil
// if no package has several runs.
func (m *model) spread() estimate.Distribution {
	var e estimate.Empirical
	for _, n := range sortedNames(m.samples) {
		usual, _ := m.time(n)
		for _, t := range m.samples[n] {
			if n.test == "" && !t.failed && usual > 0 && len(m.samples[n]) > 1 {
				e.Insert(t.seconds / usual)
			}
		}
	}
	if e.Len() == 0 {
		return nil
	}
	return &e
}
