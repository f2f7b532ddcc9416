package sim_test

import (
	"testing"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// BenchmarkReplay simulates generated phases with decisions on. It reports the simulated events per second: starts,
// ends, reports, and slots that open.
func BenchmarkReplay(b *testing.B) {
	phases := workload.Generate(100, 1)
	names := []string{"never", "mantri", "late", "late-early", "hadoop", "mapreduce", "dryad", "spark", "flink"}
	for i, o := range policies() {
		b.Run("policy="+names[i], func(b *testing.B) {
			events := 0
			for n := range b.N {
				o.Seed = uint64(n)
				r, err := sim.Run(phases[n%len(phases)], o)
				if err != nil {
					b.Fatal(err)
				}
				events += r.Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
