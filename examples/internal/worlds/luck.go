package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Set is a set of seeds. Constants must be judged with other seeds than they were chosen with.
type Set uint64

// The sets of seeds.
const (
	Work  Set = 0x517cc1b727220a95 // for development
	Proof Set = 0x9e6c63d0676a9a99 // for judging, after all constants are fixed
)

// The purposes of draws. They keep draws apart that have the same numbers.
const (
	ofTask uint64 = iota + 1
	ofAttempt
	ofPhase
)

// luck makes random numbers that depend on numbers such as a task and an attempt, not on the order of the calls.
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

// of makes the following draws depend on the numbers.
func (l *luck) of(numbers ...uint64) *luck {
	h := l.seed
	for _, n := range numbers {
		h = scramble(h + n)
	}
	l.source.Seed(h, ^h)
	return l
}

// scramble is the finalizer of MurmurHash3.
func scramble(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// task has the true properties of a task, which do not depend on the policy.
type task struct {
	seconds float64 // time on a usual machine near its data
	told    float64 // the same, as a host that knows the sizes believes
	far     bool
	half    int // the half of the machines from which its data is far
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
	case Mild:
		t.seconds = 100 * math.Exp(.25*l.NormFloat64())
	case Below:
		t.seconds = 90 + 20*l.Float64()
		if l.Float64() < .5 {
			t.seconds = 10 + 80*l.Float64()
		}
	case Exponential:
		t.seconds = 20 + 80*l.ExpFloat64()
	case Stretched:
		t.seconds = 10 + 45*math.Pow(l.ExpFloat64(), 2)
	default:
		t.seconds = 75 + 25*l.Float64() // the attempt adds up to 25 s more
	}
	t.seconds *= or(w.Scale, 1)
	t.far, t.half = l.Float64() < w.Far, l.IntN(2)
	if w.Long > 0 && slices.Contains(l.of(ofPhase, uint64(phase), 3).Perm(w.size(l, phase))[:w.Long], i) {
		t.seconds *= w.LongBy
	}
	t.told = t.seconds
	if w.Wrong > 0 {
		t.told *= math.Exp(w.Wrong * l.of(ofTask, uint64(phase), uint64(i), 1).NormFloat64())
	}
	return t
}

// path returns the factor by which a task takes longer on a machine because of the distance to its data.
func (w *World) path(t *task, machine int) float64 {
	if t.far && (w.Everywhere || machine%2 == t.half) {
		return or(w.FarBy, 5)
	}
	return 1
}

// fate has the true properties of an attempt.
type fate struct {
	more  float64 // seconds that the attempt adds to the time of its task
	slow  float64 // factor by which the attempt is slower
	hangs float64 // share of its work after which it hangs; above 1 if it does not hang
	curve curve
}

func (w *World) fate(l *luck, m Model, phase, i, attempt int) (f fate) {
	l.of(ofAttempt, uint64(phase), uint64(i), uint64(attempt))
	f.slow, f.hangs = 1, 2
	if w.Sizes == Even {
		f.more = 25 * or(w.Scale, 1) * l.Float64()
	}
	slow, hang, where := l.Float64(), l.Float64(), l.Float64()
	if slow < w.Slow {
		f.slow = or(w.SlowBy, 8)
	}
	if hang < w.Hang {
		f.hangs = where
	}
	f.curve.draw(l, m, or(w.Noise, 1))
	if w.Tail > 0 {
		f.slow *= math.Pow(1-l.of(ofAttempt, uint64(phase), uint64(i), uint64(attempt), 1).Float64(), -1/w.Tail)
	}
	return f
}
