package tracker

import "time"

// lag learns schedLag, "the average delay between a task being scheduled and when it is actually running" [Mantri
// §5.5]: the mean over the copies that were submitted while a slot was free, recent ones weighing more.
type lag struct {
	prior time.Duration // until one was seen
	sum   float64       // nanoseconds
	n     float64
}

// lagMemory is how many delays count: a choice.
const lagMemory = 32

func (l *lag) observe(delay time.Duration) {
	if l.n >= lagMemory {
		l.sum -= float64(l.sum / lagMemory) // a product with 1/32, and not fused
		l.n--
	}
	l.sum += float64(delay)
	l.n++
}

func (l *lag) mean() time.Duration {
	if l.n == 0 {
		return l.prior
	}
	return time.Duration(l.sum / l.n)
}
