package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// These numbers are choices.
const (
	ringSize     = 16   // errors that a stage keeps
	shapeMemory  = 50   // attempts in the mean shape; the influence of older attempts fades
	kindAttempts = 4    // attempts; the experience of the kind counts as at most this many attempts of a phase
	linearWithin = 0.01 // share; a shape with no larger offset counts as linear
)

// Shape learns how progress and time are related, for one kind of phase. It learns two things for each stage, a
// twelfth of the work:
//
//   - The share of its time that an attempt has run at this stage.
//   - The error of the prediction at this stage: the time that the attempt took, divided by the time that was
//     predicted. The error 1.25 means that the attempt took a quarter longer than predicted.
//
// Four assumed errors, 0.25, 0.5, 0.8 and 1.25, count as well. They stand for errors that no attempt has shown yet,
// and lose weight as the shape learns.
//
// A phase has a shape of its own, made by [Shape.Phase] from the shape of its kind. Both shapes learn from the
// attempts that finish.
//
// The zero value has learned nothing, and takes progress to be linear in time. It takes 200 bytes, and 1 kB more once
// it has learned. Do not copy the struct, because both values would share the errors: use [Shape.Clone]. A shape is
// not safe for concurrent use; keep one for each phase, and one for each kind.
type Shape struct {
	offsets  [Parts + 1]float64 // share of the time at the end of each part, less the share of the work there
	attempts float64            // attempts in the mean that offsets is; at most shapeMemory
	bent     bool               // some offset is larger than linearWithin
	errors   *[Parts + 1]ring   // the errors of each stage; nil before the first error
	kind     *Shape             // shape of the kind; nil if there is none
	finished int                // attempts of the phase that have finished
	places   [Parts + 1]int32   // for each stage, the number of this phase's error in the ring of the kind; 0 if there is none
}

// ring keeps the latest errors of a stage.
type ring struct {
	ratio [ringSize]float32
	seen  int // errors that the ring has taken in all
}

// rings returns the errors of all stages, and makes room for them if there is none yet.
func (s *Shape) rings() *[Parts + 1]ring {
	if s.errors == nil {
		s.errors = new([Parts + 1]ring)
	}
	return s.errors
}

// at returns the errors of a stage. It returns nil before the shape has any error.
func (s *Shape) at(stage int) *ring {
	if s.errors == nil {
		return nil
	}
	return &s.errors[stage]
}

// all returns how many errors the ring has taken, including the errors that it has dropped. A nil ring has taken
// none.
func (r *ring) all() int {
	if r == nil {
		return 0
	}
	return r.seen
}

// put adds an error, and returns its number: the first error of the ring has the number 1. If the ring still keeps
// the error of the number at, the new error replaces it and takes its number. If at is 0, put replaces no error. An
// error that is not positive, or too large for a float32, is not added.
func (r *ring) put(ratio float64, at int32) int32 {
	if !(ratio > 0 && ratio < math.MaxFloat32) {
		return at
	}
	if at == 0 || int(at) > r.seen || int(at) <= r.seen-ringSize {
		r.seen = min(r.seen, math.MaxInt32-1) + 1
		at = int32(r.seen)
	}
	r.ratio[(at-1)%ringSize] = float32(ratio)
	return at
}

// kept returns how many errors the ring keeps. A nil ring keeps none.
func (r *ring) kept() int { return min(r.all(), ringSize) }

// The assumed errors stand for errors that no attempt has shown yet. In attempts of 10 s and more in public Hadoop
// traces, the predicted total time is too long by 12 to 60 % for the middle half of the attempts, and by a factor of
// 4 for one attempt in twenty.
var assumed = [...]float64{0.25, 0.5, 0.8, 1.25}

// Phase returns a shape for a phase of this kind. The new shape starts with the experience of the kind, which counts
// as four attempts.
//
// The phase teaches its kind in turn, by its attempts number 1, 2, 4, 8, and so on, so that a large phase does not
// outweigh all others. Each such attempt replaces the errors of the attempt before it: attempts of a phase have
// similar errors, so together they count as a single attempt. The kind must not be used by two goroutines at once.
// O(1), one allocation.
func (s *Shape) Phase() *Shape {
	return &Shape{offsets: s.offsets, attempts: min(s.attempts, kindAttempts), bent: s.bent, kind: s}
}

// Clone returns an independent shape with the same experience and the same kind. O(1).
func (s *Shape) Clone() *Shape {
	c := *s
	if s.errors != nil {
		errors := *s.errors
		c.errors = &errors
	}
	return &c
}

