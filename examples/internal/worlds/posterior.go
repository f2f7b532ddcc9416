package worlds

import (
	"math"
	"slices"
)

// prior has the distributions of sizes, luck and machines that the reference knows before a world is simulated. It
// does not know any draw from them.
type prior struct {
	sizes    []size
	lucks    []possible
	speeds   []speed
	spread   float64 // half the width of a cell of sizes, in log time; a total time is not known more precisely
	sigma    float64 // σ of the total time that progress predicts, in log time; 0: attempts report nothing
	again    float64 // σ between the reports of one attempt
	mean     float64 // mean time of an attempt without bad luck on a machine of factor 1, in seconds
	detects  float64 // time after which an attempt has shown that it is slow, in seconds
	timeout  float64
	interval float64 // time between two polls, in seconds
}

// size is a cell of the grid of sizes: a time in seconds and its probability.
type size struct{ seconds, p float64 }

// possible is a possible fate of an attempt with its probability.
type possible struct {
	more, slow, p float64
	hangs         bool
}

// speed is a factor by which work takes longer on a machine, with its probability.
type speed struct{ by, p float64 }

const (
	gridCells   = 72 // largest number of cells of log sizes
	finestCell  = .05
	priorDraws  = 6000
	contradicts = 1e-12 // likelihood of a report that contradicts a total time
)

// priorOf returns the distributions of a world. The distribution of sizes comes from draws of its own, and the others
// from the fields of the world. Spells, machines that are bad for a while, and deaths are left out.
func priorOf(w *World, m Model) *prior {
	p := &prior{timeout: or(w.Timeout, 1500), interval: w.interval()}
	l := newLuck(forPrior, 0)
	drawn := make([]float64, priorDraws)
	for i := range drawn {
		t := w.task(l, 0, i)
		drawn[i] = t.seconds
		if t.far && w.Everywhere {
			drawn[i] *= or(w.FarBy, 5)
		}
		p.mean += drawn[i] / priorDraws
	}
	slices.Sort(drawn)
	p.grid(drawn)
	p.detects = drawn[priorDraws*95/100]

	mores := []float64{0}
	if w.Sizes == Even {
		mores = []float64{25. / 6, 25. / 2, 25 * 5. / 6}
		p.mean += 25. / 2
		p.detects += 25
	}
	add := func(share, slow float64, hangs bool) {
		for _, more := range mores {
			if share > 0 {
				p.lucks = append(p.lucks, possible{more: more, slow: slow, p: share / float64(len(mores)), hangs: hangs})
			}
		}
	}
	far := w.Far / 2
	if w.Everywhere {
		far = 0
	}
	ends := float64(1 - w.Hang)
	add(w.Hang, 1, true)
	add(ends*w.Slow, or(w.SlowBy, 8), false)
	add(ends*(1-w.Slow)*far, or(w.FarBy, 5), false)
	add(ends*(1-w.Slow)*(1-far), 1, false)

	for machine := range w.machines() {
		by := w.factor(machine, 0)
		i := slices.IndexFunc(p.speeds, func(s speed) bool { return s.by == by })
		if i < 0 {
			i = len(p.speeds)
			p.speeds = append(p.speeds, speed{by: by})
		}
		p.speeds[i].p += 1 / float64(w.machines())
	}

	noise := or(w.Noise, 1)
	switch m {
	case Linear:
		p.sigma = .02
	case Noisy:
		p.sigma, p.again = attemptNoise*noise, reportNoise*noise
	case Stalls:
		p.sigma = .5
	}
	if m != None {
		p.detects = w.interval()
	}
	return p
}

// grid makes cells of equal width in log time from sizes in ascending order.
func (p *prior) grid(drawn []float64) {
	low := math.Log(drawn[0])
	whole := math.Log(drawn[len(drawn)-1]) - low
	cells := min(max(int(whole/finestCell), 1), gridCells)
	width := whole/float64(cells) + 1e-9
	p.sizes, p.spread = make([]size, cells), max(width/2, finestCell)
	for _, seconds := range drawn {
		s := &p.sizes[int((math.Log(seconds)-low)/width)]
		s.seconds += seconds
		s.p++
	}
	for i := range p.sizes {
		s := &p.sizes[i]
		s.seconds /= max(s.p, 1)
		s.p /= float64(len(drawn))
	}
}

