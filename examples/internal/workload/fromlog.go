package workload

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"straggler-examples/internal/sim"
	"straggler-examples/internal/trace"
)

// Left counts what a log holds that cannot be replayed.
type Left struct {
	Phases   int // none of whose tasks ended with success and known times
	Tasks    int // without success, or without the times of it
	Attempts int // that lost a race against another attempt of their task; their slots rest for as long as they ran
	Long     int // phases that last over a year: some time of theirs is wrong
}

// mostSpan is how long a phase may last.
const mostSpan = 365 * 24 * time.Hour

// FromLog makes a phase to replay of each phase of a log.
//
// A task's attempts are its successful one and those that ended before it began. An attempt that overlaps with them is
// a copy that the recording system made: the winner of the two is the task's attempt, and the loser keeps its slot busy.
// The task's work is the bytes that it read, where the log tells. Slots are as many as ran at once on each executor, or
// on each host. First-wave attempts are those that were the first on their slot.
func FromLog(log *trace.Log) (phases []*sim.Phase, left Left) {
	for i := range log.Phases {
		if p := fromPhase(&log.Phases[i], &left); p != nil {
			phases = append(phases, p)
		}
	}
	if len(phases) > 0 {
		first := slices.MinFunc(phases, func(a, b *sim.Phase) int { return cmp.Compare(a.Begins, b.Begins) }).Begins
		for _, p := range phases {
			p.Begins -= first
		}
	}
	return phases, left
}

func fromPhase(p *trace.Phase, left *Left) *sim.Phase {
	attempts := usable(p, left)
	if len(attempts) == 0 {
		left.Phases++
		return nil
	}
	if spanOf(attempts) > mostSpan {
		left.Long++
		return nil
	}
	b := &phaseBuilder{phase: &sim.Phase{Job: p.Job, Name: p.Name}}
	origin := attempts[slices.IndexFunc(attempts, func(a recorded) bool { return !a.loser })].start
	b.phase.Begins = origin
	for i := range attempts {
		attempts[i].start -= origin
		attempts[i].end -= origin
		attempts[i].previous -= origin
	}
	b.slots(attempts)
	b.order(attempts)
	b.tasks(attempts)
	return b.phase
}

// spanOf is the time from the first start to the last end; attempts are ordered by start.
func spanOf(attempts []recorded) time.Duration {
	end := attempts[0].end
	for _, a := range attempts {
		end = max(end, a.end)
	}
	return end - attempts[0].start
}

// usable picks a phase's attempts, by start, with tasks numbered in the order in which they first start.
func usable(p *trace.Phase, left *Left) []recorded {
	byTask := make([][]recorded, p.Tasks)
	for i := range p.Attempts {
		a := &p.Attempts[i]
		start, okStart := a.Start.Get()
		finish, okFinish := a.Finish.Get()
		if !okStart || !okFinish || int(a.Task) >= p.Tasks {
			continue
		}
		group := a.Executor
		if group == 0 {
			group = -a.Host // hosts and executors are numbered apart
		}
		byTask[a.Task] = append(byTask[a.Task], recorded{
			start: time.Duration(start) * time.Millisecond, end: time.Duration(finish) * time.Millisecond,
			host: a.Host, group: group, ok: a.State == trace.Succeeded || a.State == trace.Lost, work: bytesRead(a),
		})
	}
	var all []recorded
	for task, own := range byTask {
		if !lineage(own) {
			left.Tasks++
			continue
		}
		for i := range own {
			own[i].task = task
			if own[i].loser {
				left.Attempts++
			}
		}
		all = append(all, own...)
	}
	number(all)
	return all
}

type phaseBuilder struct {
	phase *sim.Phase
	waits []time.Duration // by attempt
}

