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

// FromLog returns a phase with the tasks of a replayed phase of the log, in the same order. So stragglers and their causes
// are those of the same tasks with the same times. The facts about a task are those of its replayed attempt.
func FromLog(log *trace.Log, p *sim.Phase, m *Machines) causes.Phase {
	c, place := FromPhase(p), map[int32]int{} // of a task of the log in the phase
	for i, t := range p.Tasks {
		place[t.Number] = i
	}
	found := make([]bool, len(p.Tasks))
	for i := range log.Phases[p.Source].Attempts {
		a := &log.Phases[p.Source].Attempts[i]
		at, replayed := place[a.Task]
		if took, ok := a.Duration(); !ok || !replayed || found[at] || !succeeded(a) || took != c.Tasks[at].Took ||
			log.Hosts[a.Host].Name != p.Tasks[at].Host {
			continue
		}
		start, _ := a.Start.Get()
		t := &c.Tasks[at]
		t.Start, t.Machine = time.Duration(start)*time.Millisecond, m.number(log.Hosts[a.Host].Name)
		if t.Bytes = float64(a.Input.Or(0) + a.Shuffle.Or(0)); a.Locality == trace.Any {
			t.Remote = float64(a.Input.Or(0))
		}
		found[at] = true
	}
	return c
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
