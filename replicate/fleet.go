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

// SetName sets the name of a machine, by which all processes refer to the same machine. If [LossesConfig.Origin] is
// set, outputs and losses of machines without a name are not recorded. SetName returns false and changes nothing in
// these cases:
//
//   - The machine is unknown.
//   - The name is empty or longer than 255 bytes.
//   - The machine has another name, or another machine has this name.
//
// SetName takes O(1).
func (l *Losses) SetName(machine int, name string) bool {
	return machine >= 0 && machine < len(l.machine) && l.fleet.SetName(machine, name)
}

// shared returns the probability that an output of the machine is lost, from the counts of all processes. A count
// is a number of outputs and a number of losses. If the machine has no name, shared returns the probability for the
// whole cluster.
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

// lossesForm returns a description, for package merge, of how deltas and versions are encoded.
func lossesForm() merge.Form[merge.Fact] { return merge.CountsForm("replicate", 'l', false) }

// AppendVersion appends a version to dst: it says which counts of outputs and losses l has from each process. Send
// the version to another process. The other process passes the version to [Losses.AppendDelta] and sends back only
// the counts that l lacks.
func (l *Losses) AppendVersion(dst []byte) []byte { return l.fleet.AppendVersion(lossesForm(), dst) }

// AppendDelta appends a delta to dst: the counts of outputs and losses that l has and that another process, the
// reader, lacks. The argument since is the version that the reader got from its AppendVersion. If since is nil, the
// delta contains all counts. If origins are given, the delta contains only counts of the processes with these
// names. An invalid version is an error.
//
// Counts are kept for each machine and each sixteenth of the window. Each count takes about 10 bytes and the
// machine's name, however large the numbers are. AppendDelta takes O(k) for k counts.
func (l *Losses) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return l.fleet.AppendDelta(lossesForm(), l.config.choices(), l.clock.Since, dst, since, origins)
}

// Merge adds the counts of a delta that another process made by AppendDelta. Deltas may arrive in any order and
// more than once. Processes with the same counts give the same answers at the same instant, to the last bit.
//
// A faulty process cannot dominate the result: for each machine and each sixteenth of the window, the counts of one
// process never have more weight than the counts of all other processes together.
//
// Merge returns an error and changes nothing if l has no Origin, or if delta is damaged or is no delta. It returns
// a FieldError if the time of delta is more than MaxSkew after now. Merge takes O(k) for k counts.
func (l *Losses) Merge(now time.Time, delta []byte) error {
	c := l.config.choices()
	return l.fleet.Merge(lossesForm(), c, c.At(&l.clock, now), delta)
}
