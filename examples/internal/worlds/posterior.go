package worlds

import (
	"math"
	"slices"
)

// prior is what the reference knows before a world is played: how sizes, luck and machines are distributed. It knows no
// draw of them.
type prior struct {
	sizes    []size
	lucks    []possible
	speeds   []speed
	spread   float64 // half the width of a cell of sizes, in log time; a total is not known better
	sigma    float64 // of the total that progress predicts, in log time; 0: attempts report nothing
	again    float64 // the same, for each report of one attempt
	mean     float64 // seconds that an attempt without bad luck takes on a machine of factor 1
	detects  float64 // seconds after which an attempt has shown that it is slow
	timeout  float64
	interval float64 // seconds between two looks at what runs
}

// size is a cell of the grid of sizes.
type size struct{ seconds, p float64 }

// possible is a fate that an attempt may have, and how probable it is.
type possible struct {
	more, slow, p float64
	hangs         bool
}

// speed is how many times longer work takes on a machine.
type speed struct{ by, p float64 }

const (
	gridCells   = 72 // of log sizes, at most
	finestCell  = .05
	priorDraws  = 6000
	contradicts = 1e-12 // likelihood of a report that contradicts a total
)

// priorOf takes the distributions from the world: those of sizes by draws of its own, the others as the world states them.
// A spell, a machine that is bad for a while, and deaths are not known to it.
func priorOf(w *World, m Model) *prior {
	p := &prior{timeout: or(w.Timeout, 1500), interval: Interval}
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
		p.detects = Interval
	}
	return p
}

// grid makes cells of equal width in log time out of sizes in ascending order.
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

// nearest returns the cell of a size that is known.
func (p *prior) nearest(seconds float64) (best int) {
	off := math.Inf(1)
	for i, s := range p.sizes {
		if d := math.Abs(math.Log(seconds / s.seconds)); s.p > 0 && d < off {
			best, off = i, d
		}
	}
	return best
}

// seen is what is seen of an attempt.
type seen struct {
	age     float64 // seconds of work, as if no other copy had slowed it down
	ended   bool
	reports float64
	log     float64 // the sum of the logs of the totals that the reports predict
	done    float64 // the share of the last report
	stopped bool    // the last report showed no more than the one before
}

// takes returns how long an attempt of a task takes in all on a machine of a speed.
func takes(s size, l possible, v speed) float64 { return (s.seconds + l.more) * l.slow * v.by }

// likelihood returns the likelihood of what is seen, if the attempt has this luck and takes so long in all.
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
		fits *= max(1-o.done, 0) // it has not come to where it hangs
	}
	return fits
}

// outcome is a remaining time that is possible, and how probable it is.
type outcome struct{ left, p float64 }

// outcomes appends the remaining times of an attempt on a machine, if its task has a size; their sum is the likelihood of
// that size.
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
				left = max(left, 0)/2 + p.interval + p.mean // the report after it hangs will say so
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

// learn takes what an attempt that is over has shown into the weights of its task's sizes and of its machine's speeds.
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

// normalise makes weights sum to 1; weights that are all 0, as something contradicts the prior, become equal.
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
