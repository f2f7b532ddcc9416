package assign

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Outcome is what a window leads to. It is a plain value.
type Outcome struct {
	// Window is ω: how long a clone should wait for an upstream output of its own.
	Window time.Duration
	// Sharing is p_c(ω), the probability that a clone gets no output of its own within the window, and shares one.
	Sharing float64
	// First are the times of one read by the clone that has the first copy, and Other those of each other clone.
	First, Other ReadTimes
	// Read is the expected time of reading all inputs, the mean over the clones.
	Read time.Duration
	// TaskTime is the expected duration of the downstream task: of the fastest of its clones, with its reads and its
	// computation [Dolly §4.4 step 2]. Without samples of Model.Compute it is Read.
	TaskTime time.Duration
}

// ReadTimes are T_E and T_C: how long a clone takes, from the first finished copy on, to read an output if each clone
// gets its own, and if they share the first.
type ReadTimes struct{ Own, Shared time.Duration }

// Choice is the best window, and what two others lead to.
type Choice struct {
	Outcome
	// AtOnce is with a window of 0, where clones share at once (CC), and InTurn with r/B, where they read one after the
	// other without sharing.
	AtOnce, InTurn Outcome
}

// ChooseWindow returns the window ω that minimises the expected duration of a downstream task [Dolly §4.4 step 3], the
// shortest one if several do. By r/B the first copy is free again, so no longer window is considered. With p_c from
// samples the answer is exact: p_c is a step function, the read times are linear in between, and the minimum over the
// clones is concave, so that only 0, a lag below r/B, or r/B can be best. With Model.InverseLag, 512 windows are tried.
//
// Of the read times only r/B + min(r/B, ω) is legible in the text of the paper; the others follow from its description
// and agree with a simulation. More than two clones are outside the paper: those without a copy are taken to share the
// first one, each at αB while more than one is left. The paper takes the minimum over the clones of their mean
// durations, which is always that of the clone with the first copy, for which waiting costs nothing; here it is the
// mean of the minimum, over the computation times. Where these are not known, it is the mean over the clones, which is
// what each sees that reads many inputs; for one input that makes the task up to 2 % longer.
//
// The error names the field that is out of range. O(n log n) with n lags, and O(n m) with m samples of Compute; it
// allocates copies of both.
func ChooseWindow(m Model) (Choice, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Choice{}, err
	}
	return e.choose(), nil
}

// At returns what a window leads to: p_c, T_E and T_C, the expected read and the expected duration of the task [Dolly
// §4.4 steps 1 and 2]. A window below 0 counts as 0. The error names the field that is out of range. The cost is that
// of one window of [ChooseWindow], and O(n log n) to sort the samples.
func (m Model) At(window time.Duration) (Outcome, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Outcome{}, err
	}
	window = max(window, 0)
	return e.outcome(window, e.sharing(window)), nil
}

func newEvaluator(m Model) (*evaluator, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	m.Lags, m.Cut, m.Compute = slices.Clone(m.Lags), slices.Clone(m.Cut), slices.Clone(m.Compute)
	slices.Sort(m.Lags)
	slices.Sort(m.Cut)
	slices.Sort(m.Compute)
	e := &evaluator{}
	e.prepare(m)
	return e, nil
}

// evaluator works out windows for a model whose samples are sorted. It can be prepared again, and keeps its memory.
type evaluator struct {
	model   Model
	alone   float64 // r/B in seconds
	task    minimum
	c, k    float64    // clones, inputs
	firsts  [2]float64 // of how many inputs a clone of the first group, and of the second, has the first copy
	compute []float64
	late    []float64 // by lag, if some are cut: p_c from that lag on
}

func (e *evaluator) prepare(m Model) {
	e.model, e.alone = m, m.Size/m.Bandwidth
	c, k := m.clones(), m.inputs()
	e.c, e.k = float64(c), float64(k)
	firsts, groups := [2]int{k/c + 1, k / c}, [2]int{k % c, c - k%c}
	if m.Pairing == Coordinated {
		firsts, groups = [2]int{k, 0}, [2]int{1, c - 1}
	}
	e.firsts = [2]float64{float64(firsts[0]), float64(firsts[1])}
	if e.late = e.late[:0]; len(m.Cut) > 0 {
		e.productLimit()
	}
	if e.compute = e.compute[:0]; len(m.Compute) == 0 {
		return
	}
	for _, took := range m.Compute {
		e.compute = append(e.compute, took.Seconds())
	}
	e.task.prepare(e.compute, groups)
}

// reads are the seconds of one read with window x, no longer than r/B.
type reads struct{ firstOwn, firstShared, otherOwn, otherShared float64 }

func (e *evaluator) reads(x float64) reads {
	rest := (e.alone - x) / e.model.Contention // of the first copy, read by several
	tail := x                                  // of the same, left to the others when the first reader is done
	if e.c > 2 {
		tail /= e.model.Contention
	}
	return reads{e.alone, x + rest, e.alone + x, x + rest + tail}
}

// seconds returns the expected seconds of reading all inputs, the mean over the clones, and those of the task.
func (e *evaluator) seconds(x, sharing float64) (read, task float64) {
	t := e.reads(x)
	first := float64(sharing*t.firstShared) + float64((1-sharing)*t.firstOwn)
	other := float64(sharing*t.otherShared) + float64((1-sharing)*t.otherOwn)
	read = e.k * (first + float64((e.c-1)*other)) / e.c
	if len(e.compute) == 0 {
		return read, read
	}
	var total [2]float64
	for i, n := range e.firsts {
		total[i] = float64(n*first) + float64((e.k-n)*other)
	}
	return read, e.task.mean(total)
}

func (e *evaluator) outcome(window time.Duration, sharing float64) Outcome {
	x := min(window.Seconds(), e.alone)
	t := e.reads(x)
	o := Outcome{Window: window, Sharing: sharing}
	o.First = ReadTimes{duration(t.firstOwn), duration(t.firstShared)}
	o.Other = ReadTimes{duration(t.otherOwn), duration(t.otherShared)}
	read, task := e.seconds(x, sharing)
	o.Read, o.TaskTime = duration(read), duration(task)
	return o
}

func duration(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}
