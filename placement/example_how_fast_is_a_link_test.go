package placement_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/placement"
)

// How much can a link carry? Eight tasks at a time read from rack 1 into rack 0. So the sum of their speeds is the
// bandwidth of the two links between them.
func ExampleLinkRates() {
	rates, err := placement.NewLinkRates(placement.LinkRatesConfig{Racks: 2})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for range 100 { // every 5 s a read ends that lasted 40 s
		now = now.Add(5 * time.Second)
		rates.Observe(now, 0, []float64{0, 500e6}, 40*time.Second)
	}
	fmt.Println(rates.Rate(placement.Link{Rack: 0, Direction: placement.Down}))    // bytes per second
	phase := placement.Problem{Up: []float64{1e9, 1e9}, Down: []float64{1e9, 1e9}} // the nominal bandwidths
	phase, known := rates.Fill(phase)
	fmt.Printf("%d links known: down %.0f, up %.0f\n", known, phase.Down, phase.Up)
	// Output:
	// 1e+08 true
	// 2 links known: down [100000000 1000000000], up [1000000000 100000000]
}
