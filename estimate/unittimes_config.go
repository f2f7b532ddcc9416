package estimate

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// usualMinSamples is the number of samples that [UnitTimes] wants before it trusts them. The paper gives none; three is
// the least at which one odd task is outvoted.
const usualMinSamples = 3

// UnitTimesConfig holds the choices of a [UnitTimes]. Its zero value is usable.
type UnitTimesConfig struct {
	// MinSamples is how many samples are enough. With fewer, Prior stands in. 0 means 3.
	MinSamples int
	// Prior is what the host expects of the phase before enough tasks were seen: seconds per unit of work. Nil:
	// nothing.
	Prior Distribution
	// Floor is the least work, in units, that counts: a task with less is taken to have this much. A task that reads
	// nearly nothing takes its start-up time all the same, and would otherwise show an absurd rate. 0 means no floor. A
	// tenth of the phase's mean work is a good choice.
	Floor float64
	// FixedOverhead keeps the overhead at 0, which is equation 3 as printed; see [UnitTimes.Overhead].
	FixedOverhead bool
	// KeepFirstWave keeps the samples of a phase's first wave for good. By default each task of a later wave that
	// finishes pushes one of the first wave out: first waves run cold (44 % slower at the median of the TPC-H runs of
	// Decima), and a copy that is made later does not.
	KeepFirstWave bool
	// Factors tells how slow each machine is: samples count as if they had been taken on an average machine, also those
	// that were taken before the machine was known. Without it, the copies on a bad machine make every new copy look
	// slow. Nil: all machines are alike.
	Factors Factors
}

// Factors tells how many times longer than on an average machine a task takes on a given one; machines.Record does. An
// answer that is not a positive finite number counts as 1.
type Factors interface{ Factor(machine int) float64 }

// Effective returns the configuration with its defaults filled in.
func (c UnitTimesConfig) Effective() UnitTimesConfig {
	c.MinSamples = check.Or(c.MinSamples, usualMinSamples)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c UnitTimesConfig) Validate() error {
	const place = "estimate: UnitTimesConfig"
	return cmp.Or(check.Count(place, "MinSamples", c.MinSamples, false), check.Factor(place, "Floor", c.Floor))
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c UnitTimesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *UnitTimesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Run is what a host knows of one copy's run.
type Run struct {
	// Age is how long the copy has run so far; for one that has ended, the whole time.
	Age time.Duration
	// Work is its task's work, in the phase's units.
	Work float64
	// Done is how much of Work it has done. More than Work counts as Work, and so does whatever stands here for a copy
	// that has finished.
	Done float64
	// Machine is where it runs, by the number that UnitTimesConfig.Factors knows; it is not read without those.
	Machine int
	// Path is how many times longer the copy takes because of the way to its data; 0 stands for 1. The sample counts
	// as if the way had been average.
	Path float64
	// FirstWave says that the copy is of its phase's first wave.
	FirstWave bool
}
