package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the values of the options of plan, run and compare.
type options struct {
	machines, flags, affected string
	n                         int
	target, overhead          time.Duration
	named                     bool // the paths of the packages come from standard input
}

// planned is the command plan, which prints a plan.
func planned(ctx context.Context, args []string, s streams) error {
	f := s.flags("plan", "[package ...]")
	history := historyOf(f)
	var o options
	o.add(f)
	f.BoolVar(&o.named, "stdin", false, "read the paths of packages from standard input instead of calling go list")
	format := f.String("format", "text",
		"`text`, json, github (a matrix for a workflow) or sh (a line of shell for each shard)")
	why := f.Bool("explain", false, "also print which test or package is the floor, and what it would bring to cut it")
	if err := parse(f, args); err != nil {
		return err
	}
	show, ok := map[string]func(io.Writer, *report) error{
		"text": printText, "json": printJSON, "github": printMatrix, "sh": printLines,
	}[*format]
	if !ok {
		return usage("-format is %q, want text, json, github or sh", *format)
	}
	r, err := o.report(ctx, *history, f.Args(), s.in)
	if err != nil {
		return err
	}
	if err := show(s.out, r); err != nil || !*why {
		return err
	}
	return r.explain(s.out)
}

func (o *options) add(f *flag.FlagSet) {
	f.IntVar(&o.n, "n", 0,
		"the `number` of machines, all of the kind that ran last; 0: as many machines as make the plan faster")
	f.DurationVar(&o.target, "target", 0, "instead of -n: as few machines as end within this `time`")
	f.DurationVar(&o.overhead, "overhead", 0,
		"instead of -n: the number N of machines with the least end + N x this `time`, "+
			"the price of one more machine")
	f.StringVar(&o.machines, "machines", "", "the machines, instead of -n, as `KIND*NUMBER/SPEED+START,...`, such as "+
		"large*2,old/0.5+90s; speed and start are learned from the history if they are left out")
	f.StringVar(&o.flags, "flags", "", "`flags` for go test, such as '-short -race'")
	f.StringVar(&o.affected, "affected", "",
		"leave out packages that no change since this `commit` or branch of git reaches")
}

// check returns an error if the options contradict each other.
func (o *options) check() error {
	ways := 0
	for _, set := range []bool{o.n != 0, o.machines != "", o.target != 0, o.overhead != 0} {
		if set {
			ways++
		}
	}
	switch {
	case ways > 1:
		return usage("-n, -machines, -target and -overhead are four ways to choose the machines: use one of them")
	case o.target < 0 || o.overhead < 0:
		return usage("-target is %v and -overhead is %v, want times above 0", o.target, o.overhead)
	case o.named && o.affected != "":
		return usage("-affected needs go list: it does not go with -stdin")
	}
	return nil
}

// report is a plan and the facts that are printed about it. Times are in seconds.
type report struct {
	plan
	*model
	sources  []source
	suites   []suite
	flags    []string
	enough   int     // number of machines after which further machines do not help
	floor    float64 // no number of machines ends before this time
	longest  name    // the test or package that is the reason of floor
	earliest float64 // no plan for these machines ends before this time
	one      float64 // time of one machine alone
	skipped  int     // packages that were left out, because no change reaches them
}

// report reads the history and the packages, and makes the plan.
func (o options) report(ctx context.Context, history string, patterns []string, stdin io.Reader) (*report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	h, err := loadHistory(ctx, history)
	if err != nil {
		return nil, err
	}
	m, err := newModel(h)
	if err != nil {
		return nil, err
	}
	var sources []source
	if o.named {
		sources, err = named(stdin)
	} else {
		sources, err = list(ctx, o.flags, patterns)
	}
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, usage("no packages match")
	}
	skipped := 0
	if o.affected != "" {
		if sources, skipped, err = affected(ctx, o.affected, o.flags, history, sources); err != nil {
			return nil, err
		}
	}
	suites, err := m.suites(sources)
	if err != nil {
		return nil, err
	}
	r, err := o.decide(m, sources, suites)
	if err == nil {
		r.skipped = skipped
	}
	return r, err
}

// decide makes the plan for the machines that the options describe.
func (o options) decide(m *model, sources []source, suites []suite) (*report, error) {
	machines, err := m.parse(o.machines, o.n)
	if err != nil {
		return nil, err
	}
	r := &report{model: m, sources: sources, suites: suites, flags: strings.Fields(o.flags)}
	r.floor, r.longest = floor(suites, machines)
	if r.enough, err = enough(suites, slices.Clone(machines)); err != nil {
		return nil, err
	}
	if o.machines == "" && o.n == 0 {
		n, err := o.number(r, machines)
		if err != nil {
			return nil, err
		}
		machines = slices.Repeat(machines[:1], n)
	}
	if r.plan, err = newPlan(suites, machines); err != nil {
		return nil, err
	}
	one, err := newPlan(suites, machines[:1])
	all := packed{suites: suites, machines: machines}
	r.one, r.earliest = one.seconds, max(r.floor, all.ideal())
	return r, err
}

// number returns the number of machines that the options ask for.
func (o options) number(r *report, machines []machine) (int, error) {
	switch {
	case o.overhead > 0:
		return cheapest(r.suites, machines, o.overhead.Seconds())
	case o.target > 0:
		n, err := fewest(r.suites, machines, o.target.Seconds())
		if err == nil && n == 0 {
			err = fmt.Errorf("no number of machines up to %d ends within %v: %s alone takes %s", mostMachines, o.target,
				r.longest, duration(r.floor))
		}
		return n, err
	}
	return r.enough, nil
}

// kinds matches one element of -machines: the kind, then optional number, speed and start.
var kinds = regexp.MustCompile(`^([^*/+@\s]*)(?:\*(\d+))?(?:/([0-9.]+))?(?:\+(\S+))?$`)

// parse reads the options -machines and -n, and returns the machines.
func (m *model) parse(text string, n int) ([]machine, error) {
	if n < 0 || n > mostMachines {
		return nil, usage("-n is %d, want 0 to %d", n, mostMachines)
	}
	if text == "" {
		kind := ""
		if order := m.order(); len(order) > 0 {
			kind = m.runs[order[len(order)-1]].machine
		}
		return slices.Repeat([]machine{m.machine(kind)}, max(n, 1)), nil
	}
	var all []machine
	for _, kind := range strings.Split(text, ",") {
		parts := kinds.FindStringSubmatch(kind)
		if parts == nil {
			return nil, usage("-machines has %q, want KIND*NUMBER/SPEED+START", kind)
		}
		of := m.machine(parts[1])
		if parts[3] != "" {
			speed, err := strconv.ParseFloat(parts[3], 64)
			if err != nil || !(speed >= 1e-3 && speed <= 1e3) {
				return nil, usage("-machines has %q, want a speed from 0.001 to 1000", kind)
			}
			of.factor = 1 / speed
		}
		if parts[4] != "" {
			start, err := time.ParseDuration(parts[4])
			if err != nil || start < 0 {
				return nil, usage("-machines has %q, want a start such as 90s", kind)
			}
			of.start = start.Seconds()
		}
		number, err := strconv.Atoi(cmp.Or(parts[2], "1"))
		if err != nil || number < 1 || len(all)+number > mostMachines {
			return nil, usage("-machines has %q, want 1 to %d machines in all", kind, mostMachines)
		}
		all = append(all, slices.Repeat([]machine{of}, number)...)
	}
	return all, nil
}
