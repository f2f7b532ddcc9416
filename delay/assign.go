package delay

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// State is what an upstream copy does. The names and values are stable.
type State uint8

const (
	// Running is the zero value; a copy that is queued counts as running.
	Running State = iota
	// Finished copies can be read.
	Finished
	// Failed copies will not finish, or their output is lost.
	Failed
)

var stateNames = [...]string{"running", "finished", "failed"}

// String returns the state's name.
func (s State) String() string {
	return enum.Name(stateNames[:], int(s), "State")
}

// Copy is one copy of an upstream task, as of now.
type Copy struct {
	State State
	// Readers is how many other clones of the same downstream task read it, or have been told to.
	Readers int
}

// Input is an upstream task whose output a downstream clone has still to read.
type Input struct {
	// Copies are the upstream task's copies. An assignment refers to them by index.
	Copies []Copy
	// Waited is how long the clone has been ready to read it with at least one copy finished. It counts against ω.
	Waited time.Duration
}

// Assignment says what a downstream clone should do now. It is a plain value: it can be compared with ==, prints as one
// line and logs as structured fields. The zero value reads nothing.
type Assignment struct {
	// Action is Wait, Read or Share.
	Action Action
	Reason Reason
	// Input and Copy say what to read; both are 0 for Wait.
	Input, Copy int
	// KillRest says that the window of the input is over for this clone, so that its copies that still run are to be
	// killed, unless the window of another clone that has not read it is open [Dolly §4.4].
	KillRest bool
	// Wait is when to ask again at the latest, counted from now; 0 if that is not a matter of time. Ask again, too, when
	// an upstream copy finishes or fails.
	Wait time.Duration
}

// Assign is delay assignment [Dolly §4.4]: it tells one clone of a downstream task, which has still to read the given
// inputs and reads nothing at the moment, what to read now, or how long to wait. A finished copy that no other clone of
// its task reads is read at once. Otherwise the clone waits, for each input, until it has waited for the window ω, or
// until no more copies are to come, and then shares the finished copy with the fewest readers. An input whose copies
// are all lost is left out.
//
// Of several inputs or copies that would do, the first is taken, and a copy of one's own before a shared one: a clone
// that reads many inputs only waits when there is none that it may read now. A window of 0 is contention cloning (CC),
// [Forever] is contention-avoidance cloning (CAC); a window or a wait below 0 counts as 0. O(copies), no allocation.
func Assign(inputs []Input, window time.Duration) Assignment {
	share := Assignment{}                   // the first input that is to be shared
	wait := Assignment{Reason: NothingLeft} // what there is to wait for if none is
	for i := range inputs {
		in := &inputs[i]
		best, running := in.look()
		left := num.Sub(window, max(in.Waited, 0))
		switch {
		case best < 0 && running:
			if wait.Reason == NothingLeft {
				wait.Reason = NothingFinished
			}
		case best < 0:
		case in.Copies[best].Readers <= 0:
			return Assignment{Action: Read, Reason: OwnCopy, Input: i, Copy: best}
		case running && left > 0:
			wait.Reason = WindowOpen
			if window != Forever && (wait.Wait == 0 || left < wait.Wait) {
				wait.Wait = left
			}
		case share.Action == Wait:
			share = Assignment{Action: Share, Reason: NoMoreCopies, Input: i, Copy: best}
			if running {
				share.Reason, share.KillRest = WindowOver, true
			}
		}
	}
	if share.Action == Share {
		return share
	}
	return wait
}

// look returns the finished copy with the fewest readers, -1 if none has finished, and whether any still runs.
func (in *Input) look() (best int, running bool) {
	best = -1
	for i, c := range in.Copies {
		switch c.State {
		case Running:
			running = true
		case Finished:
			if best < 0 || c.Readers < in.Copies[best].Readers {
				best = i
			}
		}
	}
	return best, running
}

// String returns the assignment as one line.
func (a Assignment) String() string {
	b := make([]byte, 0, 64)
	b = append(b, a.Action.String()...)
	b = append(append(b, ' '), a.Reason.String()...)
	if a.Action != Wait {
		b = strconv.AppendInt(append(b, " input="...), int64(a.Input), 10)
		b = strconv.AppendInt(append(b, " copy="...), int64(a.Copy), 10)
	}
	if a.KillRest {
		b = append(b, " kill-rest"...)
	}
	return string(appendDuration(b, " wait=", a.Wait))
}

// LogValue returns the assignment as a group of fields, for log/slog.
func (a Assignment) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 6)
	attrs = append(attrs, slog.String("action", a.Action.String()), slog.String("reason", a.Reason.String()))
	if a.Action != Wait {
		attrs = append(attrs, slog.Int("input", a.Input), slog.Int("copy", a.Copy))
	}
	if a.KillRest {
		attrs = append(attrs, slog.Bool("kill_rest", true))
	}
	if a.Wait != 0 {
		attrs = append(attrs, slog.Duration("wait", a.Wait))
	}
	return slog.GroupValue(attrs...)
}
