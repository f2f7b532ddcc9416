package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// These are choices.
const (
	remembered = 16   // errors that are kept for each stage
	memory     = 50   // copies over which the mean shape is taken; older ones fade
	asMany     = 4    // copies that what is known of the kind counts as, for a phase
	evenWithin = 0.01 // a shape that is nowhere farther from linear is linear
)

// Shape learns how the progress of a kind of task runs: which share of its time has passed when it has done each
// twelfth of its work, and how far predictions at that stage were off, as the ratio of the time that a copy took to the
// time that was predicted for it. A phase starts with [Shape.Phase] of its kind's and both learn from the copies that
// finish.
//
// The zero value has seen nothing, and takes progress to be linear in time. It takes 250 bytes, and 1 kB more once it
// has learned. A copy of the struct would go on to share what it learns: use [Shape.Clone]. Not safe for concurrent
// use; one per phase, and one per kind.
type Shape struct {
	later  [Parts + 1]float64 // the share of the time at the end of each part, less the share of the work
	copies float64            // that later is the mean of; faded
	bent   bool
	errors *[Parts + 1]ring // nil before the first
	kind   *Shape           // nil: none
	taught int              // copies that have finished in a phase
	place  [Parts + 1]int32 // behind this phase's error in the kind's rings; 0: it has none
}

// ring keeps the last errors.
type ring struct {
	ratio [remembered]float32
	seen  int
}

// rings returns the errors, to add to.
func (s *Shape) rings() *[Parts + 1]ring {
	if s.errors == nil {
		s.errors = new([Parts + 1]ring)
	}
	return s.errors
}

// at returns the errors at a stage, or nil if there are none at any.
func (s *Shape) at(stage int) *ring {
	if s.errors == nil {
		return nil
	}
	return &s.errors[stage]
}

// all returns how many errors there ever were.
func (r *ring) all() int {
	if r == nil {
		return 0
	}
	return r.seen
}

// put adds an error, in the place of the one that was put behind the given number of others, if that is still there and
// not 0. It returns what to pass for the next to take its place.
func (r *ring) put(ratio float64, at int32) int32 {
	if !(ratio > 0 && ratio < math.MaxFloat32) {
		return at
	}
	if at == 0 || int(at) > r.seen || int(at) <= r.seen-remembered {
		r.seen = min(r.seen, math.MaxInt32-1) + 1
		at = int32(r.seen)
	}
	r.ratio[(at-1)%remembered] = float32(ratio)
	return at
}

// kept returns how many errors there are; a nil ring has none.
func (r *ring) kept() int { return min(r.all(), remembered) }

// unseen are the errors that are expected before any was seen. In attempts of 10 s and more in public Hadoop traces,
// what is predicted of the whole time is too long by 12 to 60 % for the middle half, and by a factor of 4 for one in
// twenty.
var unseen = [...]float64{0.25, 0.5, 0.8, 1.25}

// Phase returns a shape for a phase of this kind. It starts with what is known of the kind, which counts as four
// copies, and teaches the kind in turn: by its copies number 1, 2, 4, 8, ..., so that one phase of many does not
// outweigh all others. Each of them replaces the error of the one before it: the copies of a phase are off alike, and
// count as one. The kind must not be used by two goroutines at once.
func (s *Shape) Phase() *Shape {
	return &Shape{later: s.later, copies: min(s.copies, asMany), bent: s.bent, kind: s}
}

// Clone returns a shape that knows the same, of the same kind, and learns apart from s.
func (s *Shape) Clone() *Shape {
	c := *s
	if s.errors != nil {
		errors := *s.errors
		c.errors = &errors
	}
	return &c
}

// Time returns which share of its time a task has run when it has done the given share of its work. Where progress is
// linear it is that share, to the bit. O(1).
func (s *Shape) Time(done float64) float64 {
	if !s.bent || !(done > 0) || done >= 1 {
		return done
	}
	k := int(done * Parts)
	within := float64(done*Parts) - float64(k)
	return done + s.later[k] + float64(within*(s.later[k+1]-s.later[k])) // no fused multiply-add: one answer everywhere
}

// Finish learns from a copy that has finished: its trail, the time that it took, and the model by which the remaining
// time is predicted from its progress, read through [Shape.Time]. O(1), no allocation.
func (s *Shape) Finish(t *Trail, took time.Duration, model estimate.Linear) {
	if t.n == 0 || took <= 0 {
		return
	}
	s.learn(t, took, model, nil)
	s.taught++
	if s.kind != nil && s.taught&(s.taught-1) == 0 {
		s.kind.learn(t, took, model, &s.place)
	}
}

// learn takes a copy in. A kind is told where the errors of the copy's phase are, and where they are from now on.
func (s *Shape) learn(t *Trail, took time.Duration, model estimate.Linear, place *[Parts + 1]int32) {
	seconds := took.Seconds()
	var p estimate.Progress
	for k := 1; k <= int(t.n); k++ {
		age := time.Duration(t.passed[k-1].seconds() * float64(time.Second))
		model.Report(&p, age, s.Time(edge(k)))
		if left := model.Remaining(&p, age, 1); left != estimate.Unknown {
			at := int32(0)
			if place != nil {
				at = place[k]
			}
			if at = s.rings()[k].put(seconds/(age+left).Seconds(), at); place != nil {
				place[k] = at
			}
		}
	}
	whole := seconds
	if t.n == Parts {
		whole = t.passed[Parts-1].seconds() // the rest is its wrap-up, which the model knows of
	}
	if !(whole > 0) {
		return
	}
	s.copies = min(s.copies+1, memory)
	s.bent = false
	for k := 1; k < Parts; k++ {
		at := seconds // of a copy that has finished without a report since
		if k <= int(t.n) {
			at = t.passed[k-1].seconds()
		} else if t.done < 1 {
			at = t.between(edge(k), seconds, 1)
		}
		// One copy is not yet a shape: with the first, it is half way between linear and that.
		s.later[k] += (min(at/whole, 1) - float64(k)/Parts - s.later[k]) / (s.copies + 1)
		s.bent = s.bent || math.Abs(s.later[k]) > evenWithin
	}
}

// Before the kind has shown an error, errors that nobody has seen yet count as two that were seen; once it has shown two,
// as one; and so on. Choices.
const (
	firstGuess  = 2.0
	guessHalves = 2.0
)

// errorsAt returns the errors by which a prediction at a stage is to be multiplied: the phase's own, its kind's, and
// how many are expected unseen, before it is known how far those that were seen are apart.
func (s *Shape) errorsAt(stage int) (own, kind *ring, guess float64) {
	own = s.at(stage)
	if s.kind == nil {
		return own, nil, firstGuess
	}
	kind = s.kind.at(stage)
	return own, kind, firstGuess * guessHalves / (guessHalves + float64(kind.all()))
}

// Bias returns the mean of the errors seen at a stage, which is a number of parts passed; 1 if none was. A prediction
// of the mean time of many tasks is to be multiplied by it. O(1), no allocation.
func (s *Shape) Bias(stage int) float64 {
	own, kind, _ := s.errorsAt(min(max(stage, 1), Parts))
	kindWeight := float64(min(kind.kept(), asMany))
	if own.all()+kind.kept() == 0 {
		return 1
	}
	ownWeight := float64(own.all())
	return (float64(mean(own)*ownWeight) + float64(mean(kind)*kindWeight)) / (ownWeight + kindWeight)
}

func mean(r *ring) float64 {
	sum, n := 0.0, r.kept()
	for i := range n {
		sum += float64(r.ratio[i])
	}
	return sum / float64(max(n, 1))
}
