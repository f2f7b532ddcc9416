// Package workload makes phases to replay: from a recorded log, or from the published shape of a production cluster's
// outliers.
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
	late    bool // not of the phase's first wave
}

// leastPool is how many samples a part of the phase must have to be drawn from on its own.
const leastPool = 5

// drawer draws the time of a copy that was never run: what the task's work explains, times how far a successful attempt
// of the same phase was off what its own work explains. So a task that is long because of its data stays long.
type drawer struct {
	line      line
	expected  []float64 // by task: the seconds that its work explains
	all, late []float64 // seconds of the samples over what their work explains
	machine   map[int][]float64
	most      float64 // seconds that no copy exceeds
}

// mostOfLongest bounds a drawn copy by the phase's longest attempt: a line through few samples may promise absurd times.
const mostOfLongest = 10

// line is the time that work explains: base + slope*work, and no less than the phase's shortest attempt. Without that
// bound a nearly empty input would seem to run a thousand times slower than it should, and a copy that draws its
// slowness with it.
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

// draw takes the samples of the same wave and machine if there are enough, else of the same wave, else of the phase.
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

// fit finds the line by least squares, without the tasks that take over 1.5 times what it gives them: those are the
// outliers that the work does not explain. A base or slope below 0 is none.
func fit(samples []sample) line {
	l := fitFree(samples)
	l.least = math.Inf(1)
	for _, s := range samples {
		l.least = min(l.least, s.seconds)
	}
	l.least = max(l.least, resolution.Seconds())
	return l
}

// resolution is that of the times in a log.
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
