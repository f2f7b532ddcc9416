package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

// The functions below share observations of the same machines between processes.

// choices returns the settings of the exchange between processes.
func (c BlacklistConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.Window, merge.Slots)}
}

// SetName sets the name by which all processes know a machine. A Blacklist with an Origin observes only machines with
// a name. SetName returns false and ignores the name if the machine does not exist, or if the name is empty or longer
// than 255 bytes. SetName also returns false if the machine has a different name already, or if the name belongs to a
// different machine. O(1).
func (b *Blacklist) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(b.machine) && b.fleet.SetName(machine, name)
}

// rollShared computes the predictions from the 15 windows before the current window. The computation happens if a new
// window has begun, or if again says that more observations are known. Windows begin at multiples of their length
// since 1970.
func (b *Blacklist) rollShared(now time.Time, again bool) {
	c := b.config.choices()
	at := c.At(&b.period.clock, now)
	start := time.Duration(c.Slot(at)) * (c.Keep / merge.Slots)
	if start == b.period.start && !again {
		return
	}
	b.period.start = start
	clear(b.machine)
	for ago := int64(merge.Slots - 1); ago > 0; ago-- {
		all := b.fleet.Of(c, at, "", ago)
		average := float64(all.Hits) / float64(max(all.Of, 1))
		b.worst = b.worst[:0]
		for i := range b.machine {
			name := b.fleet.Name(i)
			n := b.fleet.Of(c, at, name, ago)
			if name == "" || n.Of < int64(b.config.MinTasks) {
				continue
			}
			b.predict(&b.machine[i], average, float64(n.Hits)/float64(n.Of))
			if b.machine[i].predicted > b.config.Threshold {
				b.worst = append(b.worst, int32(i))
			}
		}
	}
	b.banWorst()
}

// blacklistForm is the format in which processes exchange their observations of stragglers.
func blacklistForm() merge.Form[merge.Fact] { return merge.CountsForm("clone", 'b', true) }

// AppendVersion appends a summary of the observations that b knows. With this summary, another process sends only the
// observations that b does not know.
func (b *Blacklist) AppendVersion(dst []byte) []byte {
	return b.fleet.AppendVersion(blacklistForm(), dst)
}

// AppendDelta appends the observations of b that a reader does not know yet. since is the result of the reader's
// AppendVersion, or nil for a reader without observations. If origins are given, the delta has only their observations.
// The error says that since is not a version. A delta takes about 10 bytes for each machine and window in which tasks
// ended, plus the name of each machine. O(observations kept).
func (b *Blacklist) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return b.fleet.AppendDelta(blacklistForm(), b.config.choices(), b.period.clock.Since, dst, since, origins)
}

// Merge adds the observations of another process, from its AppendDelta. The order and the repetition of deltas do not
// matter. Two processes with the same observations ban the same machines at the same time. A prediction uses 15 windows. If
// several processes observed a machine in a window, no process counts for more than all others together.
//
// The error says that b has no Origin, or that delta is damaged. The error is a FieldError if delta is more than
// MaxSkew ahead of now. After an error, b has no new observations. O(observations kept).
func (b *Blacklist) Merge(now time.Time, delta []byte) error {
	c := b.config.choices()
	err := b.fleet.Merge(blacklistForm(), c, c.At(&b.period.clock, now), delta)
	if c.Origin != "" {
		b.rollShared(now, err == nil)
	}
	return err
}
