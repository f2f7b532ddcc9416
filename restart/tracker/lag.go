package tracker

import "time"

// lag learns schedLag, "the average delay between a task being scheduled and when it is actually running" [Mantri
// §5.5]. It is the mean time from the submission of an attempt to its begin. Attempts that were submitted while no
// slot was free are left out. Recent delays have a larger weight.
type lag struct {
	prior time.Duration // Config.Lag, which is used before a delay was observed
	sum   float64       // sum of the delays in nanoseconds
	n     float64
}

// lagMemory is the number of delays over which the mean is taken. If there are more delays, each new delay replaces a
// 32nd of their sum. The number is a choice.
const lagMemory = 32

// observe adds the delay of an attempt.
func (lg *lag) observe(delay time.Duration) {
	if lg.n >= lagMemory {
		lg.sum -= float64(lg.sum / lagMemory) // a product with 1/32, not fused
		lg.n--
	}
	lg.sum += float64(delay)
	lg.n++
}

// mean returns the mean delay, or Config.Lag if no delay was observed.
func (lg *lag) mean() time.Duration {
	if lg.n == 0 {
		return lg.prior
	}
	return time.Duration(lg.sum / lg.n)
}
