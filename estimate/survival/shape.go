package survival

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// These numbers are choices.
const (
	// The number of errors that are kept for each stage.
	ringSize = 16
	// The mean shape is updated as if at most shapeMemory attempts had been seen before. So each new attempt moves
	// the mean by at least 1/51 of the difference, and old attempts lose influence.
	shapeMemory = 50
	// A phase also uses the experience of other phases of its kind. This experience has at most the weight of
	// kindAttempts attempts of the phase itself.
	kindAttempts = 4
	// A shape with no larger offset than this is treated as linear. An offset is a share of the time less a share of
	// the work.
	linearWithin = 0.01
)

// Shape learns how progress and time are related, for one kind of phase. A phase is a group of tasks that do the same
// work, and phases of one kind do the same work. The work of a task is divided into twelve parts; the end of a part
// is called a stage. Shape learns two things for each stage:
//
//   - The share of its time that an attempt has run at this stage.
//   - The error of the prediction at this stage: the time that the attempt took, divided by the time that was
//     predicted. The error 1.25 means that the attempt took a quarter longer than predicted.
//
// Four assumed errors, 0.25, 0.5, 0.8 and 1.25, are included as well. They represent errors that no attempt has shown
// yet, and lose weight as the shape learns.
//
// A phase has a shape of its own, which [Shape.Phase] makes from the shape of its kind. Both shapes learn from the
// attempts that finish.
//
// The zero value has learned nothing, and assumes that progress is linear in time. It takes 200 bytes, and 1 kB more
// as soon as it has learned. Do not copy the struct, because both copies would share the errors. A shape is not safe for
// concurrent use. Keep a shape for each phase, and a shape for each kind.
type Shape struct {
	// For each stage, the mean share of the time that has passed, less the share of the work that is done.
	offsets [Parts + 1]float64
	// The number of attempts in the means of the field offsets; at most shapeMemory.
	attempts float64
	// True if at least one offset is larger than linearWithin: progress is not linear in time.
	bent bool
	// The latest errors of each stage; nil before the first error.
	errors *[Parts + 1]ring
	// The shape of the kind, that is, of all phases that do the same work; nil if there is none.
	kind *Shape
	// The number of attempts of the phase that have finished.
	finished int
	// For each stage, the number of the error that this phase has added to the ring of its kind; 0 if there is none.
	places [Parts + 1]int32
}

// ring contains the latest errors of a stage.
type ring struct {
	// The errors. Error number n is at index (n-1) modulo ringSize.
	ratio [ringSize]float32
	// The number of errors that were ever added, including errors that were overwritten.
	seen int
}

// at returns the errors of a stage. It returns nil if the shape has no errors yet.
func (s *Shape) at(stage int) *ring {
	if s.errors == nil {
		return nil
	}
	return &s.errors[stage]
}

// all returns how many errors were ever added to the ring, including errors that were overwritten. A nil ring has
// none.
func (r *ring) all() int {
	if r == nil {
		return 0
	}
	return r.seen
}

// put adds an error to the ring, and returns the number of the error. Errors are numbered from 1. If at is the number
// of an error that the ring still contains, the new error replaces that error and gets the number at. An error that
// is not positive, or too large for a float32, is ignored; then put returns at.
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

// kept returns how many errors the ring contains. A nil ring contains none.
func (r *ring) kept() int { return min(r.all(), ringSize) }

// assumed contains errors that are assumed before attempts have shown real errors. An error is the time that an
// attempt took, divided by its predicted time. The values come from attempts of 10 s and more in public Hadoop
// traces. There the predicted total time is too long by 12 to 60 % for the middle half of the attempts. It is too
// long by a factor of 4 for one attempt in twenty.
var assumed = [...]float64{0.25, 0.5, 0.8, 1.25}

// Phase returns a new shape for a phase whose kind has the shape s. The new shape starts with the experience of the
// kind, with the weight of at most four attempts.
//
// The kind also learns from the phase, but only from its attempts number 1, 2, 4, 8, and so on. So a large phase does
// not outweigh all others. Each such attempt replaces the errors that the phase has added to the kind before:
// attempts of a phase have similar errors, so together they have the weight of a single attempt. Two goroutines must
// not use the kind at the same time. O(1), one allocation.
func (s *Shape) Phase() *Shape {
	return &Shape{offsets: s.offsets, attempts: min(s.attempts, kindAttempts), bent: s.bent, kind: s}
}

