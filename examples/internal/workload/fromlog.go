package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Left counts the parts of a log that cannot be replayed.
type Left struct {
	Phases   int // phases in which no task has a successful attempt with known times
	Attempts int // attempts that lost against another attempt of their task; the slot rests for their time
	Far      int // tasks with a time that is over a year from the middle start of the phase, so that one of the times is wrong
	// FirstFar is the first such task, such as "task 3 of night load".
	FirstFar string
}

// Add adds the counts of another log.
func (l *Left) Add(other Left) {
	l.Phases += other.Phases
	l.Attempts += other.Attempts
	l.Far += other.Far
	l.FirstFar = cmp.Or(l.FirstFar, other.FirstFar)
}

// mostApart is the largest difference between a time of a phase and its middle start. It is much longer than a phase takes, and far
// shorter than an error of a unit.
const mostApart = 365 * 24 * time.Hour

// FromLog returns a phase to replay for each phase of a log.
//
// The attempts of a task are its successful attempt (the first of several to end), and the attempts that ended before
// it began. An attempt that overlaps with these is a copy that the recording engine made. Of such attempts, the
// winner is the attempt of the task, and the loser keeps its slot busy. The work of a task is the number of bytes
// that it read, if the log has it. Each executor, or each host, has as many slots as attempts ran on it at once. The
// first wave is the first attempt on each slot.
func FromLog(log *trace.Log) (phases []*sim.Phase, left Left) {
	place := make([]int, len(log.Phases)) // index in phases of each phase of the log
	for i := range log.Phases {
		place[i] = -1
		p := fromPhase(log, &log.Phases[i], &left)
		if p == nil {
			continue
		}
		p.Source, place[i] = i, len(phases)
		submitted, known := log.Phases[i].Submitted.Get()
		if completed, ok := log.Phases[i].Completed.Get(); known && ok {
			p.Engine = time.Duration(completed-submitted) * time.Millisecond
		}
		for _, d := range log.Phases[i].DependsOn {
			if place[d] >= 0 {
				p.DependsOn = append(p.DependsOn, place[d])
			}
		}
		phases = append(phases, p)
	}
	fromZero(phases)
	return phases, left
}

// fromZero moves all times so that the first phase begins at 0.
func fromZero(phases []*sim.Phase) {
	if len(phases) == 0 {
		return
	}
	first := slices.MinFunc(phases, func(a, b *sim.Phase) int { return cmp.Compare(a.Begins, b.Begins) }).Begins
	for _, p := range phases {
		p.Begins -= first
	}
}

func fromPhase(log *trace.Log, p *trace.Phase, left *Left) *sim.Phase {
	far := left.Far
	attempts := usable(log, p, left)
	if len(attempts) == 0 {
		ran := slices.ContainsFunc(p.Attempts, func(a trace.Attempt) bool { return a.State != trace.Cached })
		if (ran || len(p.Attempts) == 0) && left.Far == far {
			left.Phases++
		}
		return nil
	}
	b := &phaseBuilder{&sim.Phase{Job: p.Job, Name: p.Name, Kin: p.Kin, Family: p.Family}}
	origin := attempts[0].start
	b.phase.Begins = origin
	for i := range attempts {
		attempts[i].start -= origin
		attempts[i].end -= origin
		attempts[i].previous -= origin
	}
	b.place(attempts)
	attempts = slices.DeleteFunc(attempts, func(a recorded) bool { return a.loser })
	b.order(attempts)
	b.tasks(attempts)
	b.name(log, p, attempts)
	return b.phase
}

// withoutFar returns the attempts without the tasks that have a time over mostApart from the middle start, and the numbers of these
// tasks. The attempts are in the order of their starts.
func withoutFar(all []recorded) (kept []recorded, far map[int]bool) {
	far = map[int]bool{}
	for _, a := range all {
		if middle := all[len(all)/2].start; middle-a.start > mostApart || a.end-middle > mostApart {
			far[a.task] = true
		}
	}
	return slices.DeleteFunc(all, func(a recorded) bool { return far[a.task] }), far
}

