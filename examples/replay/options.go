package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/words"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// options are the values of the command line.
type options struct {
	policies  string
	html      string
	svg       string
	json      bool
	list      bool
	explain   string
	progress  string
	copies    float64
	seed      uint64
	seeds     int
	seedsSet  bool
	phases    int
	phasesSet bool
	generate  bool
	alike     bool
	cost      float64
	sample    int
	against   string
	columns   trace.Columns // of a table of steps
	ofReplay  string        // an option on the command line that only a replay of a log uses; empty if there is none
	logs      []string
}

// check returns an error if a value is out of its range, or if two options exclude each other.
func (o options) check() error {
	switch modes := count(o.json, o.list, o.explain != ""); {
	case modes > 1:
		return usage("-json, -list and -explain exclude one another: give one of them")
	case (o.html != "" || o.svg != "") && (o.list || o.explain != ""):
		return usage("-html and -svg cannot be combined with -list or -explain")
	case o.phases < 1 || o.phases > mostPhases:
		return usage("-phases is %d, want 1 to %d", o.phases, mostPhases)
	case o.phasesSet && !o.generate && !o.list:
		return usage("-phases needs -list or a generated workload: a log is always replayed whole")
	case o.sample < 0:
		return usage("-sample is %d, want a number of phases, 0 or more", o.sample)
	case o.sample > 0 && (o.list || o.explain != ""):
		return usage("-sample cannot be combined with -list or -explain")
	case !(o.cost >= 0) || math.IsInf(o.cost, 1):
		return usage("-cost is %v, want the price of one slot for one hour, 0 or more", o.cost)
	case o.against != "" && o.generate:
		return usage("-against compares two logs, but the command line has no log")
	case !(o.copies >= 0 && o.copies <= 1):
		return usage("-copies is %v, want a share of the slots, 0 to 1", o.copies)
	case o.columns != (trace.Columns{}) && (o.columns.Step == "" || o.columns.Worker == "" || o.columns.Seconds == ""):
		return usage("a table of steps needs -step, -worker and -seconds, each with the name of a column")
	case o.columns.Step != "" && len(o.logs) != 1:
		return usage("-step reads one table, but the command line has %s", words.Counted(len(o.logs), "log"))
	case o.columns.Step != "" && o.ofReplay != "":
		return usage("-step replays no policy, and cannot be combined with -%s", o.ofReplay)
	case o.seedsSet && (o.seeds < 1 || o.seeds > mostSeeds):
		return usage("-seeds is %d, want 1 to %d", o.seeds, mostSeeds)
	}
	return nil
}

func count(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func (o options) run(stdout, stderr io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.columns.Step != "" {
		return o.runSteps(stdout, stderr)
	}
	chosen, err := compare.Choose(o.policies)
	if err != nil {
		return usage("%v", err)
	}
	progress, err := sim.ParseProgress(o.progress)
	if err != nil {
		return usage("%v", err)
	}
	for i := range chosen {
		chosen[i].CopyShare, chosen[i].Progress = o.copies, progress
	}
	l, err := o.load()
	if err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return explain(stdout, l, o.explain, chosen[0], o.seed)
	case o.list:
		return o.listPhases(stdout, l, chosen[0])
	}
	r, err := o.compare(stderr, l, chosen)
	if err != nil {
		return err
	}
	r.Notes = l.notes()
	r.SetUnended(l.unended)
	if err := r.Explain(l.phases, l.tasks, l.hosts.Names); err != nil {
		return err
	}
	if c := l.copies; c.Launched > 0 {
		r.Recorded = &report.Copies{Launched: c.Launched, Won: c.Won, Unmarked: c.Unmarked, Wasted: c.Wasted.Seconds()}
	}
	r.Price(o.cost)
	if len(l.formats) == 1 {
		for format := range l.formats {
			r.Input.Engine = format.String()
			r.Advise(r.Input.Engine, l.phases)
		}
	}
	r.Input.Began, r.Input.Hosts = l.began(), len(l.names)
	if o.against != "" {
		if err := o.compareWith(r, l); err != nil {
			return err
		}
	}
	if l.waits != nil {
		r.SetWaits(l.waits, len(l.phases) == 0)
	}
	return o.write(r, stdout, stderr)
}

// write diagnoses the report and writes it.
func (o options) write(r *report.Report, stdout, stderr io.Writer) error {
	r.Diagnose()
	if o.html == standardInput { // "-" means standard output here
		return r.HTML(stdout)
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{o.html, r.HTML}, {o.svg, r.SVG}} {
		if f.name == "" {
			continue
		}
		if err := writeFile(f.name, f.write); err != nil {
			return err
		}
		fmt.Fprintf(stderr, "replay: wrote %s\n", trace.Printable(f.name))
	}
	if o.json {
		return r.JSON(stdout)
	}
	return r.Text(stdout, style(stdout))
}

func (o options) compare(stderr io.Writer, l *loaded, chosen []compare.Entry) (r *report.Report, err error) {
	all := len(l.phases)
	l.draw(o.sample)
	phases := l.phases
	in := report.Input{Name: o.input(), Logs: o.logs, Generated: o.generate, Seed: o.seed}
	if len(phases) == 0 {
		if r, err = report.Build(nil, compare.Comparison{}, nil, in); err != nil {
			return nil, err
		}
		return r, r.Add(l.unlike, l.whole)
	}
	with := compare.Options{Policies: chosen, Capacity: o.capacity(), Seed: o.seed, Seeds: o.draws(phases)}
	bar := newProgress(stderr, with.Steps(len(phases)))
	with.Step = bar.step
	c, err := compare.Run(phases, with)
	bar.done()
	if err != nil {
		return nil, err
	}
	if r, err = report.Build(phases, c, chosen, in); err != nil {
		return nil, err
	}
	if len(phases) < all {
		r.Sampled(all, c)
	}
	return r, r.Add(l.unlike, l.whole)
}

// draws returns the number of times that the durations of copies are drawn.
func (o options) draws(phases []*sim.Phase) int {
	if o.seedsSet {
		return o.seeds
	}
	tasks := 0
	for _, p := range phases {
		tasks += len(p.Tasks)
	}
	if tasks <= fewTasks {
		return seedsOfFew
	}
	return 1
}

// capacity returns the number of slots of the cluster that generated phases share; 0 if the log must show it.
func (o options) capacity() int {
	if o.generate {
		return workload.Capacity
	}
	return 0
}

func (o options) input() string {
	if o.generate {
		return fmt.Sprintf("generated workload, seed %d", o.seed)
	}
	const most = 3
	if len(o.logs) > most {
		return fmt.Sprintf("%d logs", len(o.logs))
	}
	names := make([]string, len(o.logs))
	for i, path := range o.logs {
		names[i] = trace.Printable(filepath.Base(path))
	}
	return strings.Join(names, ", ")
}
