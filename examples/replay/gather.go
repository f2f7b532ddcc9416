package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// add stores a log and writes the line about it. Phases are made later, by take, because the log may be a part of
// another.
func (l *loaded) add(path string, log *trace.Log) {
	if log.Format == trace.Topology {
		l.racks = append(l.racks, log)
	} else if log.Format.Hadoop() {
		for _, racks := range l.racks {
			log.Place(racks)
		}
	}
	attempts := 0
	for i := range log.Phases {
		attempts += len(log.Phases[i].Attempts)
	}
	name := trace.Printable(filepath.Base(path))
	if path == standardInput {
		name = "standard input"
	}
	what := words.Counted(len(log.Phases), "phase") + ", " + words.Counted(attempts, "attempt")
	switch {
	case log.Arrivals != nil:
		what = words.Counted(len(log.Arrivals), "job")
	case log.Format == trace.Topology:
		what = words.Counted(len(log.Hosts)-1, "host")
	case attempts == 0 && len(log.Passed) > 0:
		what += ", ignored: " + tallied(log.Passed)
	}
	l.logs = append(l.logs, fmt.Sprintf("%s: %v, %s%s; %v", name, log.Format, what, didNotRun(log.NotRun), log.Faults))
	l.formats[log.Format]++
	l.sizes[0] += len(log.Phases)
	l.sizes[1] += attempts
	for i, n := range log.Faults {
		l.faults[i] += n
	}
	for kind, n := range log.NotRun {
		l.notRun[kind] += n
	}
	for _, hint := range log.Hints {
		l.hints = append(l.hints, name+": "+hint)
	}
	l.note(log)
	if attempts > 0 {
		print := fingerprint(log)
		if first, again := l.seen[print]; again {
			l.hints = append(l.hints, fmt.Sprintf("%s: the same phases at the same times as %s; if both are the same run, "+
				"every task is counted twice", name, first))
		} else {
			l.seen[print] = name
		}
	}
	l.read = append(l.read, log)
}

// fingerprint returns a hash that is equal for logs with the same phases, tasks and times.
func fingerprint(log *trace.Log) uint64 {
	h := fnv.New64a()
	for i := range log.Phases {
		p := &log.Phases[i]
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00", p.Job, p.Name, len(p.Attempts)) // never fails
		for k := range p.Attempts {
			var times [16]byte
			binary.LittleEndian.PutUint64(times[:], uint64(p.Attempts[k].Start.Or(-1)))
			binary.LittleEndian.PutUint64(times[8:], uint64(p.Attempts[k].Finish.Or(-1)))
			h.Write(times[:])
			h.Write([]byte(p.TaskName(p.Attempts[k].Task)))
		}
	}
	return h.Sum64()
}

// tallied writes counts as text, such as "setup: 3, cleanup: 2".
func tallied(counts map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", kind, counts[kind]))
	}
	return strings.Join(few(parts, 5, "kinds"), ", ")
}

// take turns all logs that were read into phases, and divides the phases by whether their tasks are known to be alike.
func (l *loaded) take(alike bool) {
	logs, said := trace.Join(l.read)
	l.hints = append(said, l.hints...)
	l.read = nil
	var phases []*sim.Phase
	from := map[*sim.Phase]*trace.Log{}
	for i, log := range logs {
		own, left := workload.FromLog(log)
		own = append(own, workload.Arrive(log.Arrivals, l.seed)...)
		if alike {
			own = l.leaveOutWholes(log, own)
		}
		for _, p := range own {
			for k := range p.DependsOn {
				p.DependsOn[k] += len(phases)
			}
			p.Log = fmt.Sprint(i)
			from[p] = log
			l.doubtClock(p)
		}
		phases = append(phases, own...)
		l.copies.Add(log)
		if len(logs) == 1 {
			steps, hint := trace.StepsOf(log)
			if steps != nil {
				l.waits = why.Wait(steps)
			} else if hint != "" {
				l.hints = append(l.hints, hint)
			}
		}
		l.left.Add(left)
	}
	d := workload.Divide(phases, alike)
	leaveOutRuns(&d, from)
	l.phases, l.unlike = d.Alike, d.Unlike
	l.whole = map[*sim.Phase][]string{}
	for _, p := range d.Unlike {
		if log := from[p]; log.Arrivals == nil {
			l.whole[p] = log.Phases[p.Source].Whole
		}
	}
	replayed := map[*trace.Log]map[int]*sim.Phase{} // by number of the phase in its log
	for _, log := range logs {
		replayed[log] = map[int]*sim.Phase{}
	}
	for i, p := range d.Alike {
		switch log := from[p]; {
		case d.Place[i] < 0:
			l.tasks = append(l.tasks, why.FromRuns(p, &l.hosts))
		case log.Arrivals != nil: // its tasks are generated
			l.tasks = append(l.tasks, why.FromPhase(p))
		default:
			l.tasks = append(l.tasks, why.FromLog(log, p, &l.hosts))
			replayed[log][p.Source] = p
		}
	}
	for _, log := range logs {
		l.unended.Add(log, replayed[log])
	}
	l.noteRuns(d)
}

// noteRuns adds hints about the phases of runs, which are no phases of a log, and about the phases with tasks that are compared
// with no other task.
func (l *loaded) noteRuns(d workload.Divided) {
	runs, of, apart := 0, 0, 0
	for i, p := range d.Alike {
		if d.Place[i] < 0 {
			runs, of = runs+1, of+len(p.Tasks)
		}
	}
	for _, p := range d.Unlike {
		if !p.Compared() {
			apart++
		}
	}
	if runs > 0 {
		l.hints = append(l.hints, fmt.Sprintf("the runs of a task that ran often are a phase: %s, with %s",
			words.Counted(runs, "phase"), words.Counted(of, "run")))
	}
	if apart > 0 && len(l.phases) > 0 {
		l.hints = append(l.hints, fmt.Sprintf("no policy is replayed on %s: the tasks are not known to be alike",
			words.Counted(apart, "phase")))
	}
}

// A task is reported as doubtful if it takes more than jumpTimes the time of the second longest task of its phase, and
// more than jumpLeast: the clock of the log may have jumped.
const (
	jumpTimes = 100
	jumpLeast = time.Hour
)

// doubtClock adds a hint if the longest task of the phase is so long that its times may be wrong.
func (l *loaded) doubtClock(p *sim.Phase) {
	longest, next := time.Duration(0), time.Duration(0)
	which := 0
	for i := range p.Tasks {
		switch took := compare.Last(p, i); {
		case took > longest:
			longest, next, which = took, longest, i
		case took > next:
			next = took
		}
	}
	if next > 0 && longest > jumpLeast && longest > jumpTimes*next {
		l.hints = append(l.hints, fmt.Sprintf("%s %s: task %s takes %s, and the second longest task %s: the clock may "+
			"have jumped", p.Job, p.Name, p.TaskName(which), report.Span(longest.Seconds()), report.Span(next.Seconds())))
	}
}
