package jobs

import (
	"math"
	"time"
)

// sizes is what pods have told of how much their indexes have to do: what stands behind the "/" of their progress. It
// counts where the Job says nothing of it.
type sizes struct {
	told  []float64 // by index, by the first pod that said so; 0: not told
	usual float64   // what an index counts as of which nothing was told when the phase began
	off   bool      // an index has much more or less to do than it counts as
	next  time.Time // before which no phase is made for other sizes
	pause time.Duration
}

const muchMore = 1.5

// tell takes note of what a pod of an index says.
func (z *sizes) tell(i, of int, total float64) {
	if total <= 0 || z.told != nil && z.told[i] > 0 {
		return
	}
	if z.told == nil {
		z.told, z.usual = make([]float64, of), total
	}
	z.told[i] = total
	z.off = z.off || total > muchMore*z.usual || total*muchMore < z.usual
}

// renew returns the works of a new phase, if one is due, else nil: NaN for what is not told. Each has to wait for twice
// as long as the one before it, so that a Job of any sizes gets few.
func (z *sizes) renew(now time.Time, interval time.Duration) []float64 {
	if !z.off || now.Before(z.next) {
		return nil
	}
	z.off, z.pause = false, max(2*z.pause, interval)
	z.next = now.Add(z.pause)
	works, sum, known := make([]float64, len(z.told)), 0.0, 0
	for i, w := range z.told {
		if works[i] = w; w > 0 {
			sum += w
			known++
		} else {
			works[i] = math.NaN()
		}
	}
	z.usual = sum / float64(known)
	return works
}
