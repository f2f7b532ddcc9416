package worlds

import (
	"math"
	"math/rand/v2"
)

// Set names the seeds: what was looked at while constants were chosen must not be what they are judged by.
type Set uint64

// The sets of seeds.
const (
	Work  Set = 0x517cc1b727220a95 // to develop with
	Proof Set = 0x9e6c63d0676a9a99 // to judge by, once all is fixed

	forPrior Set = 0x3c6ef372fe94f82b // for the reference, to see a distribution by
)

// purposes keep draws apart that have the same numbers.
const (
	ofTask uint64 = iota + 1
	ofAttempt
	ofPhase
)

// luck makes random numbers that belong to what they are for.
type luck struct {
	seed   uint64
	source rand.PCG
	*rand.Rand
}

func newLuck(set Set, seed int) *luck {
	l := &luck{seed: scramble(uint64(set) + uint64(seed))}
	l.Rand = rand.New(&l.source)
	return l
}

// of makes the draws that follow belong to some numbers.
func (l *luck) of(numbers ...uint64) *luck {
	h := l.seed
	for _, n := range numbers {
		h = scramble(h + n)
	}
	l.source.Seed(h, ^h)
	return l
}

// scramble is the finaliser of MurmurHash3.
func scramble(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// task is what is true of a task, whatever becomes of it.
type task struct {
	seconds float64 // on a usual machine near its data
	far     bool
	half    int // of the machines, from which it is far
}

func (w *World) task(l *luck, phase, i int) (t task) {
	l.of(ofTask, uint64(phase), uint64(i))
	switch w.Sizes {
	case LogNormal:
		t.seconds = 100 * math.Exp(l.NormFloat64()-.5)
	case Pareto:
		t.seconds = 60 * min(math.Pow(1-l.Float64(), -1/1.3), 50)
	case TwoKinds:
		t.seconds = 40 + 20*l.Float64()
		if l.Float64() < .25 {
			t.seconds *= 5
		}
	default:
		t.seconds = 75 + 25*l.Float64() // and the attempt adds to that
	}
	t.far, t.half = l.Float64() < w.Far, l.IntN(2)
	return t
}

// path is how many times longer a task takes on a machine for the way to its data.
func (w *World) path(t *task, machine int) float64 {
	if t.far && (w.Everywhere || machine%2 == t.half) {
		return or(w.FarBy, 5)
	}
	return 1
}

// fate is what is true of an attempt.
type fate struct {
	more  float64 // seconds that it takes beside the task's own
	slow  float64 // how many times longer it takes
	hangs float64 // the share of its work after which it hangs; above 1 if it does not
	curve curve
}

func (w *World) fate(l *luck, m Model, phase, i, attempt int) (f fate) {
	l.of(ofAttempt, uint64(phase), uint64(i), uint64(attempt))
	f.slow, f.hangs = 1, 2
	if w.Sizes == Even {
		f.more = 25 * l.Float64()
	}
	slow, hang, where := l.Float64(), l.Float64(), l.Float64()
	if slow < w.Slow {
		f.slow = or(w.SlowBy, 8)
	}
	if hang < w.Hang {
		f.hangs = where
	}
	f.curve.draw(l, m, or(w.Noise, 1))
	return f
}
