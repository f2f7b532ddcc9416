package causes

import (
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Config contains an analyst's choices. The zero value has the numbers of the papers. Safe for concurrent use.
type Config struct {
	// Outlier is a multiple of the median time of the phase: a task that takes longer is an outlier [Mantri §4.1].
	// Outlier must be more than 1. 0 means 1.5.
	Outlier float64
	// Residual is a share of a task's expected time: if the time of a task differs from its expected time by at
	// most this share, the task is explained [Mantri §4.2, footnote 3]. A task whose time is more than 1+Residual
	// times its expected time is slow, and is evidence against its machine and its moment. Residual must be in (0,
	// 1). 0 means .2.
	Residual float64
}

// Effective returns the configuration with its defaults filled in. A field that is out of range gets its default as
// well.
func (c Config) Effective() Config {
	if !(c.Outlier > 1) || math.IsInf(c.Outlier, 1) {
		c.Outlier = 1.5
	}
	if !(c.Residual > 0 && c.Residual < 1) {
		c.Residual = .2
	}
	return c
}

// Validate returns an error that names the first field that is out of range, its value and its range; or nil.
func (c Config) Validate() error {
	switch {
	case c.Outlier != 0 && (!(c.Outlier > 1) || math.IsInf(c.Outlier, 1)):
		return check.Bad("estimate/causes", "Config.Outlier", c.Outlier, "a finite number over 1, or 0 for 1.5")
	case c.Residual != 0 && !(c.Residual > 0 && c.Residual < 1):
		return check.Bad("estimate/causes", "Config.Residual", c.Residual, "a share in (0, 1), or 0 for 0.2")
	}
	return nil
}

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
