package machines

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config holds the choices of a [Record]. Its zero value is usable.
type Config struct {
	// HalfLife is the age at which evidence counts half; what is much older hardly counts. 0 means an hour.
	HalfLife time.Duration
	// Trust is how many attempts' worth of evidence it takes to outvote the assumption that a machine is as its class
	// is. 0 means 2: a machine is not branded by two slow tasks, and is by three.
	Trust float64
	// Limit bounds each ratio, and so the factor, to [1/Limit, Limit]. 0 means 100.
	Limit float64
	// SlowFactor is the factor against its class from which on a machine is slow. 0 means 2.
	SlowFactor float64
	// MaxShare is the largest share of a class that may be called slow at once, in (0, 1/2], rounded down to whole
	// machines, but one where there are two or more. 0 means 0.25, the share of slow nodes in LATE.
	MaxShare float64
	// MaxMachines is how many machines are remembered. One more takes the place of the one that was heard of longest
	// ago. 0 means 65,536.
	MaxMachines int
	// Origin is the name of this process among those that pass on to each other what they see of the same machines, by
	// [Record.AppendDelta] and [Record.Merge]. It is of at most 255 bytes, and no other has it. Empty: nothing is passed
	// on.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead: a delta from further in the future is refused. 0
	// means a minute.
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

// Validate reports the first field that is out of range, with its value and its range.
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

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