// Time returns the share of its time that an attempt has run when it has done the given share of its work. If
// progress is linear, Time returns exactly the given share. O(1).
func (s *Shape) Time(done float64) float64 {
	if !s.bent || !(done > 0) || done >= 1 {
		return done
	}
	k := int(done * Parts)
	within := float64(done*Parts) - float64(k)
	// The conversions to float64 prevent fused multiply-adds, so that every machine gives the same result.
	return done + s.offsets[k] + float64(within*(s.offsets[k+1]-s.offsets[k]))
}

// Finish learns from an attempt that has finished: from its trail t (its progress), and from the time that the
// attempt took. The argument model is the model that predicts the remaining time from the progress. Finish gives the
// model the progress after [Shape.Time] has corrected it. O(1). Only the first call allocates.
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

// learn adds an attempt to the shape. The argument places is nil for the shape of a phase. For the shape of a kind,
// places contains the number of the error, at each stage, that the attempt's phase has added before. learn updates
// these numbers.
func (s *Shape) learn(t *Trail, took time.Duration, model estimate.Linear, places *[Parts + 1]int32) {
	seconds := took.Seconds()
	var p estimate.Progress
	for k := 1; k <= int(t.n); k++ {
		age := time.Duration(t.passed[k-1].seconds() * float64(time.Second))
		model.Report(&p, age, s.Time(edge(k)))
		if left := model.Remaining(&p, age, 1); left != estimate.Unknown {
			if s.errors == nil {
				s.errors = new([Parts + 1]ring)
			}
			at := new(int32)
			if places != nil {
				at = &places[k]
			}
			*at = s.errors[k].put(seconds/(age+left).Seconds(), *at)
		}
	}
	whole := seconds
	if t.n == Parts {
		// The trail covers all the work. The rest of the time, in which the attempt only wraps up, is added by the
		// model.
		whole = t.passed[Parts-1].seconds()
	}
	s.attempts = min(s.attempts+1, shapeMemory)
	s.bent = false
	for k := 1; k < Parts; k++ {
		// The value for an attempt without a report after stage k.
		at := seconds
		if k <= int(t.n) {
			at = t.passed[k-1].seconds()
		} else if t.done < 1 {
			at = t.between(edge(k), seconds, 1)
		}
		// One attempt is not yet a shape. So after the first attempt, the offset is only half of the attempt's
		// offset.
		s.offsets[k] += (min(at/whole, 1) - float64(k)/Parts - s.offsets[k]) / (s.attempts + 1)
		s.bent = s.bent || math.Abs(s.offsets[k]) > linearWithin
	}
}

// The weight of all assumed errors together, in multiples of one seen error. It is 2 before the kind of the phase has
// shown an error, 1 after two errors, and 1/2 after six. These numbers are choices.
const (
	// The weight of all assumed errors together, in seen errors, before the kind has shown an error.
	assumedAtFirst = 2.0
	// The number of errors that the kind must have shown until the weight of the assumed errors has halved.
	assumedHalves = 2.0
)

// errorsAt returns the errors of a phase at a stage (own), the errors of its kind at that stage, and the weight of
// the assumed errors. The weight does not depend on how much the seen errors differ; assumedPart corrects it for
// that.
func (s *Shape) errorsAt(stage int) (own, kind *ring, assumedWeight float64) {
	own = s.at(stage)
	if s.kind == nil {
		return own, nil, assumedAtFirst
	}
	kind = s.kind.at(stage)
	return own, kind, assumedAtFirst * assumedHalves / (assumedHalves + float64(kind.all()))
}

// Bias returns the mean error of predictions at a stage, from 1 to [Parts]. An error is the time that an attempt
// took, divided by its predicted time. If no error was seen, Bias returns 1. To predict the mean time of many tasks,
// multiply the predicted time by the bias. O(1), no allocation.
func (s *Shape) Bias(stage int) float64 {
	own, kind, _ := s.errorsAt(min(max(stage, 1), Parts))
	kindWeight := float64(min(kind.kept(), kindAttempts))
	if own.all()+kind.kept() == 0 {
		return 1
	}
	ownWeight := float64(own.all())
	return (float64(mean(own)*ownWeight) + float64(mean(kind)*kindWeight)) / (ownWeight + kindWeight)
}

// mean returns the mean of the errors in the ring; 0 if the ring contains none.
func mean(r *ring) float64 {
	sum, n := 0.0, r.kept()
	for i := range n {
		sum += float64(r.ratio[i])
	}
	return sum / float64(max(n, 1))
}
