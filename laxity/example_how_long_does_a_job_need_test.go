package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
)

// How long does a job need? Its longest map task takes 0.9 s and its longest reduce task takes 0.7 s.
func ExampleProjected() {
	maps := []time.Duration{300 * ms, 900 * ms, 250 * ms}
	reduces := []time.Duration{700 * ms, 400 * ms}
	fmt.Println(laxity.Projected(maps, reduces))
	fmt.Println(laxity.Projected(maps, []time.Duration{estimate.Unknown}) == estimate.Unknown)
	// Output:
	// 1.6s
	// true
}
