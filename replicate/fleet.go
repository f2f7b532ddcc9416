package replicate

import (
	"time"

	"github.com/straggler-go/straggler/internal/merge"
)

// This file merges the records of several processes that observe the same machines.

// choices returns the part of the configuration that package merge needs.
func (c LossesConfig) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: c.Window}
}

// SetName sets the name of a machine that all processes of a fleet use. If [LossesConfig.Origin] is set, only
// machines with a name count. SetName returns false and changes nothing in these cases:
//
//   - The machine is unknown.
//   - The name is empty or longer than 255 bytes.
//   - The machine has another name, or another machine has this name.
//
// O(1).
func (l *Losses) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(l.machine) && l.fleet.SetName(machine, name)
}

// shared returns the probability of loss from the counts of all processes. For a machine without a name it returns
// the probability of the cluster.
func (l *Losses) shared(machine int) float64 {
	c, now := l.config.choices(), l.clock.Since
	all := l.fleet.Kept(c, now, "")
	cluster := smoothed(all.Of, all.Hits, l.config.Weight, l.config.Prior)
	name := l.fleet.Name(machine)
	if name == "" {
		return cluster
	}
	own := l.fleet.Kept(c, now, name)
	return smoothed(own.Of, own.Hits, l.config.Weight, cluster)
}

// lossesForm returns the encoding of deltas and versions.
func lossesForm() merge.Form[merge.Fact] { return merge.CountsForm("replicate", 'l', false) }

// AppendVersion appends the version of l to dst: which counts of each process l has. Send the version to another
// process. The other process passes the version to [Losses.AppendDelta] and sends back only the counts that l lacks.
func (l *Losses) AppendVersion(dst []byte) []byte { return l.fleet.AppendVersion(lossesForm(), dst) }

// AppendDelta appends to dst the counts of l that the version since lacks. The version comes from the reader's
// AppendVersion; nil means a reader without counts. If origins are given, the delta holds only counts of these
// processes. An invalid version is an error.
//
// A delta takes about 10 bytes and the machine's name for each machine and each sixteenth of the window with a count.
// The size of the counts does not matter. O(k) for k kept counts.
func (l *Losses) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return l.fleet.AppendDelta(lossesForm(), l.config.choices(), l.clock.Since, dst, since, origins)
}

// Merge adds the counts of a delta that another process made by AppendDelta. Deltas may arrive in any order and any
// number of times. Processes with the same counts give the same answers at the same instant, to the last bit.
//
// For each machine and each sixteenth of the window, the counts of one process never weigh more than the counts of
// all other processes together.
//
// Merge returns an error and changes nothing if l has no Origin, or if delta is damaged or is no delta. It returns a
// FieldError if the delta comes from a clock more than MaxSkew ahead of now. O(k) for k kept counts.
func (l *Losses) Merge(now time.Time, delta []byte) error {
	c := l.config.choices()
	return l.fleet.Merge(lossesForm(), c, c.At(&l.clock, now), delta)
}
