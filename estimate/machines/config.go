package machines

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config contains the choices of a [Record]. Its zero value is usable.
type Config struct {
	// HalfLife is the age at which an attempt has half of its weight as evidence. A much older attempt has hardly
	// any weight. 0 means an hour.
	HalfLife time.Duration `want:"length" default:"1h"`
	// Trust is how strongly the record assumes that a machine is as fast as its class, as a number of attempts. Two
	// slow tasks do not outweigh a Trust of 2; three slow tasks do. 0 means 2.
	Trust float64 `want:"0 to 1e6" default:"2"`
	// Limit limits the ratio of each attempt, its time divided by its typical time, to the range from 1/Limit to
	// Limit. So the factor of a machine is limited as well. 0 means 100.
	Limit float64 `want:"1 to 1e6" default:"100"`
	// SlowFactor is a multiple of the median time of a machine's class: a machine is slow if tasks take at least
	// this many times as long there as on the median machine of the class. 0 means 2.
	SlowFactor float64 `want:"1 to 1e6" default:"2"`
	// MaxShare is the largest share of a class that may be called slow at the same time, in (0, 1/2]. This share
	// of the class's machines is rounded down to a whole number. But in a class with two or more machines, at least
	// one machine can be called slow. 0 means 0.25, the share of slow nodes in LATE.
	MaxShare float64 `want:"0 to 0.5" default:"0.25"`
	// MaxMachines is the number of machines that the record remembers. After that, each new machine replaces the
	// machine that has had no event for the longest time. 0 means 65,536.
	MaxMachines int `default:"65536"`
	// Origin is the name of this process among processes that share evidence about the same machines by
	// [Record.AppendDelta] and [Record.Merge]. The name must be unique and have at most 255 bytes. If Origin is
	// empty, the record shares nothing.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead of the clock of this process. [Record.Merge]
	// refuses a delta whose time is more than MaxSkew ahead of this clock. 0 means a minute.
	MaxSkew time.Duration `default:"1m"`
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config { return check.Filled(c) }

// Validate returns an error that names the first field that is out of range, its value and its range; or nil.
func (c Config) Validate() error {
	const place = "estimate/machines: Config"
	return cmp.Or(check.Valid(c), check.Within(place, "MaxMachines", c.MaxMachines, 1, maxMachines), c.choices().Validate(place))
}

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
