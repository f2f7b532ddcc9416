package assign

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Forever is a wait that never ends.
const Forever time.Duration = math.MaxInt64

// Clone is the present state of a clone of an upstream task, which is a task whose output other tasks read.
type Clone struct {
	// State is Running, Finished or Failed.
	State State
	// Readers is the number of other clones of the same downstream task that read the output of this clone, or
	// will read it next.
	Readers int
}

// Input is an upstream task whose output a clone of a downstream task must still read.
type Input struct {
	// Clones are the clones of the upstream task. A Decision refers to a clone by its index.
	Clones []Clone
	// Waited is how long the downstream clone has been ready to read this input while at least one upstream clone
	// was finished. Decide compares this time with the window.
	Waited time.Duration
	// Ahead is the number of clones of the same downstream task that may choose an output of this input before
	// this clone. Decide leaves this number of free outputs to them. To compute Ahead, number the clones of each
	// task. Then count the clones with a lower number that are ready to read this input and were not told to read
	// it yet. With Ahead the same clones get the first outputs of all inputs. If Ahead is 0, the clone reads the
	// first free output.
	Ahead int
}

// Decision says what a clone of a downstream task should do now. Decisions can be compared with ==. A Decision
// prints as one line, logs as fields, and marshals to JSON with the names of its action and reason. The zero value
// reads no input.
type Decision struct {
	// Action is Wait, Read or ReadShared.
	Action Action
	// Reason says why the clone should read or wait.
	Reason Reason
	// Input and Clone are the index of the input to read, and the index of the upstream clone whose output to
	// read. Both are 0 if Action is Wait.
	Input, Clone int
	// KillRest is true if the window of this clone for the input is over while upstream clones still run. The host
	// should then kill these upstream clones, but with an exception. Do not kill them while another clone of the
	// downstream task still waits for this input and its window is not over [Dolly §4.4].
	KillRest bool
	// Wait is the longest time until the host should call Decide again. It is 0 if the answer does not depend on
	// time. The host should also call Decide again when an upstream clone finishes or fails, and when a clone that
	// [Input.Ahead] includes has chosen an output.
	Wait time.Duration
}

// Decide tells a clone of a downstream task which output to read now, or how long to wait. It implements delay
// assignment [Dolly §4.4]. inputs are the upstream tasks that the clone must still read. Several upstream clones
// may finish with the same output. The clone waits for at most window to get an output that no other clone of its
// task reads. Call Decide only while the clone reads no input.
//
// For each input, Decide follows these rules:
//
//   - The clone reads a finished output immediately under two conditions: no other clone of its task reads the
//     output, and the output is not left to a clone that may choose before (see [Input.Ahead]).
//   - Otherwise the clone waits until it has waited for the window, or until no further upstream clone can finish.
//     Then it reads the output with the fewest readers.
//   - If all clones of the upstream task have failed, Decide ignores the input.
//
// If several inputs or outputs are possible, Decide chooses the first. An output that the clone reads alone comes
// before an output that it shares. So a clone with many inputs waits only if there is nothing that it may read
// now. With a window of 0 no clone waits, as in the paper's contention cloning (CC). There, clones do not choose
// between outputs. With a window of [Forever] Decide is contention-avoidance cloning (CAC). A negative window or wait
// is replaced by 0.
//
// It is important which clone reads which output. Suppose that some upstream clones are slow. In the paper's risk
// of CAC (equation 2), the fast outputs of all upstream tasks go to the same downstream clones. Ten tasks with
// three clones each, in which a clone is slow with probability 0.1, then have a risk of 0.233. If each output goes
// to the clone that asks first, nearly every clone reads a slow output, and the risk is 0.588. [Input.Ahead] gives
// the outputs to the same clones. If you do not use Ahead, let the clones always ask in the same order. Cost:
// O(upstream clones), no allocation.
func Decide(inputs []Input, window time.Duration) Decision {
	share := Decision{}                   // the first input whose output must be shared
	wait := Decision{Reason: NothingLeft} // the answer if the clone may not read any output now
	longest := time.Duration(0)           // the longest time that the clone has waited for an input with an open window
	for i := range inputs {
		in := &inputs[i]
		own, shared, running := in.look()
		waited := max(in.Waited, 0)
		switch {
		case own >= 0:
			return Decision{Action: Read, Reason: OwnOutput, Input: i, Clone: own}
		case shared < 0 && running:
			if wait.Reason == NothingLeft {
				wait.Reason = NothingFinished
			}
		case shared < 0:
		case running && window > waited:
			wait.Reason = WindowOpen
			longest = max(longest, waited)
		case share.Action == Wait:
			share = Decision{Action: ReadShared, Reason: NoMoreOutputs, Input: i, Clone: shared}
			if running {
				share.Reason, share.KillRest = WindowOver, true
			}
		}
	}
	if share.Action == ReadShared {
		return share
	}
	if wait.Reason == WindowOpen && window != Forever {
		wait.Wait = window - longest
	}
	return wait
}

// look returns three results: the index of an output that this clone can read alone, the index of an output that
// it can share, and whether an upstream clone still runs. An index is -1 if there is no such output. The clone
// shares an output that is left to a clone ahead only if no other output is finished.
func (in *Input) look() (own, shared int, running bool) {
	own, shared = -1, -1
	free, fewest := 0, math.MaxInt
	for i := range in.Clones {
		switch c := &in.Clones[i]; {
		case c.State != Finished:
			running = running || c.State == Running
		case c.Readers <= 0:
			if own < 0 && free >= in.Ahead {
				own = i
			}
			free++
		case c.Readers < fewest:
			shared, fewest = i, c.Readers
		}
	}
	if shared < 0 && free > 0 {
		shared = slices.IndexFunc(in.Clones, func(c Clone) bool { return c.State == Finished })
	}
	return own, shared, running
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action != Wait).Int("input", &d.Input)
	c.When(d.Action != Wait).Int("clone", &d.Clone)
	c.Bool("kill-rest", &d.KillRest)
	c.Duration("wait", &d.Wait)
}

// String returns the decision as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
