package replicate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/wire"
)

// LossesConfig contains an operator's choices for a [Losses]. The zero value has the defaults below. The paper
// gives no numbers. It says that the probability of loss is estimated for each machine over a long period. It also
// says that the set of machines with the most losses is constant over days, but changes over weeks [Mantri §4.2,
// §5.3].
type LossesConfig struct {
	// Window is how long outputs and losses are included in the record, at least 16 ns. 0 means a week.
	Window time.Duration
	// Prior is the probability of loss, in (0, 1), that is assumed before any outputs are recorded. 0 means 0.001.
	Prior float64 `want:"probability"`
	// Weight is a number of outputs. If a machine has this many outputs, its own record has the same weight as the
	// record of the cluster. If the cluster has this many outputs, its record has the same weight as Prior. 0 means
	// 100.
	Weight float64 `want:"factor"`
}

// Effective returns the configuration with its defaults filled in.
func (c LossesConfig) Effective() LossesConfig {
	c.Window = check.Or(c.Window, 7*24*time.Hour)
	c.Prior = check.Or(c.Prior, 0.001)
	c.Weight = check.Or(c.Weight, 100)
	return c
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field, its
// value and its range.
func (c LossesConfig) Validate() error {
	const place = "replicate: LossesConfig"
	return cmp.Or(check.Valid(c), check.Least(place, "Window", c.Effective().Window, sixteenths))
}

// MarshalJSON returns the fields that are not zero as JSON. Names are in kebab case, durations are in seconds, and
// Off is -1. UnmarshalJSON reads that form.
func (c LossesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *LossesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Losses learns for each machine how probable it is that an output is lost before a task reads it. It combines the
// record of the machine in the last Window with the record of the whole cluster:
//
//	Probability = (lost + Weight*cluster) / (outputs + Weight), at most 1
//	cluster     = (all lost + Weight*Prior) / (all outputs + Weight), at most 1
//
// Here lost and outputs are the numbers of lost outputs and of all outputs of the machine. So a new machine starts
// with the probability of the cluster, and a single loss changes little.
//
// The window moves in steps of a sixteenth of its length. The host numbers the machines from 0 and passes the
// times. If the host's clock steps back, time continues from the earlier reading. The zero value has no machines
// and answers with the probability of the cluster. A Losses is not safe for concurrent use. Use a separate Losses
// for each cluster.
type Losses struct {
	config  LossesConfig
	clock   clock.Clock
	cluster record
	machine []record
}

// sixteenths is the number of parts into which a window is divided.
const sixteenths = 16

// record has the number of outputs and the number of losses in each sixteenth of the window, and their sums over
// the window. The numbers are in a ring with one element for each sixteenth.
type record struct {
	// The number of the newest sixteenth in the ring; sixteenths are numbered from the first instant on.
	latest        int64
	outputs, lost [sixteenths]int64
	sumOutputs    int64
	sumLost       int64
}

// NewLosses returns a Losses for n machines. It returns an error if n is negative or if a field of c is out of
// range; the error names the field. NewLosses allocates 280 bytes for each machine. Later calls allocate nothing,
// except Resize, the methods that write snapshots, and the methods that share records with other processes.
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

// Config returns the configuration with the defaults filled in.
func (l *Losses) Config() LossesConfig { return l.config.Effective() }

// Resize changes the number of machines. New machines have no record. If the number becomes smaller, the records of
// the machines at its end are removed, but their outputs and losses stay in the record of the cluster. A negative
// number is treated as 0. Resize takes O(m) for m new machines. It allocates only if the number grows.
func (l *Losses) Resize(machines int) {
	l.machine = resized(l.machine, max(machines, 0))
}

// Produced records that tasks have left this number of outputs on the machine. It returns false and records nothing
// if the machine is unknown or if outputs is not in 1 to 1e9. O(1), no allocation.
func (l *Losses) Produced(now time.Time, machine, outputs int) bool {
	return l.count(now, machine, int64(outputs), 0)
}

// Lost records that this number of the machine's outputs are lost. It returns false and records nothing if the
// machine is unknown or if outputs is not in 1 to 1e9. O(1), no allocation.
func (l *Losses) Lost(now time.Time, machine, outputs int) bool {
	return l.count(now, machine, 0, int64(outputs))
}

// Probability returns the probability, in (0, 1], that an output of the machine is lost. For an unknown machine it
// returns the probability of the cluster. O(1), no allocation.
func (l *Losses) Probability(now time.Time, machine int) float64 {
	at, c := l.sixteenth(now), l.Config()
	cluster := l.cluster.share(at, c.Weight, c.Prior)
	if machine < 0 || machine >= len(l.machine) {
		return cluster
	}
	return l.machine[machine].share(at, c.Weight, cluster)
}

// share returns the probability of loss from a record and a prior probability, whose weight is a number of outputs.
func (r *record) share(at int64, weight, prior float64) float64 {
	r.advance(at)
	return smoothed(r.sumOutputs, r.sumLost, weight, prior)
}

// smoothed returns the weighted mean of lost/outputs and prior. The weight of lost/outputs is outputs, and the
// weight of prior is weight.
func smoothed(outputs, lost int64, weight, prior float64) float64 {
	return min(1, (float64(lost)+float64(weight*prior))/(float64(outputs)+weight))
}

// count adds a number of outputs and a number of losses to the records of the machine and of the cluster.
func (l *Losses) count(now time.Time, machine int, outputs, lost int64) bool {
	if machine < 0 || machine >= len(l.machine) || outputs < 0 || lost < 0 || outputs+lost == 0 || outputs+lost > 1e9 {
		return false
	}
	at := l.sixteenth(now)
	l.machine[machine].count(at, outputs, lost)
	l.cluster.count(at, outputs, lost)
	return true
}

// count adds a number of outputs and a number of losses to the sixteenth of the window that has the number at.
func (r *record) count(at, outputs, lost int64) {
	r.advance(at)
	i := at % sixteenths
	r.outputs[i] += outputs
	r.sumOutputs += outputs
	r.lost[i] += lost
	r.sumLost += lost
}

// sixteenth returns the number of the sixteenth of the window that contains now: the number of whole sixteenths
// between the first instant seen and now.
func (l *Losses) sixteenth(now time.Time) int64 {
	return int64(l.clock.At(now)) / (int64(l.Config().Window) / sixteenths)
}

// advance moves the ring to the sixteenth with the number at, and removes the sixteenths that have left the window.
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
