package causes_test

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// lockstepWorld is a random job with a barrier, and the truth about it.
type lockstepWorld struct {
	seed                               uint64
	cause                              causes.Reason
	stages, replicas, steps            int
	effect, noise, correlation, differ float64
	sizes                              bool // members have sizes
	from, to                           int  // the slow steps
	culprit                            int  // the machine or the position that is slow
	// also is a second cause, with the same range of effects; NotEnough: there is none. other is the other worker that is
	// slow. A slow place is the last stage.
	also   causes.Reason
	other  int
	second float64 // effect of the second cause
}

// newLockstepPair draws a clear job with two causes: a slow worker, and another cause in all steps. A stage has at least
// three healthy equals. If the work is uneven, it is noise to the worker's effect, which is at least twice all noise.
func newLockstepPair(seed uint64, also causes.Reason) lockstepWorld {
	r := rand.New(rand.NewPCG(seed, 50+uint64(also)))
	w := newLockstepWorld(seed, causes.SlowWorker, true)
	w.also, w.stages, w.from, w.to = also, 1, 0, w.steps
	if also != causes.SlowWorker {
		w.stages = 2
	}
	w.replicas = max(w.replicas, 5)
	w.culprit = w.stages*w.replicas - 1 - r.IntN(w.replicas) // in the last stage
	w.other = (w.culprit + 1 + r.IntN(w.stages*w.replicas-1)) % (w.stages * w.replicas)
	w.second = max(2*w.noise, .05) * math.Pow(4, r.Float64())
	switch also {
	case causes.SlowPlace: // even stages save half of the effect, which is to be more than 3 %
		w.second = max(w.second, .1)
	case causes.UnevenWork:
		w.effect, w.sizes = max(w.effect, 2*math.Hypot(w.noise, w.second)), r.IntN(2) == 0
	}
	return w
}

// newLockstepWorld draws a job. In a clear world the effect is at least twice the noise, steps are independent, workers
// do not differ, and a stage has at least three equals. Any other world is doubtful.
func newLockstepWorld(seed uint64, cause causes.Reason, clear bool) lockstepWorld {
	r := rand.New(rand.NewPCG(seed, uint64(cause)*2+1))
	logUniform := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	w := lockstepWorld{seed: seed, cause: cause, stages: 1, noise: logUniform(.005, .1)}
	workers := int(logUniform(4, 257))
	w.steps = int(logUniform(20, 2001))
	w.sizes = cause == causes.UnevenWork && r.IntN(2) == 0
	if cause == causes.UnevenWork && !w.sizes || r.IntN(3) == 0 {
		w.stages = 2 + r.IntN(3)
	}
	w.replicas = max(workers/w.stages, 3)
	w.effect = max(2*w.noise, .05) * logUniform(1, 4)
	if !clear {
		switch r.IntN(4) {
		case 0:
			w.effect = w.noise * logUniform(.02, 2)
		case 1:
			w.replicas = 1 + r.IntN(2)
			w.stages = max(w.stages, 2)
		case 2:
			w.correlation = .9 * r.Float64()
		case 3:
			w.differ = .01 * r.Float64()
		}
	}
	w.to = w.steps
	if r.IntN(3) == 0 && w.steps >= 100 {
		w.from = r.IntN(w.steps / 2)
		w.to = w.from + w.steps/4 + r.IntN(w.steps/4)
	}
	w.culprit = r.IntN(w.stages * w.replicas)
	return w
}

// play adds all steps of the world.
func (w *lockstepWorld) play() causes.Waiting {
	r := rand.New(rand.NewPCG(w.seed, 99))
	n := w.stages * w.replicas
	own, lasting, at := make([]float64, n), make([]float64, n), make([]int, n) // by machine
	for i := range at {
		at[i] = i
		own[i] = r.NormFloat64()
		lasting[i] = w.differ * (2*r.Float64() - 1)
	}
	moves := w.cause == causes.SlowMachine || w.cause == causes.SlowPlace
	var l causes.Lockstep
	step := make([]causes.Member, n)
	for s := range w.steps {
		if moves && s%max(w.steps/10, 2) == 0 {
			r.Shuffle(n, func(i, k int) { at[i], at[k] = at[k], at[i] })
		}
		sizes, differ := make([]float64, w.replicas), w.effect
		if w.also == causes.UnevenWork {
			differ = w.second
		}
		for i := range sizes {
			sizes[i] = math.Exp(differ * r.NormFloat64())
		}
		for machine, position := range at {
			own[machine] = w.correlation*own[machine] + math.Sqrt(1-w.correlation*w.correlation)*r.NormFloat64()
			took := math.Exp(w.noise*own[machine] + lasting[machine])
			m := causes.Member{Machine: machine, Stage: position / w.replicas, Replica: position % w.replicas}
			slow := s >= w.from && s < w.to
			switch {
			case w.cause == causes.SlowMachine && machine == w.culprit && slow,
				w.cause == causes.SlowWorker && machine == w.culprit && slow,
				w.cause == causes.SlowPlace && position == w.culprit && slow:
				took *= 1 + w.effect
			}
			switch {
			case w.also == causes.SlowWorker && machine == w.other, w.also == causes.SlowPlace && m.Stage == w.stages-1:
				took *= 1 + w.second
			case w.cause == causes.UnevenWork, w.also == causes.UnevenWork:
				took *= sizes[m.Replica]
				if w.sizes {
					m.Size = sizes[m.Replica]
				}
			}
			m.Took = time.Duration(took * 1e9)
			step[position] = m
		}
		l.Add(step)
	}
	return l.Waiting()
}

// verdict compares findings with the truth: whether the cause is right, whether the answer is that there is not enough
// evidence, and whether a machine or worker is blamed wrongly.
func (w *lockstepWorld) verdict(got causes.Waiting) (right, open, wrong bool) {
	for _, f := range got.Findings {
		blames := f.Reason == causes.SlowMachine || f.Reason == causes.SlowWorker
		truth := f.Reason == w.cause
		switch w.cause {
		case causes.SlowMachine, causes.SlowWorker:
			truth = truth && f.Machine == w.culprit
		case causes.SlowPlace:
			truth = truth && f.Replica >= 0 && f.Stage*w.replicas+f.Replica == w.culprit
		}
		truth = truth || blames && w.also == causes.SlowWorker && f.Machine == w.other
		right = right || truth
		open = open || f.Reason == causes.NotEnough
		wrong = wrong || blames && !truth
	}
	return right, open, wrong
}

// finds reports whether the findings name both causes of a job with two, and nothing else.
func (w *lockstepWorld) finds(got causes.Waiting) (both, wrong bool) {
	first, second := false, false
	for _, f := range got.Findings {
		switch {
		case f.Reason == causes.SlowWorker && f.Machine == w.culprit:
			first = true
		case f.Reason == causes.SlowWorker && w.also == causes.SlowWorker && f.Machine == w.other,
			f.Reason == causes.SlowPlace && w.also == f.Reason && f.Stage == w.stages-1 && f.Replica < 0,
			f.Reason == causes.UnevenWork && w.also == f.Reason:
			second = true
		default:
			wrong = true
		}
	}
	return first && second, wrong
}
