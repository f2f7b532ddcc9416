package outlier_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity/outlier"
)

const ms = time.Millisecond

// Which workers are overloaded? Worker 4 is overloaded, because its laxity is far below the others. Worker 8 is an
// outlier, too, but its laxity is high.
func ExampleDetector() {
	laxities := []time.Duration{
		1650 * ms, 1640 * ms, 1655 * ms, 1662 * ms, 420 * ms, 1648 * ms, 1651 * ms, 1660 * ms, 2400 * ms, estimate.Unknown,
	}
	detector, err := outlier.NewDetector(outlier.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for worker, v := range detector.Detect(nil, laxities) {
		if v.Overloaded || v.Laxity == 2400*ms {
			fmt.Println("worker", worker, v)
		}
	}
	// Output:
	// worker 4 overloaded stands-apart laxity=0.42s bar=1.5835s lof=124.197 threshold=2
	// worker 8 fine not-low laxity=2.4s bar=1.5835s lof=78.3103 threshold=2
}
