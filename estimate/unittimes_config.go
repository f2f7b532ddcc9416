package estimate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// defaultMinSamples is the number of samples that [UnitTimes] needs before it uses them. The paper gives no number.
// Three is the smallest number at which two samples outvote an odd sample.
const defaultMinSamples = 3

// UnitTimesConfig holds the choices of a [UnitTimes]. Its zero value is usable.
type UnitTimesConfig struct {
	// MinSamples is the number of samples that UnitTimes needs. With fewer samples UnitTimes uses Prior. 0 means 3.
	MinSamples int
	// Prior is the host's expectation before enough tasks of the phase have run, in seconds per unit of work. Nil
	// means no expectation.
	Prior Distribution
	// Floor is the least work of a task, in units: a task with less work counts as a task of Floor units. A task
	// that reads nearly nothing still takes its start-up time, and without a floor would show an absurd rate. A
	// tenth of the phase's mean work is a good choice. 0 means no floor.
	Floor float64
	// FixedOverhead keeps the overhead at 0, which is equation 3 as printed; see [UnitTimes.Overhead].
	FixedOverhead bool
	// KeepFirstWave keeps all samples of a phase's first wave. By default each task of a later wave that finishes
	// replaces one sample of the first wave. The reason is that attempts of a first wave start cold: they took 44 %
	// longer at the median of the TPC-H runs of Decima. A later attempt does not start cold.
	KeepFirstWave bool
	// Factors tells how slow each machine is. With Factors, each sample is converted to the time on an average
	// machine. If a factor changes later, its samples are converted again. Without Factors, the attempts on a bad
	// machine make every new attempt look slow. Nil means that all machines are alike.
	Factors Factors
}

// Factors returns how many times longer a task takes on the given machine than on an average machine.
// machines.Record implements it. An answer that is not a positive finite number counts as 1.
type Factors interface{ Factor(machine int) float64 }

// Effective returns the configuration with its defaults filled in.
func (c UnitTimesConfig) Effective() UnitTimesConfig {
	c.MinSamples = check.Or(c.MinSamples, defaultMinSamples)
	return c
}

// Validate returns an error that names the first field out of range, its value and its range; or nil.
func (c UnitTimesConfig) Validate() error {
	const place = "estimate: UnitTimesConfig"
	return cmp.Or(check.Count(place, "MinSamples", c.MinSamples, false), check.Factor(place, "Floor", c.Floor))
}

// MarshalJSON returns the fields that are not zero. Names are kebab-case, times are in seconds, and Off is -1.
// UnmarshalJSON reads this form.
func (c UnitTimesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *UnitTimesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Run is what a host knows of one attempt.
type Run struct {
	// Age is how long the attempt has run so far, or its whole time if it has ended.
	Age time.Duration
	// Work is its task's work, in the phase's units.
	Work float64
	// Done is the part of Work that the attempt has done, in units. A Done above Work counts as Work. For a
	// finished attempt Done is not read.
	Done float64
	// Machine is the number of the machine where the attempt runs, as UnitTimesConfig.Factors knows it. Machine is
	// not read if Factors is nil.
	Machine int
	// Path is how many times longer the attempt takes because of its network path to its data; 0 stands for 1. The
	// sample is converted to the time on an average path.
	Path float64
	// FirstWave says that the attempt belongs to the first wave of its phase.
	FirstWave bool
}
