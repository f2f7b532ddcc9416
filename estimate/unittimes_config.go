package estimate

import (
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// defaultMinSamples is the number of samples that [UnitTimes] needs before it uses them instead of the Prior. The
// paper gives no number. Three is the smallest number at which the two usual samples outvote an odd sample.
const defaultMinSamples = 3

// UnitTimesConfig contains the choices of a [UnitTimes]. Its zero value is usable.
type UnitTimesConfig struct {
	// MinSamples is the number of samples that UnitTimes needs before it uses them. With fewer samples UnitTimes
	// uses Prior. 0 means 3.
	MinSamples int `want:"count"`
	// Prior is the distribution of the time per unit of work, in seconds, that the host expects before enough tasks
	// of the phase have run. Nil means that the host expects nothing.
	Prior Distribution
	// Floor is the least work of a task, in units: a task with less work is treated as a task of Floor units. A
	// task that reads nearly nothing still takes its start-up time. Without a Floor, the time of such a task per
	// unit would be absurdly long. A tenth of the phase's mean work is a good choice. 0 means no floor.
	Floor float64 `want:"factor"`
	// FixedOverhead keeps the overhead at 0, so that the time of a task is proportional to its work, as in the
	// paper's equation 3; see [UnitTimes.Overhead].
	FixedOverhead bool
	// KeepFirstWave keeps all samples of a phase's first wave: the attempts that started together when the phase
	// began. By default, each finished attempt of a later wave replaces one sample of the first wave. The reason is
	// that attempts of a first wave often start on machines that have not yet loaded the program and the data. In
	// the TPC-H runs of Decima, attempts of the first wave took 44 % longer at the median.
	KeepFirstWave bool
	// Factors knows how slow each machine is. With Factors, the time of each sample is converted to the time on an
	// average machine. If the factor of a machine changes later, the samples from this machine are converted again.
	// Without Factors, the attempts on a bad machine make every new attempt look slow. Nil means that all machines
	// are alike.
	Factors Factors
}

// Factors returns how many times longer a task takes on the given machine than on an average machine. The type
// machines.Record implements this interface. An answer that is not a positive finite number is treated as 1.
type Factors interface{ Factor(machine int) float64 }

// Effective returns the configuration with its defaults filled in.
func (c UnitTimesConfig) Effective() UnitTimesConfig {
	c.MinSamples = check.Or(c.MinSamples, defaultMinSamples)
	return c
}

// Validate returns an error that names the first field that is out of range, its value and its range; or nil.
func (c UnitTimesConfig) Validate() error { return check.Valid(c) }

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (c UnitTimesConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *UnitTimesConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Run is the host's knowledge about one attempt of a task.
type Run struct {
	// Age is how long the attempt has run so far, or its whole time if it has ended.
	Age time.Duration
	// Work is the work of the attempt's task, in the units that the phase uses.
	Work float64
	// Done is the part of Work that the attempt has done, in units. A Done above Work is treated as Work. For a
	// finished attempt Done is ignored.
	Done float64
	// Machine is the number of the machine where the attempt runs, as passed to UnitTimesConfig.Factors. If Factors
	// is nil, Machine is ignored.
	Machine int
	// Path is how many times longer the attempt takes because of the network path to its data. 0 stands for 1. The
	// time of the attempt is converted to the time on an average path.
	Path float64
	// FirstWave says that the attempt belongs to the first wave of its phase: it started when the phase began, and
	// not in a slot that another task of the phase had used before.
	FirstWave bool
}
