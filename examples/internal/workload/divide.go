package workload

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/alike"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Divided has the phases in two groups: the phases in which a saving can be claimed, and the others.
type Divided struct {
	// Alike are the phases with tasks that are alike, in their order, and after them the phases of runs of the same
	// work.
	Alike []*sim.Phase
	// Place is the old index of each phase of Alike; -1 for a phase of runs.
	Place []int
	// Unlike are the other phases.
	Unlike []*sim.Phase
}

// Divide divides phases by [alike.Judge]. If tasks have names, the runs of the same work become a further phase, if
// there are at least [alike.LeastRuns] runs. The tasks are then marked as Compared in their old phases. If said is
// true, all tasks of a phase are taken for alike, even if the log does not promise it.
func Divide(phases []*sim.Phase, said bool) (d Divided) {
	number := make([]int, len(phases)) // index in Alike or in Unlike
	isAlike := make([]bool, len(phases))
	for i, p := range phases {
		list := &d.Unlike
		if isAlike[i] = said || alike.Judge(p.Kin, explained(p)); isAlike[i] {
			list = &d.Alike
			d.Place = append(d.Place, i)
		}
		number[i] = len(*list)
		*list = append(*list, p)
	}
	if len(d.Unlike) == 0 {
		return d
	}
	for i, p := range phases {
		p.DependsOn = slices.DeleteFunc(p.DependsOn, func(k int) bool { return isAlike[k] != isAlike[i] })
		for n, k := range p.DependsOn {
			p.DependsOn[n] = number[k]
		}
	}
	for _, p := range repeats(d.Unlike) {
		d.Alike = append(d.Alike, p)
		d.Place = append(d.Place, -1)
	}
	return d
}

// explained returns for each task its time, and the time that its work explains.
func explained(p *sim.Phase) []alike.Task {
	if p.Kin == alike.Alike {
		return nil
	}
	tasks := make([]alike.Task, len(p.Tasks))
	samples := make([]sample, len(p.Tasks))
	for i := range p.Tasks {
		tasks[i].Seconds = lastOf(&p.Tasks[i]).Seconds()
		samples[i] = sample{work: p.Tasks[i].Work, seconds: tasks[i].Seconds}
		if p.Tasks[i].Work == 0 {
			return tasks
		}
	}
	l := fit(samples)
	for i := range tasks {
		tasks[i].Explains = l.at(samples[i].work)
	}
	return tasks
}

func lastOf(t *sim.Task) time.Duration { return t.Attempts[len(t.Attempts)-1].Duration }

// work identifies the same work in several runs.
type work struct{ family, phase, task string }

// repeats returns a phase for each work that ran often enough. Each run has a slot of its own, because it had its
// machine for itself. All runs begin at the same time. So the times of short runs are known when long runs are
// judged, as the times of earlier runs would be.
func repeats(phases []*sim.Phase) (all []*sim.Phase) {
	runs := map[work][]*sim.Task{}
	begins := map[work]time.Duration{}
	var order []work
	for _, p := range phases {
		if p.Kin != alike.Named && p.Kin != alike.Rerun {
			continue
		}
		times := map[string]int{}
		for i := range p.Tasks {
			times[p.Tasks[i].Name]++
		}
		for i := range p.Tasks {
			t := &p.Tasks[i]
			key := work{cmp.Or(p.Family, p.Job), p.Name, t.Name}
			if t.Name == "" || p.Kin == alike.Named && times[t.Name] > 1 { // tasks of the same name may have different parameters
				continue
			}
			if runs[key] == nil {
				order = append(order, key)
				begins[key] = p.Begins
			}
			runs[key] = append(runs[key], t)
		}
	}
	for _, key := range order {
		if of := runs[key]; len(of) >= alike.LeastRuns {
			p := phaseOfRuns(of)
			for _, t := range of {
				t.Compared = true
			}
			p.Job, p.Name, p.Begins = key.family, key.task, begins[key]
			if key.phase != key.task {
				p.Name = key.phase + ": " + key.task
			}
			all = append(all, p)
		}
	}
	return all
}

func phaseOfRuns(of []*sim.Task) *sim.Phase {
	p := &sim.Phase{Apart: true}
	var attempts []recorded
	machines := map[string]int32{}
	for i, t := range of {
		host := machines[t.Host]
		if host == 0 && t.Host != "" {
			host = int32(len(machines) + 1)
			machines[t.Host] = host
		}
		at := time.Duration(0)
		for k, a := range t.Attempts {
			at += a.Wait
			attempts = append(attempts, recorded{
				task: i, index: k, start: at, end: at + a.Duration, host: host, group: int32(i), work: t.Work, splits: a.Splits,
				ok: k == len(t.Attempts)-1, first: k == 0, slot: i, wait: a.Wait,
			})
			at += a.Duration
			p.Order = append(p.Order, int32(i))
		}
		p.Slots = append(p.Slots, sim.Slot{Machine: int(host)})
	}
	(&phaseBuilder{p}).tasks(attempts)
	p.Recorded = 0
	for i, t := range of {
		p.Tasks[i].Name, p.Tasks[i].Number, p.Tasks[i].Host = fmt.Sprintf("%s, run %d", t.Name, i+1), int32(i), t.Host
	}
	for _, a := range attempts {
		if a.ok {
			p.Recorded += a.end
		}
	}
	return p
}
