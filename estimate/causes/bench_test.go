package causes_test

import (
	"fmt"
	"testing"

	"github.com/straggler-go/straggler/estimate/causes"
)

// phasesOf makes the given number of phases with the given number of tasks, ten tasks a machine.
func phasesOf(phases, tasks int) []causes.Phase {
	w := plainWorld
	w.tasks, w.machines, w.slots = tasks, max(4, min(tasks/10, 500)), 4 // the test world searches all slots for a free slot
	out := make([]causes.Phase, phases)
	first, _ := w.phase(1, 0)
	for i := range out {
		out[i] = first
	}
	return out
}

func BenchmarkExplain(b *testing.B) {
	for _, tasks := range []int{100, 10_000, 1_000_000} {
		phase := phasesOf(1, min(tasks, 100_000))[0]
		for len(phase.Tasks) < tasks { // the same tasks again, later
			phase.Tasks = append(phase.Tasks, phase.Tasks...)[:min(tasks, 2*len(phase.Tasks))]
		}
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				causes.Explain(phase)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tasks), "ns/task")
		})
	}
}

func BenchmarkCharge(b *testing.B) {
	for _, n := range []int{10, 1000} {
		phases := phasesOf(n, 1000)
		b.Run(fmt.Sprintf("phases=%d/tasks=%d", n, n*1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				causes.Charge(phases)
			}
		})
	}
}
