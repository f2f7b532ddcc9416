package jobs

import (
	"math"
	"time"
)

// sizes are the sizes of the indexes, as their pods report them behind the "/" of their progress. The reported sizes
// count if the Job has no WorkAnnotation.
type sizes struct {
	work    []float64     // by index: the first reported size; 0: not reported
	typical float64       // the size that an index without a report counts as
	changed bool          // the size of an index differs much from typical
	next    time.Time     // no new phase is made before
	pause   time.Duration // the time between the last two phases
}

// changeFactor is the ratio of an index's size to the typical size, or its inverse, above which a new phase is due.
const changeFactor = 1.5

// note records the size that a pod of an index reports.
func (z *sizes) note(i, of int, total float64) {
	if total <= 0 || z.work != nil && z.work[i] > 0 {
		return
	}
	if z.work == nil {
		z.work, z.typical = make([]float64, of), total
	}
	z.work[i] = total
	z.changed = z.changed || total > changeFactor*z.typical || total*changeFactor < z.typical
}

// renew returns the sizes for a new phase, or nil if none is due. NaN means that a size is not known. Each new phase
// waits twice as long as the phase before, so that a Job gets few phases, whatever its sizes are.
func (z *sizes) renew(now time.Time, interval time.Duration) []float64 {
	if !z.changed || now.Before(z.next) {
		return nil
	}
	z.changed, z.pause = false, max(2*z.pause, interval)
	z.next = now.Add(z.pause)
	// The mean of the reported sizes becomes the typical size, which later reports are compared with.
	works, sum, known := make([]float64, len(z.work)), 0.0, 0
	for i, w := range z.work {
		if works[i] = w; w > 0 {
			sum += w
			known++
		} else {
			works[i] = math.NaN()
		}
	}
	z.typical = sum / float64(known)
	return works
}
