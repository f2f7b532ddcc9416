package main

import (
	"cmp"
	"context"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are those of plan and run.
type options struct {
	machines, flags string
	n               int
	named           bool // the packages come by standard input
}

// planned is the command that prints a plan.
func planned(ctx context.Context, args []string, s streams) error {
	f, history := s.flags("plan", "[package ...]")
	var o options
	o.add(f.StringVar, f.IntVar)
	f.BoolVar(&o.named, "stdin", false, "read the paths of packages from standard input, and don't ask go list")
	format := f.String("format", "text", "`text`, json, github (a matrix for a workflow) or sh (a line for each shard)")
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
	return show(s.out, r)
}

func (o *options) add(text func(*string, string, string, string), number func(*int, string, int, string)) {
	number(&o.n, "n", 0, "the `number` of machines, all of the kind that ran last; 0: as many as gain something")
	text(&o.machines, "machines", "", "the machines instead, as `KIND*NUMBER/SPEED+START,...`: all but the kind may "+
		"be left out and is then learned, as in large*2,old/0.5+90s")
	text(&o.flags, "flags", "", "`flags` for go test, as in '-short -race'")
}

// report is a plan and what is to be said of it.
type report struct {
	plan
	*model
	sources  []source
	suites   []suite
	flags    []string
	enough   int     // machines
	floor    float64 // before which no number of machines ends
	longest  name    // why
	earliest float64 // before which these machines can't end
	one      float64 // the end on one machine
}

func (o options) report(ctx context.Context, history string, patterns []string, stdin io.Reader) (*report, error) {
	h, err := loadHistory(history)
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
		return nil, usage("there are no packages")
	}
	suites, err := m.suites(sources)
	if err != nil {
		return nil, err
	}
	return o.decide(m, sources, suites)
}

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
	for o.machines == "" && o.n == 0 && len(machines) < max(r.enough, 1) {
		machines = append(machines, machines[0])
	}
	if r.plan, err = newPlan(suites, machines); err != nil {
		return nil, err
	}
	one, err := newPlan(suites, machines[:1])
	all := packed{suites: suites, machines: machines}
	r.one, r.earliest = one.seconds, max(r.floor, all.ideal())
	return r, err
}

var kinds = regexp.MustCompile(`^([^*/+@\s]*)(?:\*(\d+))?(?:/([0-9.]+))?(?:\+(\S+))?$`)

// parse reads which machines there are.
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
			return nil, usage("-machines: %q is not KIND*NUMBER/SPEED+START", kind)
		}
		of := m.machine(parts[1])
		if parts[3] != "" {
			speed, err := strconv.ParseFloat(parts[3], 64)
			if err != nil || !(speed >= 1e-3 && speed <= 1e3) {
				return nil, usage("-machines: the speed in %q is not a number from 0.001 to 1000", kind)
			}
			of.factor = 1 / speed
		}
		if parts[4] != "" {
			start, err := time.ParseDuration(parts[4])
			if err != nil || start < 0 {
				return nil, usage("-machines: the start in %q is not a time such as 90s", kind)
			}
			of.start = start.Seconds()
		}
		number, err := strconv.Atoi(cmp.Or(parts[2], "1"))
		if err != nil || number < 1 || len(all)+number > mostMachines {
			return nil, usage("-machines: %q: want 1 to %d machines in all", kind, mostMachines)
		}
		all = append(all, slices.Repeat([]machine{of}, number)...)
	}
	return all, nil
}
