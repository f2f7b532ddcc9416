package hedge_test

import (
	"fmt"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// When should parity blocks be read, too? Ten of fourteen blocks are enough, and one block of twenty takes 80 ms.
func ExampleProblem_anyTenOfFourteen() {
	var times survival.Curve
	for i := range 100 {
		ms := 4 + float64(i)/50
		if i%20 == 0 {
			ms = 80
		}
		times.Observe(ms, true)
	}
	times.Fit()
	for extra := 2; extra <= 4; extra++ {
		p := hedge.Problem{First: &times, Percentile: 0.99, Budget: 0.2, Need: 10, Of: 10, Extra: extra}
		plan, err := p.Best()
		fmt.Println(extra, plan, err)
	}
	// Output:
	// 2 none time=80 alone=80 <nil>
	// 3 send delay=5.88 probability=0.999194 load=0.195239 time=11.68 alone=80 <nil>
	// 4 send delay=5.96 probability=0.998272 load=0.184235 time=11.5 alone=80 <nil>
}
