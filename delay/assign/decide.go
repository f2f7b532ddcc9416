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

// Clone is the current state of an upstream task's clone.
type Clone struct {
	// State is Running, Finished or Failed.
	State State
	// Readers is the number of other clones of the same downstream task that read this clone's output, or are about to.
	Readers int
}

// Input is an upstream task that a downstream clone must still read.
type Input struct {
	// Clones are the clones of the upstream task. A Decision refers to them by index.
	Clones []Clone
	// Waited is the time that the downstream clone has been ready to read this input while at least one upstream
	// clone was finished. Decide compares this time with the window ω.
	Waited time.Duration
	// Ahead is the number of clones of the same downstream task that come before this clone and have no output of this
	// input yet. Decide leaves this number of free outputs to them. To set Ahead, number the clones of each task. Then
	// count the clones with a lower number that are ready to read this input and were not told to read it yet. So the same
	// clones get the first outputs of all inputs. 0 takes the first free output.
	Ahead int
}

// Decision says what a downstream clone should do now. A Decision is a plain value: it can be compared with ==,
// prints as one line, logs as structured fields, and marshals to JSON with the names of its action and reason. The
// zero value reads no input.
type Decision struct {
	// Action is Wait, Read or ReadShared.
	Action Action
	// Reason says why.
	Reason Reason
	// Input and Clone are the indices of the input to read and of its upstream clone; both are 0 for Wait.
	Input, Clone int
	// KillRest says that this clone's window for the input is over. The host should then kill the upstream clones
	// that still run. The host should not kill the upstream clones while the window of another clone without this
	// input is open [Dolly §4.4].
	KillRest bool
	// Wait is the longest time until the host should ask again; 0 if the answer does not depend on time. The host
	// should also ask again when an upstream clone finishes or fails, and when a clone ahead has taken an output.
	Wait time.Duration
}

// Decide is delay assignment [Dolly §4.4]. Decide tells a clone of a downstream task what to read now, or how long to
// wait. The inputs are the upstream tasks that the clone must still read. The clone reads no input at the moment.
//
// For each input, Decide follows these rules:
//
//   - The clone reads a finished output at once, under two conditions: no other clone of its task reads the output,
//     and the output is not left to a clone ahead.
//   - Otherwise the clone waits until it has waited for the window ω, or until no further upstream clone can finish. Then
//     it shares the output with the fewest readers.
//   - Decide ignores an input if all its upstream clones have failed.
//
// If several inputs or outputs are possible, Decide takes the first. An output of the clone's own comes before a shared
// output. So a clone with many inputs waits only if it may read no input now. A window of 0 is contention cloning (CC), and
// [Forever] is contention-avoidance cloning (CAC). A negative window or wait counts as 0.
//
// Pairing matters. The paper's risk of CAC (equation 2) assumes that the good outputs of all upstream tasks go to the
// same downstream clones. The risk is 0.233 for ten tasks with three clones at p = 0.1. If each output goes to the
// clone that asks first, nearly every clone gets a bad input, and the risk is 0.588. [Input.Ahead] coordinates the
// clones. Without Ahead, let the clones always ask in the same order. O(upstream clones), no allocation.
func Decide(inputs []Input, window time.Duration) Decision {
	share := Decision{}                   // the first input whose output must be shared
	wait := Decision{Reason: NothingLeft} // the answer if the clone can neither read nor share
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
			if left := window - waited; window != Forever && (wait.Wait == 0 || left < wait.Wait) {
				wait.Wait = left
			}
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
	return wait
}

// look returns the index of an output for this clone alone, the index of an output to share, and whether an upstream clone
// still runs. An index is -1 if no such output exists. The clone shares an output that is left to a clone ahead only if no
// other output is finished.
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

// String returns the decision in one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
