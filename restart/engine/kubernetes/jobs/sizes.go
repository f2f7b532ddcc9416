package jobs

import (
	"math"
	"time"
)

// sizes contains the sizes of a Job's indexes, as the pods report them: the number after the "/" in a progress such
// as "40/100". These sizes are used only if the Job has no WorkAnnotation.
type sizes struct {
	work    []float64     // by index: the first size that was reported; 0: none was reported
	typical float64       // the size that an index is taken to have if none was reported
	changed bool          // an index was reported whose size differs much from typical
	next    time.Time     // no new phase is made before this time
	pause   time.Duration // the time from the last new phase to the next possible one
}

// changeFactor says when the size of an index differs much from the typical size: the index is more than 1.5 times as
// large, or less than 1/1.5 times as large. Then a new phase is made, which uses the reported sizes.
const changeFactor = 1.5

// note records that a pod of index i has reported this size. n is the number of indexes of the Job.
func (z *sizes) note(i, n int, size float64) {
	if size <= 0 || z.work != nil && z.work[i] > 0 {
		return
	}
	if z.work == nil {
		z.work, z.typical = make([]float64, n), size
	}
	z.work[i] = size
	z.changed = z.changed || size > changeFactor*z.typical || size*changeFactor < z.typical
}

// renew returns the sizes of all indexes if a new phase shall be made with them, and else nil. NaN means that the
// size of an index is not known. After each new phase, the time until the next possible new phase is doubled. So a
// Job gets few phases, whatever its pods report.
func (z *sizes) renew(now time.Time, interval time.Duration) []float64 {
	if !z.changed || now.Before(z.next) {
		return nil
	}
	z.changed, z.pause = false, max(2*z.pause, interval)
	z.next = now.Add(z.pause)
	// Later reports are compared with the mean of the sizes reported so far.
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