// usable returns the attempts of a phase that can be replayed, by start. The tasks are numbered in the order of their
// first starts. Attempts from a cache did not run: they are no loss.
func usable(log *trace.Log, p *trace.Phase, left *Left) []recorded {
	var all []recorded
	for i := range p.Attempts {
		a := &p.Attempts[i]
		start, okStart := a.Start.Get()
		finish, okFinish := a.Finish.Get()
		if a.State == trace.Cached || !okStart || !okFinish || int(a.Task) >= p.Tasks {
			continue
		}
		group := a.Executor
		if group == 0 {
			group = -a.Host // hosts and executors have different numbers
		}
		all = append(all, recorded{
			task: int(a.Task), source: int(a.Task),
			start: time.Duration(start) * time.Millisecond, end: time.Duration(finish) * time.Millisecond,
			host: a.Host, group: group, ok: a.State == trace.Succeeded || a.State == trace.Lost, lost: a.State == trace.Lost,
			work: bytesRead(a), splits: splitsOf(log, a),
		})
	}
	all, far := withoutFar(all)
	if n := len(all); n > 0 && len(far) >= n { // nobody knows whose times are wrong
		return nil
	}
	left.Far += len(far)
	if len(far) > 0 && left.FirstFar == "" {
		first := slices.Min(slices.Collect(maps.Keys(far)))
		left.FirstFar = fmt.Sprintf("task %s of %s", p.TaskName(int32(first)), strings.TrimSpace(p.Job+" "+p.Name))
	}
	slices.SortStableFunc(all, func(a, b recorded) int { return cmp.Compare(a.task, b.task) })
	kept := all[:0]
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].task == all[from].task {
			to++
		}
		if own := all[from:to]; lineage(own) {
			kept = append(kept, own...)
		}
		from = to
	}
	for i := range kept {
		if kept[i].loser {
			left.Attempts++
		}
	}
	number(kept)
	return kept
}

// name sets the names of the tasks, and the hosts on which they ran.
func (b *phaseBuilder) name(log *trace.Log, p *trace.Phase, attempts []recorded) {
	b.phase.Hosts = make([]string, b.phase.Machines)
	for i := range attempts {
		a := &attempts[i]
		t := &b.phase.Tasks[a.task]
		if m := b.phase.Slots[a.slot].Machine; m >= 0 && m < b.phase.Machines {
			b.phase.Hosts[m] = log.Hosts[a.host].Name
		}
		t.Number, t.Host, t.Start = int32(a.source), log.Hosts[a.host].Name, a.start
		if a.source < len(p.Names) {
			t.Name = p.Names[a.source]
		}
	}
}

type phaseBuilder struct{ phase *sim.Phase }

// order records the order in which the attempts were started.
func (b *phaseBuilder) order(attempts []recorded) {
	order := slices.Clone(attempts) // attempts with the same start are in the order of their slots
	slices.SortStableFunc(order, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.slot, b.slot))
	})
	for _, a := range order {
		b.phase.Order = append(b.phase.Order, int32(a.task))
	}
}

// tasks sets the tasks, the machines, and the function that draws times of copies.
func (b *phaseBuilder) tasks(attempts []recorded) {
	p := b.phase
	var samples []sample
	var durations []time.Duration
	longest, total := time.Duration(0), time.Duration(0)
	machines := map[int]int{}
	for i := range p.Slots {
		p.Slots[i].Machine = machineOf(machines, int32(p.Slots[i].Machine))
	}
	p.Machines = len(machines)
	for i := range attempts {
		a := &attempts[i]
		for len(p.Tasks) <= a.task {
			p.Tasks = append(p.Tasks, sim.Task{})
		}
		t := &p.Tasks[a.task]
		t.Attempts = append(t.Attempts, sim.Attempt{Duration: a.end - a.start, Wait: a.wait, Splits: a.splits})
		t.Work, t.First = a.work, a.first // of the last attempt
		longest = max(longest, a.end-a.start)
		total += a.end - a.start
		p.Recorded = max(p.Recorded, a.end)
		if a.ok {
			durations = append(durations, a.end-a.start)
			samples = append(samples, sample{
				work: a.work, seconds: (a.end - a.start).Seconds(), machine: machineOf(machines, a.host), late: !a.first,
			})
		}
	}
	works := make([]float64, len(p.Tasks))
	for i := range works {
		works[i] = p.Tasks[i].Work
	}
	if slices.Max(works) <= 1 && slices.Min(works) < 1 { // no task has read a byte, or its bytes are not known
		for i := range p.Tasks {
			p.Tasks[i].Work = 0
		}
	}
	// As in a median, a time of 0 s is a time that the log rounds.
	if long := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return s.seconds <= 0 }); len(long) > 0 {
		samples = long
	}
	p.Interval = sim.Interval(median(durations), longest, total, len(p.Tasks))
	d := newDrawer(samples, works, fit(samples))
	p.Draw = func(r *rand.Rand, task, machine int, late bool) time.Duration { return d.draw(r, task, machine, late) }
}

// machineOf returns the number of a phase's host, from 0. Host 0 of a log is the unknown host.
func machineOf(machines map[int]int, host int32) int {
	if host == 0 {
		return -1
	}
	if _, known := machines[int(host)]; !known {
		machines[int(host)] = len(machines)
	}
	return machines[int(host)]
}
