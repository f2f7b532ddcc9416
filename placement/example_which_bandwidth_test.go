package placement_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/placement"
)

// Which bandwidths should a long phase use? Differences between links are temporary, and the phase is longer. So
// Estimate returns the same bandwidth for all links.
func ExampleBandwidthConfig() {
	const GB = 1e9
	phase := placement.Problem{
		Input: [][]float64{{20 * GB, 20 * GB}, {20 * GB, 20 * GB}},
		Up:    []float64{0.1 * GB, 0.3 * GB}, // as measured when the phase starts
		Down:  []float64{0.2 * GB, 0.2 * GB},
	}
	p, rule, err := placement.BandwidthConfig{Short: time.Minute}.Estimate(phase)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule, p.Up)
	// Output:
	// equal [2e+08 2e+08]
}
