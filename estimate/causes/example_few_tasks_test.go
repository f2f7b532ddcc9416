package causes_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// A phase with one task on each machine shows nothing about machines. A record of many phases helps.
func ExampleBill_Factor() {
	phase := func() causes.Phase {
		var p causes.Phase
		for m := range 10 {
			p.Tasks = append(p.Tasks, causes.Task{Took: time.Minute, Machine: m})
		}
		p.Tasks[7].Took *= 3
		return p
	}
	last := phase()
	fmt.Println(causes.Explain(last).Outliers[0])
	last.Factor = causes.Charge([]causes.Phase{phase(), phase(), phase(), phase()}).Factor
	fmt.Println(causes.Explain(last).Outliers[0])
	// Output:
	// unknown task=7 took=180s expected=60s times=3 machine-ratio=1 moment-ratio=1 parts=(unknown=1)
	// machine task=7 took=180s expected=60s times=3 machine-ratio=3 moment-ratio=1 parts=(machine=1)
}
