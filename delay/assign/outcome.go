package assign

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Outcome describes the effect of a window. An Outcome is a plain value.
type Outcome struct {
	// Window is ω: the longest wait of a clone for an upstream output of its own.
	Window time.Duration
	// Sharing is p_c(ω), the probability that a clone gets no output of its own within the window and shares.
	Sharing float64
	// First is the duration of a read by the clone with the first output. Other is the duration for each other clone.
	First, Other ReadTimes
	// Read is the expected duration of reading all inputs, as the mean over the clones.
	Read time.Duration
	// TaskTime is the expected duration of the downstream task. The task ends with its fastest clone, and a clone's
	// duration is its reads and its computation [Dolly §4.4 step 2]. Without samples in Model.Compute, TaskTime is Read.
	TaskTime time.Duration
}

// ReadTimes are T_E and T_C, the durations of a read from the first finished output on. Own is the duration if each clone
// gets an output of its own. Shared is the duration if the clones share the first output.
type ReadTimes struct{ Own, Shared time.Duration }

// Choice is the best window, with the effects of two other windows to compare.
type Choice struct {
	Outcome
	// AtOnce is the effect of a window of 0, in which the clones share at once (CC). InTurn is the effect of the window
	// r/B, in which the clones read one after the other without sharing.
	AtOnce, InTurn Outcome
}

// ChooseWindow returns the window ω with the smallest expected duration of a downstream task [Dolly §4.4 step 3], and the
// shortest such window in a tie. No window above r/B is useful, because the first output is free again after r/B.
//
// With samples of lags the answer is exact. p_c is a step function, the read times are linear between its steps, and the
// minimum over the clones is concave. So the best window is 0, a lag below r/B, or r/B. With Model.InverseLag, ChooseWindow
// tries 512 windows.
//
// Three points differ from the paper:
//
//   - In the text of the paper only the read time r/B + min(r/B, ω) is legible. The others follow from its description, and
//     agree with a simulation.
//   - The paper treats two clones. With more clones, the clones without an output share the first output. Each such
//     clone has the bandwidth αB while at least two clones read.
//   - The paper minimises the smallest of the clones' mean durations. The clone with the first output always has the
//     smallest mean, and this clone never waits. ChooseWindow instead minimises the mean of the smallest duration,
//     over the computation times. Without computation times, ChooseWindow minimises the mean over the clones. Each
//     clone with many inputs has this mean. With a single input, the task becomes up to 2 % longer.
//
// The error names the field that is out of range. O(n log n) for n lags, and O(n m) for m samples of Compute; it allocates
// copies of both.
func ChooseWindow(m Model) (Choice, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Choice{}, err
	}
	return e.choose(), nil
}

// At returns the effect of a window: p_c, T_E and T_C, the expected reads and the expected duration of the task [Dolly §4.4
// steps 1 and 2]. A negative window counts as 0. The error names the field that is out of range. The cost is the cost of
// one window of [ChooseWindow], plus O(n log n) to sort n samples.
func (m Model) At(window time.Duration) (Outcome, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Outcome{}, err
	}
	window = max(window, 0)
	return e.outcome(window, e.sharing(window)), nil
}

// newEvaluator returns an evaluator for a model, with sorted copies of its samples.
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

// evaluator computes the effects of windows for a model with sorted samples. An evaluator can be prepared again, and
// reuses its memory.
type evaluator struct {
	model   Model
	alone   float64 // r/B in seconds
	task    minimum
	c, k    float64    // numbers of clones and of inputs
	firsts  [2]float64 // by group of clones: the number of inputs for which a clone of the group has the first output
	compute []float64  // computation times in seconds
	late    []float64  // by lag, if some lags are cut: p_c after that lag
}

// prepare sets the model, and divides its clones into two groups by their numbers of first outputs.
func (e *evaluator) prepare(m Model) {
	e.model, e.alone = m, m.Size/m.Bandwidth
	c, k := m.clones(), m.inputs()
	e.c, e.k = float64(c), float64(k)
	firsts, groups := [2]int{k/c + 1, k / c}, [2]int{k % c, c - k%c}
	if m.Pairing == Coordinated {
		firsts, groups = [2]int{k, 0}, [2]int{1, c - 1}
	}
	e.firsts = [2]float64{float64(firsts[0]), float64(firsts[1])}
	e.late = e.late[:0]
	if len(m.Cut) > 0 {
		e.productLimit()
	}
	e.compute = e.compute[:0]
	if len(m.Compute) == 0 {
		return
	}
	for _, took := range m.Compute {
		e.compute = append(e.compute, took.Seconds())
	}
	e.task.prepare(e.compute, groups)
}

// reads are the durations of a read in seconds, for a window of x seconds, at most r/B.
type reads struct{ firstOwn, firstShared, otherOwn, otherShared float64 }

func (e *evaluator) reads(x float64) reads {
	rest := (e.alone - x) / e.model.Contention // seconds to read the rest of the first output with several readers
	tail := x                                  // seconds that the other clones still read when the first reader is done
	if e.c > 2 {
		tail /= e.model.Contention
	}
	return reads{e.alone, x + rest, e.alone + x, x + rest + tail}
}

// seconds returns the expected seconds of all reads, as the mean over the clones, and the expected seconds of the task.
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

// outcome returns the effect of a window. sharing is p_c of the window.
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

// duration converts seconds to a time.Duration, and saturates.
func duration(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}
