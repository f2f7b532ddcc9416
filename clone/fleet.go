package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

// What many processes see of the same machines, and pass on to each other.

func (c BlacklistConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.Window, merge.Slots)}
}

// SetName says by which name the processes of a fleet know a machine. Where a Blacklist has an Origin, only machines
// with a name are observed. It reports false, and changes nothing, for a machine that does not exist, for a name that
// is empty or longer than 255 bytes, and where the machine has another name or the name another machine. O(1).
func (b *Blacklist) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(b.machine) && b.fleet.SetName(machine, name)
}

// rollShared predicts again from the 15 windows before the present one, if it is another, or more is known of them.
// Windows begin at multiples of their length since 1970.
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
			if b.predict(&b.machine[i], average, float64(n.Hits)/float64(n.Of)); b.machine[i].predicted > b.config.Threshold {
				b.worst = append(b.worst, int32(i))
			}
		}
	}
	b.banWorst()
}

// blacklistForm is how it is passed on which tasks straggled.
func blacklistForm() merge.Form[merge.Fact] { return merge.CountsForm("clone", 'b', true) }

// AppendVersion appends what b knows, as far as a process that knows more must know that to say the rest.
func (b *Blacklist) AppendVersion(dst []byte) []byte {
	return b.fleet.AppendVersion(blacklistForm(), dst)
}

// AppendDelta appends what b knows beyond a version, that of the reader by its AppendVersion; nil stands for one that
// knows nothing. With origins it says only what these have seen. It is an error if since is no version. Some 10 bytes
// for each machine and window in which a task ended, however many, and its name. O(what is kept).
func (b *Blacklist) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return b.fleet.AppendDelta(blacklistForm(), b.config.choices(), b.period.clock.Since, dst, since, origins)
}

// Merge takes in what another process has seen, by its AppendDelta, in any order, and as often as it comes: those that
// know the same ban the same machines at the same instant. A prediction rests on 15 windows; of a machine's window,
// what one process has counted is at most as much as what all others have. It is an error, and nothing is taken, if b
// has no Origin, delta is damaged or none, or, a FieldError, if it comes from more than MaxSkew ahead of now. O(what is
// kept).
func (b *Blacklist) Merge(now time.Time, delta []byte) error {
	c := b.config.choices()
	err := b.fleet.Merge(blacklistForm(), c, c.At(&b.period.clock, now), delta)
	if c.Origin != "" {
		b.rollShared(now, err == nil)
	}
	return err
}
