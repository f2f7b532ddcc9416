package why

import (
	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Replaced returns about how much time phases save in all, in seconds, without the faults of the slow machines: no attempt
// fails there, and no task there takes longer than the median of the tasks of its phase on other machines. It is the saving
// if equally many slots of other machines replace the slow ones. A phase without tasks on other machines saves nothing.
func Replaced(phases []*sim.Phase, slow func(machine string) bool) (seconds float64, err error) {
	for _, p := range phases {
		var others []sim.Task
		for _, t := range p.Tasks {
			if !slow(t.Host) {
				others = append(others, t)
			}
		}
		most := medianOf(others, 1)
		if most <= 0 {
			continue
		}
		failed := map[[2]int32]bool{} // by task and number of the attempt: the attempts that failed on a slow machine
		o := sim.Options{Policy: restart.Never{}, Spans: func(s sim.Span) {
			if s.Ending == sim.Failed && slow(hostOf(p, s.Slot)) {
				failed[[2]int32{s.Task, s.Attempt}] = true
			}
		}}
		before, err := sim.Run(p, o)
		if err != nil {
			return 0, err
		}
		if len(failed) == 0 && len(others) == len(p.Tasks) {
			continue
		}
		r := replaced(p, failed)
		for i := range r.Tasks {
			if t := &r.Tasks[i]; slow(t.Host) {
				last := &t.Attempts[len(t.Attempts)-1]
				last.Duration = min(last.Duration, most)
			}
		}
		after, err := sim.Run(r, sim.Options{Policy: restart.Never{}})
		if err != nil {
			return 0, err
		}
		seconds += (before.Time - after.Time).Seconds()
	}
	return seconds, nil
}

// replaced returns a copy of a phase without some attempts, which are given by task and number. The task of such an attempt
// waits for nothing before its next attempt.
func replaced(p *sim.Phase, without map[[2]int32]bool) *sim.Phase {
	r := *p
	r.Tasks, r.Order = append([]sim.Task(nil), p.Tasks...), nil
	for i := range r.Tasks {
		r.Tasks[i].Attempts = nil
	}
	seen := make([]int32, len(p.Tasks)) // for each task, the number of its next attempt
	for _, task := range p.Order {
		number := seen[task]
		seen[task]++
		if without[[2]int32{task, number}] {
			continue
		}
		a := p.Tasks[task].Attempts[number]
		if len(r.Tasks[task].Attempts) == 0 {
			a.Wait = 0
		}
		r.Tasks[task].Attempts, r.Order = append(r.Tasks[task].Attempts, a), append(r.Order, task)
	}
	return &r
}

// hostOf returns the name of the machine of a slot; empty if it is not known.
func hostOf(p *sim.Phase, slot int32) string {
	if slot < 0 {
		return ""
	}
	if m := p.Slots[slot].Machine; m >= 0 && m < len(p.Hosts) {
		return p.Hosts[m]
	}
	return ""
}
