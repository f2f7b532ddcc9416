package placement

import (
	"fmt"
	"testing"
)

func BenchmarkAssign(b *testing.B) {
	for _, tasks := range []int{20, 200, 1000} {
		for _, racks := range []int{5, 20, 40} {
			b.Run(fmt.Sprintf("tasks=%d/racks=%d", tasks, racks), func(b *testing.B) {
				p := instance("shuffle", tasks, racks, 1)
				var a Assignment
				for b.Loop() {
					a, _ = Assign(p, DefaultEffort)
				}
				b.ReportMetric(100*(a.Seconds/a.Bound-1), "%gap")
			})
		}
	}
}

// BenchmarkFamilies shows that the running time is similar for all families of problems.
func BenchmarkFamilies(b *testing.B) {
	for _, family := range families {
		for _, size := range [][2]int{{200, 20}, {1000, 40}} {
			b.Run(fmt.Sprintf("%s/tasks=%d/racks=%d", family, size[0], size[1]), func(b *testing.B) {
				p := instance(family, size[0], size[1], 1)
				var a Assignment
				for b.Loop() {
					a, _ = Assign(p, DefaultEffort)
				}
				b.ReportMetric(100*(a.Seconds/a.Bound-1), "%gap")
			})
		}
	}
}

func BenchmarkAffinity(b *testing.B) {
	machines := make([][]int, 20)
	spread := make([]int, 20)
	for j := range machines {
		machines[j], spread[j] = sequence(40), j
	}
	list := make([]int, 0, 50)
	b.Run("length=50/racks=20", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			list, _ = Affinity(list[:0], spread, machines, 50, i)
		}
	})
}
