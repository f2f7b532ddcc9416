package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/words"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// named is the name of a task, with its job.
type named struct{ job, task string }

// wholes returns the tasks of a log that consist of the tasks of one of its phases, such as a package that consists of its
// tests, each with the names of these phases.
func wholes(log *trace.Log, phases []*sim.Phase) map[named][]string {
	all := map[named][]string{}
	if log.Arrivals != nil {
		return all
	}
	for _, p := range phases {
		for _, task := range log.Phases[p.Source].Whole {
			key := named{p.Job, task}
			all[key] = append(all[key], p.Name)
		}
	}
	return all
}

// leaveOutWholes returns the phases of a log without the tasks that consist of the tasks of other phases. Otherwise the time
// of a test would count twice: in the phase of the tests, and in the phase of the packages. A package without tests stays.
func (l *loaded) leaveOutWholes(log *trace.Log, phases []*sim.Phase) []*sim.Phase {
	all := wholes(log, phases)
	if len(all) == 0 {
		return phases
	}
	parts := *log // the log without the attempts of these tasks
	parts.Phases = slices.Clone(log.Phases)
	for _, p := range phases {
		left := map[int32]bool{} // numbers of the tasks that are left out
		for i := range p.Tasks {
			if all[named{p.Job, p.TaskName(i)}] != nil {
				left[p.Tasks[i].Number] = true
			}
		}
		if len(left) == 0 {
			continue
		}
		of := &parts.Phases[p.Source]
		of.Attempts = slices.DeleteFunc(slices.Clone(of.Attempts), func(a trace.Attempt) bool { return left[a.Task] })
		hint := fmt.Sprintf("phase %s %s is not replayed: its tasks consist of the tasks of other phases", p.Job, p.Name)
		if len(left) < len(p.Tasks) {
			hint = fmt.Sprintf("%s of phase %s %s %s not replayed: %s of the tasks of other phases", words.Counted(len(left), "task"),
				p.Job, p.Name, words.Plural(len(left), "is", "are"), words.Plural(len(left), "it consists", "they consist"))
		}
		l.hints = append(l.hints, hint)
	}
	phases, _ = workload.FromLog(&parts) // the first reading has counted what cannot be replayed
	return phases
}

// leaveOutRuns removes the phases of runs of a task that consists of other tasks, if the runs of these tasks are phases, too.
// own are all phases, each of a log.
func leaveOutRuns(d *workload.Divided, own map[*sim.Phase]*trace.Log) {
	byLog := map[*trace.Log][]*sim.Phase{}
	for p, log := range own {
		byLog[log] = append(byLog[log], p)
	}
	parts := map[named][]string{} // by the name of a phase of runs, the beginnings of the names of the runs of its parts
	for log, phases := range byLog {
		all := wholes(log, phases)
		for _, p := range phases {
			for i := range p.Tasks {
				for _, of := range all[named{p.Job, p.TaskName(i)}] {
					key := named{cmp.Or(p.Family, p.Job), p.Name + ": " + p.TaskName(i)}
					parts[key] = append(parts[key], of+": ")
				}
			}
		}
	}
	var names []named // of the phases of runs, sorted, so that a beginning is found without a look at all
	for i, p := range d.Alike {
		if d.Place[i] < 0 {
			names = append(names, named{p.Job, p.Name})
		}
	}
	order := func(a, b named) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.task, b.task)) }
	slices.SortFunc(names, order)
	runs := func(job, begin string) bool {
		i, _ := slices.BinarySearchFunc(names, named{job, begin}, order)
		return i < len(names) && names[i].job == job && strings.HasPrefix(names[i].task, begin)
	}
	var alike []*sim.Phase
	var place []int
	for i, p := range d.Alike {
		counted := d.Place[i] < 0 && slices.ContainsFunc(parts[named{p.Job, p.Name}], func(begin string) bool { return runs(p.Job, begin) })
		if !counted {
			alike, place = append(alike, p), append(place, d.Place[i])
		}
	}
	d.Alike, d.Place = alike, place
}
