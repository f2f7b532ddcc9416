package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"straggler-examples/internal/sim"
	"straggler-examples/internal/trace"
	"straggler-examples/internal/why"
	"straggler-examples/internal/workload"
)

// standardInput is the name of a log that comes in by a pipe.
const standardInput = "-"

// loaded is what was found in the logs, and what was left out.
type loaded struct {
	seed    uint64
	phases  []*sim.Phase
	tasks   []causes.Phase // of the phases
	hosts   why.Machines
	copies  why.Copies
	racks   []*trace.Log // topologies
	logs    []string     // a line each
	formats map[trace.Format]int
	faults  trace.Faults
	hints   []string
	leftOut []string // what holds no log
	left    workload.Left
	sizes   [2]int // phases and attempts in the logs
}

// load reads the logs, or generates phases.
func (o options) load() (*loaded, error) {
	l := &loaded{seed: o.seed, formats: map[trace.Format]int{}}
	if len(o.logs) == 0 {
		l.phases = workload.Generate(o.phases, o.seed)
		for _, p := range l.phases {
			l.tasks = append(l.tasks, why.FromPhase(p))
		}
		return l, nil
	}
	if err := l.read(o.logs); err != nil {
		return nil, usage("%v", err)
	}
	if len(l.phases) == 0 {
		return nil, usage("no phase has a successful attempt with known times; %s", strings.Join(l.notes(), "; "))
	}
	return l, nil
}

// read reads all logs at the paths, topologies before those that they are about. A directory may hold other things,
// too.
func (l *loaded) read(paths []string) error {
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
		log, err := l.open(source)
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

func (l *loaded) open(s trace.Source) (*trace.Log, error) {
	if s.Path == standardInput {
		return trace.Read(os.Stdin, "standard input")
	}
	return s.Read()
}

func (l *loaded) add(path string, log *trace.Log) {
	if log.Format == trace.Topology {
		l.racks = append(l.racks, log)
	} else if log.Format.Hadoop() {
		for _, racks := range l.racks {
			log.Place(racks)
		}
	}
	own, left := workload.FromLog(log)
	own = append(own, workload.Arrive(log.Arrivals, l.seed)...)
	attempts := 0
	for i := range log.Phases {
		attempts += len(log.Phases[i].Attempts)
	}
	for _, p := range own {
		for i := range p.DependsOn {
			p.DependsOn[i] += len(l.phases)
		}
	}
	name := trace.Printable(filepath.Base(path))
	l.phases = append(l.phases, own...)
	l.copies.Add(log)
	for _, p := range own {
		if log.Arrivals != nil { // its tasks are generated
			l.tasks = append(l.tasks, why.FromPhase(p))
		} else {
			l.tasks = append(l.tasks, why.FromLog(log, p.Source, &l.hosts))
		}
	}
	if path == standardInput {
		name = "standard input"
	}
	what := counted(len(log.Phases), "phase") + ", " + counted(attempts, "attempt")
	switch {
	case log.Arrivals != nil:
		what = counted(len(log.Arrivals), "job")
	case log.Format == trace.Topology:
		what = counted(len(log.Hosts)-1, "host")
	}
	l.logs = append(l.logs, fmt.Sprintf("%s: %v, %s; %v", name, log.Format, what, log.Faults))
	l.formats[log.Format]++
	l.sizes[0] += len(log.Phases)
	l.sizes[1] += attempts
	for i, n := range log.Faults {
		l.faults[i] += n
	}
	for _, hint := range log.Hints {
		l.hints = append(l.hints, name+": "+hint)
	}
	l.left.Add(left)
}

// notes says on a few lines what was found, however many logs there are.
func (l *loaded) notes() []string {
	const mostLogs, mostOthers = 5, 3
	notes := l.logs
	if len(notes) > mostLogs {
		notes = []string{fmt.Sprintf("%d logs (%s), %s, %s; %v", len(l.logs), l.kinds(),
			counted(l.sizes[0], "phase"), counted(l.sizes[1], "attempt"), l.faults)}
	}
	notes = append(slices.Clone(notes), few(l.hints, mostOthers, "hints")...)
	left := make([]string, len(l.leftOut))
	for i, what := range l.leftOut {
		left[i] = "left out: " + what
	}
	notes = append(notes, few(left, mostOthers, "left out")...)
	return append(notes, notReplayed(l.left)...)
}

func (l *loaded) kinds() string {
	var kinds []string
	for format, n := range l.formats {
		kinds = append(kinds, fmt.Sprintf("%v: %d", format, n))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// few keeps the first lines, and says how many more there are.
func few(lines []string, most int, what string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more: %s", len(lines)-most, what))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// notReplayed says what of the logs is not replayed.
func notReplayed(left workload.Left) (notes []string) {
	if left.Phases+left.Tasks > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s and %s without a success of known times",
			counted(left.Phases, "phase"), counted(left.Tasks, "task")))
	}
	if left.Long > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s over a year long: some time there is wrong",
			counted(left.Long, "phase")))
	}
	if left.Attempts > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %s that lost against another of the same task; "+
			"they keep their slots busy", counted(left.Attempts, "attempt")))
	}
	return notes
}
