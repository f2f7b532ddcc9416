package live

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

const (
	mostMembers  = 10_000 // tasks of a phase in which waits are counted; each takes some 500 bytes
	fewestPhases = 5      // phases from which the page says who is last
	mostReasons  = 3      // reasons on the page
	mostLast     = 10     // workers in the metrics
	errors95     = 1.96   // x the standard error: one sample of 20 is further off
)

// step is what the tasks of one phase do, as far as others wait for them.
type step struct {
	tasks map[int]*member
	// again says that a task has run again, since its output was lost: its time is not that of its work.
	again bool
}

// member is a task of a step. Its machine is that of the attempt that ran longest.
type member struct {
	begun, ended time.Time // of its first attempt, and of the task; zero: not yet
	machine      int
	longest      time.Duration
}

// begin hears that an attempt has begun, or waits in a queue.
func (s *step) begin(x *attempt) {
	m := s.tasks[x.task]
	if m == nil {
		m = &member{machine: x.machine}
		s.tasks[x.task] = m
	}
	if m.begun.IsZero() {
		m.begun = x.begun
	}
}

// end hears that an attempt has ended, in whatever way.
func (s *step) end(x *attempt, now time.Time) {
	if ran := now.Sub(x.begun); !x.begun.IsZero() && ran > s.tasks[x.task].longest {
		s.tasks[x.task].longest, s.tasks[x.task].machine = ran, x.machine
	}
}

// finish hears that a task has ended. A task whose begin was not heard has no time.
func (s *step) finish(task int, now time.Time) {
	if s.tasks[task] == nil {
		s.tasks[task] = &member{}
	}
	s.tasks[task].ended = now
}

// members returns the members of the phase. It returns none if a task has no end, or began after another had ended.
func (s *step) members(work []float64) []causes.Member {
	if s.again || len(s.tasks) > mostMembers {
		return nil
	}
	var begun, ended time.Time // the latest begin, and the earliest end
	all := make([]causes.Member, 0, len(s.tasks))
	for task, m := range s.tasks {
		if m.begun.IsZero() || m.ended.IsZero() {
			return nil
		}
		if m.begun.After(begun) {
			begun = m.begun
		}
		if ended.IsZero() || m.ended.Before(ended) {
			ended = m.ended
		}
		c := causes.Member{Machine: m.machine, Replica: task, Took: m.ended.Sub(m.begun)}
		if task >= 0 && task < len(work) {
			c.Size = work[task]
		}
		all = append(all, c)
	}
	if begun.After(ended) {
		return nil
	}
	slices.SortFunc(all, func(a, b causes.Member) int { return a.Replica - b.Replica })
	return all
}

// waits counts who makes the others wait in the phases of one name. It is safe for concurrent use.
type waits struct {
	mu  sync.Mutex
	all causes.Lockstep
	// The machines, by their names: one machine may have another number in each phase.
	index    map[string]int
	machines []string
}

// add counts a phase that has ended.
func (w *waits) add(s *step, n Names) {
	all := s.members(n.Work)
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		if machine := all[i].Machine; machine >= 0 {
			all[i].Machine = w.machine(n.Machine(machine))
		}
	}
	w.all.Add(all)
}

// machine returns the index of a machine.
func (w *waits) machine(name string) int {
	i, ok := w.index[name]
	if !ok {
		if w.index == nil {
			w.index = map[string]int{}
		}
		i = len(w.machines)
		w.index[name], w.machines = i, append(w.machines, name)
	}
	return i
}

// waiting is who makes the others wait, with names.
type waiting struct {
	causes.Waiting
	last     []last // the workers that were last most often
	machines []string
	task     func(task int) string
}

// last tells how often a worker was the last.
type last struct {
	causes.Lag
	worker string
}

func (w *waits) waiting(task func(int) string) waiting {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := waiting{Waiting: w.all.Waiting(), machines: w.machines, task: task}
	for _, l := range all.Lags[:min(len(all.Lags), mostLast)] {
		all.last = append(all.last, last{l, all.who(l.Machine, l.Replica)})
	}
	return all
}

// who names a worker by its machine, or by its task if its machine is not known.
func (w *waiting) who(machine, task int) string {
	if machine < 0 {
		return w.task(task)
	}
	return w.machines[machine]
}

// sentences says who makes the others wait, how much that costs, and why; nothing after fewer than five phases.
func (w *waiting) sentences() []string {
	if w.Steps < fewestPhases {
		return nil
	}
	var all []string
	if len(w.last) > 0 {
		l, steps := w.last[0], w.Steps-w.Tied // neither Last nor Chance counts a phase with a tie
		of := fmt.Sprintf("%d phases", steps)
		switch {
		case w.Tied > 0 && steps == 1:
			of = "the 1 phase without a tie"
		case w.Tied > 0:
			of = fmt.Sprintf("the %d phases without a tie", steps)
		}
		all = append(all, fmt.Sprintf("%s was last in %.0f %% of %s; if all were alike, each would be last in %.0f %%.", l.worker,
			100*float64(l.Last)/float64(steps), of, 100*l.Chance/float64(steps)))
	}
	if w.Tied > 0 {
		all = append(all, fmt.Sprintf("In %.0f %% of the phases several tasks were last together, which counts for none of them.",
			100*float64(w.Tied)/float64(w.Steps)))
	}
	all = append(all, fmt.Sprintf("The slowest task of a phase costs %.1f %% of the phases' time beyond the median of the others.",
		100*w.Wait))
	for _, f := range w.Findings[:min(len(w.Findings), mostReasons)] {
		all = append(all, w.why(f))
	}
	return all
}

// why says why the others wait, and what to do.
func (w *waiting) why(f causes.Finding) string {
	when := ""
	switch whole := 10*(f.To-f.From+1) >= 9*w.Steps; {
	case whole:
	case f.Ended:
		when = fmt.Sprintf(" from phase %d to %d, where it costs %.1f %%, and not since", f.From+1, f.To+1, 100*f.While)
	default:
		when = fmt.Sprintf(" since phase %d, where it costs %.1f %%", f.From+1, 100*f.While)
	}
	takes := fmt.Sprintf(" takes %.3g times the median of the others%s", f.Times, when)
	saves := fmt.Sprintf(" saves %.1f %% (±%.1f) of the time.", 100*f.Share, 100*errors95*f.Error)
	switch f.Reason {
	case causes.SlowMachine:
		return w.machines[f.Machine] + takes + ", whichever task it runs: the machine is slow. Replacing it" + saves
	case causes.SlowWorker:
		return w.who(f.Machine, f.Replica) + takes + ". It always runs the same task: give the task to another machine, to see " +
			"whether the machine or the task is slow. The median in its place" + saves
	case causes.SlowPlace:
		return w.task(f.Replica) + takes + ", on several machines: the task is at fault, not a machine. Giving it as much " +
			"work as the others" + saves
	case causes.UnevenWork:
		return "The work of the tasks differs, and no machine is at fault. Even work" + saves
	case causes.Luck:
		return "No machine is slow for long: now one is last, now another."
	}
	return "There is not enough evidence to say why."
}