// Time returns the share of its time that an attempt has run when it has done the given share of its work. If
// progress is linear, Time returns exactly the given share. O(1).
func (s *Shape) Time(done float64) float64 {
	if !s.bent || !(done > 0) || done >= 1 {
		return done
	}
	k := int(done * Parts)
	within := float64(done*Parts) - float64(k)
	// No fused multiply-add: every machine gives the same answer.
	return done + s.offsets[k] + float64(within*(s.offsets[k+1]-s.offsets[k]))
}

// Finish learns from an attempt that has finished: from its trail, and from the time that the attempt took. model is
// the model that predicts the remaining time from the progress; Finish applies it to the progress as [Shape.Time]
// reads it. O(1). Only the first call allocates.
func (s *Shape) Finish(t *Trail, took time.Duration, model estimate.Linear) {
	if t.n == 0 || took <= 0 {
		return
	}
	s.learn(t, took, model, nil)
	s.finished++
	if s.kind != nil && s.finished&(s.finished-1) == 0 {
		s.kind.learn(t, took, model, &s.places)
	}
}

// learn adds an attempt to the shape. For the shape of a kind, places holds the numbers of the errors of the
// attempt's phase, and learn updates them.
func (s *Shape) learn(t *Trail, took time.Duration, model estimate.Linear, places *[Parts + 1]int32) {
	seconds := took.Seconds()
	var p estimate.Progress
	for k := 1; k <= int(t.n); k++ {
		age := time.Duration(t.passed[k-1].seconds() * float64(time.Second))
		model.Report(&p, age, s.Time(edge(k)))
		if left := model.Remaining(&p, age, 1); left != estimate.Unknown {
			at := int32(0)
			if places != nil {
				at = places[k]
			}
			if at = s.rings()[k].put(seconds/(age+left).Seconds(), at); places != nil {
				places[k] = at
			}
		}
	}
	whole := seconds
	if t.n == Parts {
		whole = t.passed[Parts-1].seconds() // the model adds the rest, in which the attempt wraps up
	}
	if !(whole > 0) {
		return
	}
	s.attempts = min(s.attempts+1, shapeMemory)
	s.bent = false
	for k := 1; k < Parts; k++ {
		at := seconds // for an attempt without a report after stage k
		if k <= int(t.n) {
			at = t.passed[k-1].seconds()
		} else if t.done < 1 {
			at = t.between(edge(k), seconds, 1)
		}
		// One attempt is not yet a shape: after the first attempt, the offset is half of the attempt's offset.
		s.offsets[k] += (min(at/whole, 1) - float64(k)/Parts - s.offsets[k]) / (s.attempts + 1)
		s.bent = s.bent || math.Abs(s.offsets[k]) > linearWithin
	}
}

// The weight of all assumed errors together, in errors seen: 2 before the kind has shown an error, 1 after two
// errors, 1/2 after six. These numbers are choices.
const (
	assumedAtFirst = 2.0 // the weight before the kind has shown an error
	assumedHalves  = 2.0 // errors of the kind after which that weight has halved
)

// errorsAt returns the errors of a stage: the errors of the phase and of its kind, and the weight of the assumed
// errors. That weight does not consider yet how far the seen errors differ.
func (s *Shape) errorsAt(stage int) (own, kind *ring, assumedWeight float64) {
	own = s.at(stage)
	if s.kind == nil {
		return own, nil, assumedAtFirst
	}
	kind = s.kind.at(stage)
	return own, kind, assumedAtFirst * assumedHalves / (assumedHalves + float64(kind.all()))
}

// Bias returns the mean error at a stage, which is a number of parts passed; 1 if no error was seen. To predict the
// mean time of many tasks, multiply the predicted time by the bias. O(1), no allocation.
func (s *Shape) Bias(stage int) float64 {
	own, kind, _ := s.errorsAt(min(max(stage, 1), Parts))
	kindWeight := float64(min(kind.kept(), kindAttempts))
	if own.all()+kind.kept() == 0 {
		return 1
	}
	ownWeight := float64(own.all())
	return (float64(mean(own)*ownWeight) + float64(mean(kind)*kindWeight)) / (ownWeight + kindWeight)
}

// mean returns the mean of the errors that the ring keeps; 0 if it keeps none.
func mean(r *ring) float64 {
	sum, n := 0.0, r.kept()
	for i := range n {
		sum += float64(r.ratio[i])
	}
	return sum / float64(max(n, 1))
}
