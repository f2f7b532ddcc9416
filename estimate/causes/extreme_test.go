package causes_test

import (
	"math"
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// No input, however extreme, may cause an infinity or NaN in a report.
func TestExtremeTasksGiveAFiniteReport(t *testing.T) {
	bytes := []float64{0, 5e-324, 1e-300, 1, 1e30, 1.1e30, 1e300, math.Inf(1), math.NaN(), -1}
	times := []time.Duration{1, time.Nanosecond, time.Second, math.MaxInt64 / 2, math.MaxInt64}
	for _, b := range bytes {
		for _, took := range times {
			p := causes.Phase{Tasks: even(20)}
			p.Tasks[3].Bytes, p.Tasks[3].Took = b, took
			p.Tasks[9].Remote, p.Tasks[9].Waited, p.Tasks[9].Start = b, took, took
			p.Tasks[11].Start = math.MinInt64
			consistent(t, p, causes.Explain(p))
			for i := range p.Tasks {
				p.Tasks[i].Bytes, p.Tasks[i].Took = b, took
			}
			consistent(t, p, causes.Explain(p))
		}
	}
}
