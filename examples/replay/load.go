package main

import (
	"os"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// standardInput is the path that stands for a log on standard input.
const standardInput = "-"

// loaded is the content of all logs, and the notes about it for the user.
type loaded struct {
	seed    uint64
	read    []*trace.Log            // logs that were read, and that take has not yet turned into phases
	phases  []*sim.Phase            // phases with tasks that are alike
	tasks   []causes.Phase          // the facts about each of phases from which causes are found
	unlike  []*sim.Phase            // phases with tasks that are not known to be alike
	whole   map[*sim.Phase][]string // for each of unlike, the names of the tasks that consist of its tasks
	hosts   why.Machines
	waits   *why.Steps           // who makes the others wait; nil if the log has no steps with a barrier
	unended why.Unended          // tasks without a success
	copies  why.Copies           // copies that the engines of the logs ran
	names   map[string]bool      // names of hosts
	first   int64                // when the first attempt began, in milliseconds; 0 if not known
	racks   []*trace.Log         // topologies: logs that list hosts and their racks
	logs    []string             // one line about each log
	seen    map[uint64]string    // the name of the first log with each fingerprint
	notRun  map[string]int       // number of entries in the logs that did not run, by kind
	formats map[trace.Format]int // number of logs by format
	faults  trace.Faults
	hints   []string      // lines about doubtful data
	leftOut []string      // lines about files and directories without a log
	left    workload.Left // counts of what cannot be replayed
	sizes   [2]int        // numbers of phases and of attempts in the logs
}

// load reads the logs, or generates phases.
func (o options) load() (*loaded, error) {
	l := &loaded{seed: o.seed, formats: map[trace.Format]int{}, seen: map[uint64]string{}, notRun: map[string]int{},
		names: map[string]bool{}}
	if len(o.logs) == 0 {
		l.phases = workload.Generate(o.phases, o.seed)
		for _, p := range l.phases {
			l.tasks = append(l.tasks, why.FromPhase(p))
		}
		return l, nil
	}
	if err := l.open(o.logs); err != nil {
		return nil, usage("%v", err)
	}
	l.take(o.alike)
	switch {
	case len(l.logs) == 0:
		return nil, usage("%s: no log found: %s", strings.Join(o.logs, ", "), strings.Join(l.notes(), "; "))
	case len(l.phases)+len(l.unlike) == 0:
		return nil, usage("no phase can be replayed: %s", strings.Join(l.notes(), "; "))
	}
	return l, nil
}

// open reads all logs at the paths. Topologies are read before the logs that they describe. A file without a log is an
// error only if the user gave its path; inside a directory, it is noted in leftOut.
func (l *loaded) open(paths []string) error {
	var sources []trace.Source
	for _, path := range paths {
		if path == standardInput {
			sources = append(sources, trace.Source{Path: path})
			continue
		}
		found, leftOut, err := trace.Find(path)
		if err != nil {
			return err
		}
		if len(found)+len(leftOut) == 0 {
			leftOut = []string{trace.Printable(path) + ": the directory is empty"}
		}
		sources = append(sources, found...)
		l.leftOut = append(l.leftOut, leftOut...)
	}
	if len(sources) > 1 {
		slices.SortStableFunc(sources, func(a, b trace.Source) int { return order(a) - order(b) })
	}
	for _, source := range sources {
		log, err := read(source)
		switch {
		case err == nil:
			l.add(source.Path, log)
		case slices.Contains(paths, source.Path):
			return err
		default:
			l.leftOut = append(l.leftOut, err.Error())
		}
	}
	return nil
}

// order returns 0 for a topology and 1 for any other log. It does not look into a pipe, which can be read only once.
func order(s trace.Source) int {
	if info, err := os.Stat(s.Path); err != nil || !info.Mode().IsRegular() {
		return 1
	}
	if format, err := s.Format(); err != nil || format != trace.Topology {
		return 1
	}
	return 0
}

func read(s trace.Source) (*trace.Log, error) {
	if s.Path == standardInput {
		return trace.Read(os.Stdin, "standard input")
	}
	return s.Read()
}