// nearest returns the cell of a known size.
func (p *prior) nearest(seconds float64) (best int) {
	off := math.Inf(1)
	for i, s := range p.sizes {
		if d := math.Abs(math.Log(seconds / s.seconds)); s.p > 0 && d < off {
			best, off = i, d
		}
	}
	return best
}

// seen has the observations of an attempt.
type seen struct {
	age     float64 // seconds of work, as if no other copy had made it slower
	ended   bool
	reports float64
	log     float64 // sum of the logarithms of the total times that the reports predict
	done    float64 // progress in the last report
	stopped bool    // the last report had no more progress than the report before
}

// takes returns the total time of an attempt of a task on a machine.
func takes(s size, l possible, v speed) float64 { return (s.seconds + l.more) * l.slow * v.by }

// likelihood returns the likelihood of the observations, if the attempt has this luck and this total time.
func (p *prior) likelihood(o *seen, l possible, total float64) float64 {
	switch {
	case o.ended && l.hangs:
		return 0
	case o.ended:
		z := math.Log(total/o.age) / p.spread
		return math.Exp(-z * z / 2)
	case !l.hangs && total <= o.age:
		return 0
	case o.reports == 0:
		return 1
	case l.hangs && o.stopped:
		return 1
	case !l.hangs && o.stopped && p.again == 0:
		return contradicts
	}
	of := math.Sqrt(float64(p.sigma*p.sigma) + float64(p.again*p.again)/o.reports + float64(p.spread*p.spread)/4)
	z := (math.Log(total) - o.log/o.reports) / of
	fits := math.Exp(-z*z/2) + contradicts
	if l.hangs {
		fits *= max(1-o.done, 0) // the attempt has not reached the point at which it hangs
	}
	return fits
}

// outcome is a possible remaining time with its probability.
type outcome struct{ left, p float64 }

// outcomes appends the possible remaining times of an attempt on a machine, if its task has the size s. Their sum is
// the likelihood of this size.
func (p *prior) outcomes(to []outcome, o *seen, machine []float64, s size) ([]outcome, float64) {
	sum, first := 0.0, len(to)
	for i, v := range p.speeds {
		if machine[i] < 1e-7 {
			continue
		}
		for _, l := range p.lucks {
			total := takes(s, l, v)
			like := machine[i] * l.p * p.likelihood(o, l, total)
			if like == 0 {
				continue
			}
			left := total - o.age
			switch {
			case l.hangs && p.sigma > 0 && !o.stopped:
				left = max(left, 0)/2 + p.interval + p.mean // the next report will show that it hangs
			case l.hangs:
				left = max(p.timeout-o.age, 0) + p.mean
			}
			to = append(to, outcome{left, like})
			sum += like
		}
	}
	for i := first; i < len(to); i++ {
		to[i].p /= sum
	}
	return to, sum
}

// learn updates the weights of a task's sizes and of a machine's speeds after an attempt has ended.
func (p *prior) learn(o *seen, sizes, machine []float64) {
	likes, speeds := make([]float64, len(sizes)), make([]float64, len(machine))
	for b, s := range p.sizes {
		for i, v := range p.speeds {
			like := 0.0
			for _, l := range p.lucks {
				like += l.p * p.likelihood(o, l, takes(s, l, v))
			}
			likes[b] += like * machine[i]
			speeds[i] += like * machine[i] * s.p * sizes[b]
		}
	}
	for b := range sizes {
		sizes[b] *= likes[b]
	}
	normalise(sizes)
	copy(machine, speeds)
	normalise(machine)
}

// normalise makes the sum of the weights 1. If all weights are 0, because an observation contradicts the prior, all
// become equal.
func normalise(weights []float64) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		if sum > 0 {
			weights[i] = max(weights[i]/sum, 1e-12)
		} else {
			weights[i] = 1 / float64(len(weights))
		}
	}
}
