package restart_test

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// values returns the distribution of the given seconds.
func values(v ...float64) *estimate.Empirical {
	e := new(estimate.Empirical)
	for _, x := range v {
		e.Insert(x)
	}
	return e
}