// slots puts the attempts of each executor, or host, on as few slots as they ran on at once, and notes when a slot opens,
// how long it rests between attempts, and how long a task that failed was not back in the queue.
func (b *phaseBuilder) slots(attempts []recorded) {
	type slot struct {
		group       int32
		busy, freed time.Duration // until when by any attempt, and by one to be replayed
		own         int           // attempts to be replayed
		at          int
	}
	waited := waitedAt(attempts)
	var slots []slot
	var rests []time.Duration
	b.waits = make([]time.Duration, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		best := -1
		for j := range slots {
			if s := &slots[j]; s.group == a.group && s.busy <= a.start && (best < 0 || s.busy > slots[best].busy) {
				best = j
			}
		}
		if best < 0 {
			best = len(slots)
			slots = append(slots, slot{group: a.group, at: -1})
		}
		s := &slots[best]
		s.busy = a.end
		if a.loser {
			continue
		}
		if s.own == 0 {
			a.first = true
			s.at = len(b.phase.Slots)
			b.phase.Slots = append(b.phase.Slots, sim.Slot{Machine: int(a.host), Opens: a.start})
		} else {
			rest := a.start - s.freed
			if a.index > 0 && a.previous >= s.freed && !waited(s.freed, a.task) {
				rest, b.waits[i] = 0, a.start-a.previous
			}
			place := &b.phase.Slots[s.at]
			place.Rests = append(place.Rests, rest)
			rests = append(rests, rest)
		}
		a.slot = s.at
		s.own++
		s.freed = a.end
	}
	for _, s := range slots {
		if s.own > 0 && waited(s.freed, -1) {
			b.phase.Slots[s.at].Closes = max(s.freed, 1)
		}
	}
	b.phase.Rest = median(rests)
}

// waitedAt tells whether at a time some task, but for one, was yet to start, or to start again after a failure.
func waitedAt(attempts []recorded) func(at time.Duration, but int) bool {
	return func(at time.Duration, but int) bool {
		return slices.ContainsFunc(attempts, func(a recorded) bool {
			return !a.loser && a.task != but && a.start > at && (a.index == 0 || a.previous <= at)
		})
	}
}

// order notes who was started after whom.
func (b *phaseBuilder) order(attempts []recorded) {
	order := make([]recorded, 0, len(attempts)) // who started at the same instant took the slots in their order
	for _, a := range attempts {
		if !a.loser {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.slot, b.slot))
	})
	for _, a := range order {
		b.phase.Order = append(b.phase.Order, int32(a.task))
	}
}

// tasks fills in the tasks, the machines and the drawing of copies.
func (b *phaseBuilder) tasks(attempts []recorded) {
	p := b.phase
	var samples []sample
	var durations []time.Duration
	longest := time.Duration(0)
	machines := map[int]int{}
	for i := range p.Slots {
		p.Slots[i].Machine = machineOf(machines, int32(p.Slots[i].Machine))
	}
	p.Machines = len(machines)
	for i := range attempts {
		a := &attempts[i]
		if a.loser {
			continue
		}
		for len(p.Tasks) <= a.task {
			p.Tasks = append(p.Tasks, sim.Task{})
		}
		t := &p.Tasks[a.task]
		t.Attempts = append(t.Attempts, sim.Attempt{Duration: a.end - a.start, Wait: b.waits[i]})
		t.Work, t.First = a.work, a.first // of the last one
		longest = max(longest, a.end-a.start)
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
	if slices.Max(works) <= 1 { // nothing was read, or nothing is known
		for i := range p.Tasks {
			p.Tasks[i].Work = 0
		}
	}
	p.Interval = sim.Interval(median(durations), longest)
	d := newDrawer(samples, works, fit(samples))
	p.Draw = func(r *rand.Rand, task, machine int, late bool) time.Duration { return d.draw(r, task, machine, late) }
}

// machineOf numbers a phase's hosts from 0; host 0 of a log is the unknown one.
func machineOf(machines map[int]int, host int32) int {
	if host == 0 {
		return -1
	}
	if _, known := machines[int(host)]; !known {
		machines[int(host)] = len(machines)
	}
	return machines[int(host)]
}
