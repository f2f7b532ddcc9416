package replicate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/wire"
)

// LossesConfig holds the choices of a [Losses]. Its zero value is usable. The paper says no more than that the
// probability is estimated for a machine over a long period, and that the machines that lose most stay the same over
// days but not over weeks [Mantri §4.2, §5.3].
type LossesConfig struct {
	// Window is how far back outputs and losses count. 0 means a week.
	Window time.Duration
	// Prior is the probability of loss to assume before anything is known, in (0, 1). 0 means 0.001.
	Prior float64
	// Weight is the number of outputs at which a machine's own record weighs as much as the cluster's, and the
	// cluster's as much as Prior. 0 means 100.
	Weight float64
	// Origin is the name of this process among those that pass on to each other what is lost on the same machines, by
	// [Losses.AppendDelta] and [Losses.Merge]. It is of at most 255 bytes, and no other has it. Empty: nothing is passed
	// on.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead: a delta from further in the future is refused. 0
	// means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c LossesConfig) Effective() LossesConfig {
	c.Window = check.Or(c.Window, 7*24*time.Hour)
	c.Prior = check.Or(c.Prior, 0.001)
	c.Weight = check.Or(c.Weight, 100)
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c LossesConfig) Validate() error {
	const place = "replicate: LossesConfig"
	return cmp.Or(
		check.Least(place, "Window", c.Effective().Window, sixteenths),
		check.Probability(place, "Prior", c.Prior),
		check.Factor(place, "Weight", c.Weight),
		c.choices().Validate(place),
	)
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c LossesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LossesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Losses learns for each machine how probable it is that an output on it is lost before it is read: the share of the
// outputs of the last Window that were, drawn towards the share of the whole cluster, which in turn is drawn towards
// Prior. So a new machine is taken to be as good as the others, and one loss does not condemn it.
//
//	Probability = (lost + Weight*cluster) / (outputs + Weight), cluster likewise from Prior, at most 1
//
// The window slides in sixteenths. Times come from the host; time goes on from where its clock steps back to. Machines
// are numbered from 0 by the host. The zero value has no machines, and answers with the cluster's share. Not safe for
// concurrent use; one per cluster.
type Losses struct {
	config  LossesConfig
	clock   clock.Clock
	cluster record
	machine []record
	fleet   merge.Fleet
}

// sixteenths is how many parts a window slides in.
const sixteenths = 16

// record counts outputs and losses by sixteenths, in a ring, with their sums.
type record struct {
	latest        int64 // the sixteenth that the ring is at
	outputs, lost [sixteenths]int64
	sumOutputs    int64
	sumLost       int64
}

// NewLosses returns a Losses for n machines, or an error that names the field that is out of range. It allocates 280
// bytes a machine, and nothing after that.
func NewLosses(n int, c LossesConfig) (*Losses, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, check.Bad("replicate", "the number of machines", n, "0 or more")
	}
	return &Losses{config: c, machine: make([]record, n)}, nil
}

// Config returns the configuration with its defaults filled in.
func (l *Losses) Config() LossesConfig { return l.config.Effective() }

// Resize changes the number of machines. New ones come without a past; those beyond the number are forgotten, except in
// the cluster's share. A number below 0 counts as 0. O(m) with m new machines; allocates only to grow.
func (l *Losses) Resize(machines int) {
	l.machine = resized(l.machine, max(machines, 0))
	l.fleet.Resize(len(l.machine))
}

// Produced records that a number of outputs were left on the machine. It reports whether that was used: a machine that
// does not exist is not, nor is a number that is not positive or above a billion. O(1), no allocation.
func (l *Losses) Produced(now time.Time, machine, outputs int) bool {
	return l.count(now, machine, int64(outputs), 0)
}

// Lost records that a number of outputs of the machine were found to be lost, as Produced does.
func (l *Losses) Lost(now time.Time, machine, outputs int) bool {
	return l.count(now, machine, 0, int64(outputs))
}

// Probability returns the probability that an output of the machine is lost, in (0, 1]; for a machine that does not
// exist, that of the cluster. O(1), no allocation.
func (l *Losses) Probability(now time.Time, machine int) float64 {
	at, c := l.sixteenth(now), l.Config()
	if c.Origin != "" {
		return l.shared(machine)
	}
	cluster := l.cluster.share(at, c.Weight, c.Prior)
	if machine < 0 || machine >= len(l.machine) {
		return cluster
	}
	return l.machine[machine].share(at, c.Weight, cluster)
}

// share is the share lost of a record, drawn towards prior.
func (r *record) share(at int64, weight, prior float64) float64 {
	r.advance(at)
	return drawn(r.sumOutputs, r.sumLost, weight, prior)
}

// drawn is a share lost, drawn towards prior.
func drawn(outputs, lost int64, weight, prior float64) float64 {
	return min(1, (float64(lost)+float64(weight*prior))/(float64(outputs)+weight))
}

func (l *Losses) count(now time.Time, machine int, outputs, lost int64) bool {
	if machine < 0 || machine >= len(l.machine) || outputs < 0 || lost < 0 || outputs+lost == 0 || outputs+lost > 1e9 {
		return false
	}
	at := l.sixteenth(now)
	if c := l.config.choices(); c.Origin != "" {
		return l.fleet.Add(c, l.clock.Since, machine, merge.Count{Of: outputs, Hits: lost})
	}
	l.machine[machine].count(at, outputs, lost)
	l.cluster.count(at, outputs, lost)
	return true
}

func (r *record) count(at, outputs, lost int64) {
	r.advance(at)
	i := at % sixteenths
	r.outputs[i] += outputs
	r.sumOutputs += outputs
	r.lost[i] += lost
	r.sumLost += lost
}

// sixteenth returns how many sixteenths of the window had passed since the first time seen.
func (l *Losses) sixteenth(now time.Time) int64 {
	return int64(l.config.choices().At(&l.clock, now)) / (int64(l.Config().Window) / sixteenths)
}

// advance empties the sixteenths that have left the window since.
func (r *record) advance(at int64) {
	if at-r.latest >= sixteenths {
		*r = record{latest: at}
	}
	for r.latest < at {
		r.latest++
		i := r.latest % sixteenths
		r.sumOutputs -= r.outputs[i]
		r.sumLost -= r.lost[i]
		r.outputs[i], r.lost[i] = 0, 0
	}
}
