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

// standardInput is the name of a log that comes in by a pipe.
const standardInput = "-"

// loaded is what was found in the logs, and what was left out.
type loaded struct {
	seed    uint64
	read    []*trace.Log   // and not taken yet
	phases  []*sim.Phase   // whose tasks are alike
	tasks   []causes.Phase // of the phases
	numbers [][]int32      // of these tasks in the log
	unlike  []*sim.Phase   // of whose tasks that is not known
	hosts   why.Machines
	copies  why.Copies
	names   map[string]bool // of hosts
	first   int64           // when the first attempt began, in milliseconds; 0 if not known
	racks   []*trace.Log    // topologies
	logs    []string        // a line each
	seen    map[uint64]string
	notRun  map[string]int // what the logs hold that did not run, by kind
	formats map[trace.Format]int
	faults  trace.Faults
	hints   []string
	leftOut []string // what holds no log
	left    workload.Left
	sizes   [2]int // phases and attempts in the logs
}

// load reads the logs, or generates phases.
func (o options) load() (*loaded, error) {
	l := &loaded{seed: o.seed, formats: map[trace.Format]int{}, seen: map[uint64]string{}, notRun: map[string]int{}, names: map[string]bool{}}
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
		return nil, usage("no log in %s: %s", strings.Join(o.logs, ", "), strings.Join(l.notes(), "; "))
	case len(l.phases)+len(l.unlike) == 0:
		return nil, usage("no phase has a successful attempt with known times; %s", strings.Join(l.notes(), "; "))
	}
	return l, nil
}

// open reads all logs at the paths, topologies before those that they are about. A directory may hold other things,
// too.
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

// order puts topologies first. A pipe can be read but once.
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
