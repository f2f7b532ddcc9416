package tracker

import (
	"math/bits"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// total is a sum of durations that none overflows: what is taken off again leaves what was there before, whatever a host
// has reported.
type total struct {
	high int64
	low  uint64
}

func totalOf(d time.Duration) total { return total{int64(d >> 63), uint64(d)} }

func (t total) plus(o total) total {
	low, carry := bits.Add64(t.low, o.low, 0)
	return total{t.high + o.high + int64(carry), low}
}

func (t total) minus(o total) total {
	low, borrow := bits.Sub64(t.low, o.low, 0)
	return total{t.high - o.high - int64(borrow), low}
}

// duration is the nearest one to the sum.
func (t total) duration() time.Duration {
	switch d := time.Duration(t.low); {
	case t.high == int64(d>>63):
		return d
	case t.high < 0:
		return num.MinDuration
	}
	return num.MaxDuration
}
