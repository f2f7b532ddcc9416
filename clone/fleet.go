package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

// The functions below share observations of the same machines between processes.

// choices returns the settings for the exchange of observations between processes.
func (c BlacklistConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.Window, merge.Slots)}
}

// SetName sets the name by which all processes know a machine. If Origin is set, observations of a machine without
// a name are ignored. SetName returns false and does nothing in three cases. The machine does not exist or has
// another name already. The name is empty or longer than 255 bytes. Another machine has the name. Cost: O(1).
func (b *Blacklist) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(b.machine) && b.fleet.SetName(machine, name)
}

// rollShared computes the predictions from the 15 windows before the current window. It does this if a new window
// has begun, or if again is true, which means that observations were added. Windows begin at multiples of their
// length since 1970, so they are the same in all processes.
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

// blacklistForm returns the format in which processes exchange their observations of stragglers.
func blacklistForm() merge.Form[merge.Fact] { return merge.CountsForm("clone", 'b', true) }

// AppendVersion appends to dst a summary of the observations that b has. Another process passes this summary to
// AppendDelta, and then sends only observations that b does not have.
func (b *Blacklist) AppendVersion(dst []byte) []byte {
	return b.fleet.AppendVersion(blacklistForm(), dst)
}

// AppendDelta appends to dst the observations of b that another process does not have. Pass as since the result of
// the other process's AppendVersion, or nil if it has no observations. If origins are given, only the observations of
// processes with these names are appended. AppendDelta returns an error if since is not a result of AppendVersion.
// Size: about 10 bytes for each machine and window in which tasks ended, plus the name of each machine. Cost: O(n)
// for n observations.
func (b *Blacklist) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return b.fleet.AppendDelta(blacklistForm(), b.config.choices(), b.period.clock.Since, dst, since, origins)
}

// Merge adds to b the observations of another process, from the result of its AppendDelta. Deltas may be merged in
// any order, and again. Two processes with the same observations ban the same machines at the same time. A
// prediction uses 15 windows. If several processes observed a machine in a window, no process has more weight than
// all other processes together.
//
// Merge returns an error if b has no Origin, or if delta is damaged. It returns a FieldError if delta is more than
// MaxSkew ahead of now. After an error, b has no new observations. Cost: O(n) for n observations.
func (b *Blacklist) Merge(now time.Time, delta []byte) error {
	c := b.config.choices()
	err := b.fleet.Merge(blacklistForm(), c, c.At(&b.period.clock, now), delta)
	if c.Origin != "" {
		b.rollShared(now, err == nil)
	}
	return err
}
