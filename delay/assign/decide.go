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

// Copy is one copy of an upstream task, as of now.
type Copy struct {
	State State
	// Readers is how many other clones of the same downstream task read it, or are about to.
	Readers int
}

// Input is an upstream task whose output a downstream clone has still to read.
type Input struct {
	// Copies are the upstream task's copies. A decision refers to them by index.
	Copies []Copy
	// Waited is how long the clone has been ready to read it with at least one copy finished. It counts against ω.
	Waited time.Duration
	// Ahead is how many clones of the same downstream task come before this one and have neither read this input nor
	// been told to: as many free copies are left to them. Number the clones of each task, and let Ahead count those of
	// a lower number that are ready to read; then the same clones get the early copies of all inputs. 0 takes the first
	// free copy.
	Ahead int
}

// Decision says what a downstream clone should do now. It is a plain value: it can be compared with ==, prints as one
// line, logs as structured fields and marshals to JSON with its action and reason by name. The zero value reads
// nothing.
type Decision struct {
	Action Action
	Reason Reason
	// Input and Copy say what to read; both are 0 for Wait.
	Input, Copy int
	// KillRest says that the window of the input is over for this clone, so that its copies that still run are to be
	// killed, unless the window of another clone that has not read it is open [Dolly §4.4].
	KillRest bool
	// Wait is when to ask again at the latest, counted from now; 0 if that is not a matter of time. Ask again, too,
	// when an upstream copy finishes or fails, and when a clone ahead has taken a copy.
	Wait time.Duration
}

// Decide is delay assignment [Dolly §4.4]: it tells one clone of a downstream task, which has still to read the given
// inputs and reads nothing at the moment, what to read now, or how long to wait. A finished copy that no other clone of
// its task reads, and that is not left to one ahead, is read at once. Otherwise the clone waits, for each input, until
// it has waited for the window ω, or until no more copies are to come, and then shares the copy with the fewest
// readers. An input whose copies are all lost is left out.
//
// Of several inputs or copies that would do, the first is taken, and a copy of one's own before a shared one: a clone
// that reads many inputs only waits when there is none that it may read now. A window of 0 is contention cloning (CC),
// [Forever] is contention-avoidance cloning (CAC); a window or a wait below 0 counts as 0.
//
// Pairing matters. The paper's risk of CAC (equation 2) needs the good copies of all upstream tasks to go to the same
// downstream clones: .233 for ten tasks and three copies at p = 0.1. If each copy goes to whoever asks first, nearly
// every clone gets some bad input, and the risk is .588. [Input.Ahead] is what coordinates; without it, let the clones
// ask in one order. O(copies), no allocation.
func Decide(inputs []Input, window time.Duration) Decision {
	share := Decision{}                   // the first input that is to be shared
	wait := Decision{Reason: NothingLeft} // what there is to wait for if none is
	for i := range inputs {
		in := &inputs[i]
		own, shared, running := in.look()
		waited := max(in.Waited, 0)
		switch {
		case own >= 0:
			return Decision{Action: Read, Reason: OwnCopy, Input: i, Copy: own}
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
			share = Decision{Action: ReadShared, Reason: NoMoreCopies, Input: i, Copy: shared}
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

// look returns the free copy that is the clone's own, the copy that it would share, -1 if there is none, and whether
// any copy still runs. A copy that is left to a clone ahead is shared only if no other has finished.
func (in *Input) look() (own, shared int, running bool) {
	own, shared = -1, -1
	free, fewest := 0, math.MaxInt
	for i := range in.Copies {
		switch c := &in.Copies[i]; {
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
		shared = slices.IndexFunc(in.Copies, func(c Copy) bool { return c.State == Finished })
	}
	return own, shared, running
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action != Wait).Int("input", &d.Input)
	c.When(d.Action != Wait).Int("copy", &d.Copy)
	c.Bool("kill-rest", &d.KillRest)
	c.Duration("wait", &d.Wait)
}

// String returns the decision as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (d Decision) String() string                   { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value             { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error)     { return wire.JSON(d.wire) }
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
