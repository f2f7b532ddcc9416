package assign

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Outcome contains the effects of a window. A window is the longest time that a clone waits for an output that no
// other clone of its task reads.
type Outcome struct {
	// Window is the longest time that a clone waits for an output that no other clone of its task reads. The paper
	// calls it ω.
	Window time.Duration
	// Sharing is the probability that a clone, within the window, gets no output that it can read alone, so that it
	// must share an output with another clone. The paper calls it p_c(ω).
	Sharing float64
	// First is the duration of a read by the clone that reads the first finished output. Other is the duration of
	// a read by each other clone.
	First, Other ReadTimes
	// Read is the expected time that a clone needs to read all its inputs. It is the mean over all clones of the
	// task.
	Read time.Duration
	// TaskTime is the expected duration of the downstream task. The task ends when its fastest clone ends. The
	// duration of a clone is the time of its reads plus the time of its computation [Dolly §4.4 step 2]. Without
	// samples in Model.Compute, TaskTime equals Read.
	TaskTime time.Duration
}

// ReadTimes contains durations of a read, measured from the instant at which the first output is finished. Own is the
// duration if each clone reads a different output; the paper calls it T_E. Shared is the duration if the clones share
// the first output; the paper calls it T_C.
type ReadTimes struct{ Own, Shared time.Duration }

// Choice contains the best window with its effects, and the effects of two other windows for comparison.
type Choice struct {
	Outcome
	// AtOnce contains the effects of a window of 0, in which the clones do not wait but share an output immediately
	// (CC). InTurn contains the effects of a window that is as long as a read without sharing (r/B): the clones read
	// the first output one after another.
	AtOnce, InTurn Outcome
}

// ChooseWindow returns the window with which the expected duration of a downstream task is smallest [Dolly §4.4
// step 3]. The window is how long a clone waits for an output that no other clone reads. Among equally good
// windows it returns the shortest. A read without sharing takes r/B, for r bytes at the bandwidth B. No window is
// longer than r/B, because after r/B the first clone has read the first output, and no clone needs to share it.
//
// With samples of lags in the Model the answer is exact. The probability of sharing is a step function of the
// window, read times are linear between its steps, and the minimum over the clones is concave. So the best window
// is 0, r/B, or a lag shorter than r/B. If Model.InverseLag is set, ChooseWindow tries 512 windows.
//
// ChooseWindow differs from the paper in three points:
//
//   - In the text of the paper only the read time r/B + min(r/B, ω) is legible, for the window ω. The other read
//     times follow from its description and agree with a simulation.
//   - The paper treats two clones. With more clones, all clones without an output of their own share the first
//     output. Each of the clones has a share α of the bandwidth B while at least two clones read.
//   - The paper minimises the smallest of the mean durations of the clones. The clone that reads the first output
//     always has the smallest mean, although it never waits. ChooseWindow instead minimises the mean of the
//     smallest duration, over the samples of computation times. Without such samples it minimises the mean read
//     time over the clones. If a task has many inputs, each clone has this mean. If it has a single input, the
//     task takes up to 2 % longer than with the best window.
//
// ChooseWindow returns an error for the first field of m that is out of range. Cost: O(n log n) for n lags, and
// O(n k) for k samples of computation times. It allocates copies of both.
func ChooseWindow(m Model) (Choice, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Choice{}, err
	}
	return e.choose(), nil
}

// At returns the effects of a window: the probability of sharing, the durations of reads, and the expected
// duration of the task [Dolly §4.4 steps 1 and 2]. A negative window is replaced by 0. At returns an error for the
// first field of m that is out of range. Cost: as [ChooseWindow] for one window, plus O(n log n) to sort n
// samples.
func (m Model) At(window time.Duration) (Outcome, error) {
	e, err := newEvaluator(m)
	if err != nil {
		return Outcome{}, err
	}
	window = max(window, 0)
	return e.outcome(window, e.sharing(window)), nil
}

// newEvaluator returns an evaluator for a model. It sorts copies of the samples of the model.
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

// evaluator computes the effects of windows for a model with sorted samples. A window is the longest time that a
// clone waits for an output that no other clone of its task reads. It can be prepared for another model and then uses
// the same memory.
type evaluator struct {
	model   Model
	alone   float64 // seconds of a read without sharing; r/B in the paper
	task    minimum
	c, k    float64    // number of clones, and number of inputs
	firsts  [2]float64 // by group of clones: for how many inputs each clone reads the first output
	compute []float64  // computation times in seconds
	late    []float64  // by lag, if some lags are cut: probability of sharing if the window is a little longer
}

// prepare sets the model. It divides the clones of a task into two groups: all clones of a group read the first
// output of the same number of inputs.
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

// reads contains durations of a read in seconds. first is for the clone that reads the first output, and other is
// for each other clone. Own is if each clone reads a different output, and Shared is if the clones share an output.
type reads struct{ firstOwn, firstShared, otherOwn, otherShared float64 }

// reads returns the durations of a read if clones wait for x seconds before they share. x must be at most e.alone.
func (e *evaluator) reads(x float64) reads {
	rest := (e.alone - x) / e.model.Contention // seconds to read the rest of the first output with several readers
	tail := x                                  // seconds that the other clones still read after the first clone
	if e.c > 2 {
		tail /= e.model.Contention
	}
	return reads{e.alone, x + rest, e.alone + x, x + rest + tail}
}

// seconds returns the expected seconds of all reads of a clone, as the mean over the clones, and the expected
// seconds of the task. Clones wait for x seconds before they share, and sharing is the probability that a clone
// shares.
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

// outcome returns the effects of a window, which is the longest time that a clone waits for an output that it can
// read alone. sharing is the probability that a clone must share an output with this window.
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

// duration converts seconds to a time.Duration. If the number is too large, the result is the largest
// time.Duration.
func duration(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}
