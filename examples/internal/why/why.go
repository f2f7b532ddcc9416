// Package why prepares the tasks of a log for package causes, which finds the causes of stragglers.
package why

import (
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Machines gives each machine name a number, over several logs. The zero value has no machines.
type Machines struct {
	Names []string
	index map[string]int
}

// unknown is the machine number of an attempt for which the log has no machine.
const unknown = -1

func (m *Machines) number(name string) int {
	if name == "" {
		return unknown
	}
	if i, ok := m.index[name]; ok {
		return i
	}
	if m.index == nil {
		m.index = map[string]int{}
	}
	m.index[name] = len(m.Names)
	m.Names = append(m.Names, name)
	return len(m.Names) - 1
}

// FromLog returns a phase of a log with one attempt of each task: the attempt that succeeded first. The tasks are in
// the order of the log. numbers has the number of each task in the log.
func FromLog(log *trace.Log, phase int, m *Machines) (p causes.Phase, numbers []int32) {
	source := &log.Phases[phase]
	first := make([]int, source.Tasks) // place in p.Tasks, plus 1
	for i := range source.Attempts {
		a := &source.Attempts[i]
		took, ok := a.Duration()
		if !ok || a.State != trace.Succeeded && a.State != trace.Lost || int(a.Task) >= len(first) {
			continue
		}
		start, _ := a.Start.Get()
		task := causes.Task{
			Took: took, Bytes: float64(a.Input.Or(0) + a.Shuffle.Or(0)), Start: time.Duration(start) * time.Millisecond,
			Machine: m.number(log.Hosts[a.Host].Name),
		}
		if a.Locality == trace.Any {
			task.Remote = float64(a.Input.Or(0))
		}
		switch at := first[a.Task]; {
		case at == 0:
			p.Tasks, numbers = append(p.Tasks, task), append(numbers, a.Task)
			first[a.Task] = len(p.Tasks)
		case task.Start+task.Took < p.Tasks[at-1].Start+p.Tasks[at-1].Took:
			p.Tasks[at-1] = task
		}
	}
	return p, numbers
}

// FromRuns returns a phase whose tasks are the runs of one task.
func FromRuns(p *sim.Phase, m *Machines) causes.Phase {
	c := FromPhase(p)
	for i := range c.Tasks {
		c.Tasks[i].Machine = m.number(p.Tasks[i].Host)
	}
	return c
}

// FromPhase returns a phase of which only the times and bytes of the tasks are known.
func FromPhase(p *sim.Phase) causes.Phase {
	tasks := make([]causes.Task, len(p.Tasks))
	for i, t := range p.Tasks {
		tasks[i] = causes.Task{Took: t.Attempts[len(t.Attempts)-1].Duration, Bytes: t.Work, Machine: unknown}
	}
	return causes.Phase{Tasks: tasks}
}
