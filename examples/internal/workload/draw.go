// Package workload makes phases to replay, from a log or from published figures about the stragglers of a production
// cluster.
package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat"
)

// sample is an attempt that ended its task with success.
type sample struct {
	work    float64 // 0 if not known
	seconds float64
	machine int
	late    bool // after the first wave of its phase
}

// leastPool is the least number of samples of a machine or a wave from which times are drawn.
const leastPool = 5

// drawer draws the times of copies that never ran. The time is the time that the work of the task explains,
// multiplied by a random factor. The factor is the time of a successful attempt of the phase, divided by the time
// that its own work explains. So a task that is long because of its data stays long.
type drawer struct {
	line      line
	expected  []float64 // for each task, the seconds that its work explains
	all, late []float64 // seconds of the samples divided by the seconds that their work explains
	machine   map[int][]float64
	most      float64 // upper bound of a drawn time, in seconds
}

// mostOfLongest times the longest attempt of the phase is the upper bound of a drawn time. A line through few samples
// may give absurd times.
const mostOfLongest = 10

// line is the time that work explains: base + slope*work, but at least the shortest attempt of the phase. Without
// this bound, an attempt with nearly no input would look a thousand times too slow, and its factor would make drawn
// times far too long.
type line struct{ base, slope, least float64 }

func (l line) at(work float64) float64 { return max(l.base+l.slope*work, l.least) }

func newDrawer(samples []sample, works []float64, l line) *drawer {
	d := &drawer{line: l, machine: map[int][]float64{}}
	for _, w := range works {
		d.expected = append(d.expected, l.at(w))
	}
	for _, s := range samples {
		ratio := s.seconds / l.at(s.work)
		d.most = max(d.most, mostOfLongest*s.seconds)
		d.all = append(d.all, ratio)
		if s.late {
			d.late = append(d.late, ratio)
			d.machine[s.machine] = append(d.machine[s.machine], ratio)
		}
	}
	return d
}

// draw uses the samples of the same wave and machine if there are enough, otherwise of the same wave, otherwise of
// the whole phase.
func (d *drawer) draw(r *rand.Rand, task, machine int, late bool) time.Duration {
	pool := d.all
	if late && len(d.late) >= leastPool {
		pool = d.late
		if own := d.machine[machine]; len(own) >= leastPool {
			pool = own
		}
	}
	seconds := min(d.expected[task]*pool[r.IntN(len(pool))], d.most)
	return time.Duration(seconds * float64(time.Second))
}

// fit finds the line by least squares. It leaves out the tasks that take over 1.5 times the time on the line: the
// work does not explain these stragglers. A base or slope below 0 is replaced by 0.
func fit(samples []sample) line {
	l := fitFree(samples)
	l.least = math.Inf(1)
	for _, s := range samples {
		l.least = min(l.least, s.seconds)
	}
	l.least = max(l.least, resolution.Seconds())
	return l
}

// resolution is the resolution of the times in a log.
const resolution = time.Millisecond

func fitFree(samples []sample) line {
	var works, seconds []float64
	for _, s := range samples {
		if s.work > 0 {
			works, seconds = append(works, s.work), append(seconds, s.seconds)
		}
	}
	if len(works) < leastPool || len(works) < len(samples) {
		return line{base: mean(samples)}
	}
	l := regress(works, seconds)
	for range 2 {
		var w, t []float64
		for i := range works {
			if seconds[i] <= 1.5*l.at(works[i]) {
				w, t = append(w, works[i]), append(t, seconds[i])
			}
		}
		if len(w) < leastPool {
			break
		}
		l = regress(w, t)
	}
	return l
}

func regress(works, seconds []float64) line {
	if stat.Variance(works, nil) == 0 {
		return line{base: stat.Mean(seconds, nil)}
	}
	base, slope := stat.LinearRegression(works, seconds, nil, false)
	switch {
	case slope <= 0:
		return line{base: stat.Mean(seconds, nil)}
	case base < 0:
		_, slope = stat.LinearRegression(works, seconds, nil, true)
		return line{slope: slope}
	}
	return line{base: base, slope: slope}
}

func mean(samples []sample) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += s.seconds
	}
	return sum / float64(len(samples))
}
