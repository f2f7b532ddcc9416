package replicate

import (
	"time"

	"github.com/straggler-go/straggler/internal/merge"
)

// What many processes see of the same machines, and pass on to each other.

func (c LossesConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Window}
}

// SetName says by which name the processes of a fleet know a machine. Where a Losses has an Origin, only machines with
// a name count. It reports false, and changes nothing, for a machine that does not exist, for a name that is empty or
// longer than 255 bytes, and where the machine has another name or the name another machine. O(1).
func (l *Losses) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(l.machine) && l.fleet.SetName(machine, name)
}

// shared is the probability by what all processes have seen; that of the cluster for a machine without a name.
func (l *Losses) shared(machine int) float64 {
	c, now := l.config.choices(), l.clock.Since
	all := l.fleet.Kept(c, now, "")
	cluster := drawn(all.Of, all.Hits, l.config.Weight, l.config.Prior)
	name := l.fleet.Name(machine)
	if name == "" {
		return cluster
	}
	own := l.fleet.Kept(c, now, name)
	return drawn(own.Of, own.Hits, l.config.Weight, cluster)
}

// lossesForm is how losses are passed on.
func lossesForm() merge.Form[merge.Fact] { return merge.CountsForm("replicate", 'l', false) }

// AppendVersion appends what l knows, as far as a process that knows more must know that to say the rest.
func (l *Losses) AppendVersion(dst []byte) []byte { return l.fleet.AppendVersion(lossesForm(), dst) }

// AppendDelta appends what l knows beyond a version, that of the reader by its AppendVersion; nil stands for one that
// knows nothing. With origins it says only what these have seen. It is an error if since is no version. Some 10 bytes
// for each machine and sixteenth in which something was counted, however much, and its name. O(what is kept).
func (l *Losses) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return l.fleet.AppendDelta(lossesForm(), l.config.choices(), l.clock.Since, dst, since, origins)
}

// Merge takes in what another process has seen, by its AppendDelta, in any order, and as often as it comes: those that
// know the same give the same answers at the same instant, to the last bit. Of a machine's sixteenth, what one process
// has counted is at most as much as what all others have. It is an error, and nothing is taken, if l has no Origin,
// delta is damaged or none, or, a FieldError, if it comes from more than MaxSkew ahead of now. O(what is kept).
func (l *Losses) Merge(now time.Time, delta []byte) error {
	c := l.config.choices()
	return l.fleet.Merge(lossesForm(), c, c.At(&l.clock, now), delta)
}
