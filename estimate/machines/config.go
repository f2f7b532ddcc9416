package machines

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config holds the choices of a [Record]. Its zero value is usable.
type Config struct {
	// HalfLife is the age at which evidence counts half. Much older evidence hardly counts. 0 means an hour.
	HalfLife time.Duration
	// Trust is the weight, in attempts, of the assumption that a machine is as slow as its class. Two slow tasks do
	// not outvote a Trust of 2; three do. 0 means 2.
	Trust float64
	// Limit bounds each ratio, and so the factor, to [1/Limit, Limit]. 0 means 100.
	Limit float64
	// SlowFactor is the factor against its class from which a machine is slow. 0 means 2.
	SlowFactor float64
	// MaxShare is the largest share of a class that may be called slow at the same time, in (0, 1/2]. The number of
	// machines is rounded down, but a class with two or more machines may always have one slow machine. 0 means
	// 0.25, the share of slow nodes in LATE.
	MaxShare float64
	// MaxMachines is the number of machines that the record remembers. A further machine replaces the machine that
	// has had no event for the longest time. 0 means 65,536.
	MaxMachines int
	// Origin is the name of this process among processes that share evidence about the same machines by
	// [Record.AppendDelta] and [Record.Merge]. The name must be unique and have at most 255 bytes. Empty means that
	// the record shares nothing.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead. A delta from further in the future is refused.
	// 0 means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config {
	c.HalfLife = check.Or(c.HalfLife, time.Hour)
	c.Trust = check.Or(c.Trust, 2)
	c.Limit = check.Or(c.Limit, 100)
	c.SlowFactor = check.Or(c.SlowFactor, 2)
	c.MaxShare = check.Or(c.MaxShare, .25)
	c.MaxMachines = check.Or(c.MaxMachines, 1<<16)
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate returns an error that names the first field out of range, its value and its range; or nil.
func (c Config) Validate() error {
	const place = "estimate/machines: Config"
	return cmp.Or(
		check.Length(place, "HalfLife", c.HalfLife),
		check.Within(place, "Trust", c.Trust, 0, 1e6),
		check.Within(place, "Limit", c.Limit, 1, 1e6),
		check.Within(place, "SlowFactor", c.SlowFactor, 1, 1e6),
		check.Within(place, "MaxShare", c.MaxShare, 0, .5),
		check.Within(place, "MaxMachines", c.MaxMachines, 1, maxMachines),
		c.choices().Validate(place),
	)
}

// MarshalJSON returns the fields that are not zero. Names are kebab-case, times are in seconds, and Off is -1.
// UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
