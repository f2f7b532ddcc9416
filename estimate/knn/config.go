package knn

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

const (
	// maxParameter bounds the parameters of a task, so that no squared distance overflows.
	maxParameter = 1e100
	// A parameter is constant up to rounding if its standard deviation is at most constantSpread times its largest
	// value, or at most leastSpread.
	constantSpread, leastSpread = 1e-12, 1e-40
	maxDimensions               = 64
	maxRuns                     = 1 << 30
)

// Scaling chooses the unit in which a distance measures each parameter of a task. The values are stable.
type Scaling uint8

const (
	// ScaleDeviation divides each parameter by its population standard deviation over the runs, and ignores a
	// parameter that is equal in all of them. ScaleDeviation is the zero value. The paper does not scale; without
	// scaling a size in bytes would outweigh all other parameters.
	ScaleDeviation Scaling = iota
	// ScaleNone uses the parameters unchanged, as the paper does. Use it for parameters that the host has scaled.
	ScaleNone
)

var scalingNames = [...]string{"deviation", "none"}

// String returns the scaling's name.
func (s Scaling) String() string { return enum.Name(scalingNames[:], s) }

// MarshalText returns the scaling's name, or an error for a value without a name.
func (s Scaling) MarshalText() ([]byte, error) { return enum.Text(scalingNames[:], s) }

// UnmarshalText sets the scaling by its name.
func (s *Scaling) UnmarshalText(text []byte) error { return enum.Parse(scalingNames[:], text, s) }

// Config holds the choices of a [Regressor]. Its zero value is usable.
type Config struct {
	// Dimensions is the number of parameters of a task, at most 64. 0 means 3: the size of the task, and the CPU
	// and memory that it needs.
	Dimensions int
	// Neighbours is k, the number of past runs that count. 0 means the least k with k^5 >= n^4 for n runs: the
	// paper lets k grow as n^(4/5), and gives no factor. For 100,000 runs this default is 10,000, so set a bound
	// for a long history. k never exceeds the number of runs.
	Neighbours int
	// Keep is the number of remembered runs; each further run replaces the oldest. 0 means 10,000; the paper gives
	// no figure.
	Keep int
	// Scaling is the unit of distances. 0 is [ScaleDeviation].
	Scaling Scaling
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config {
	c.Dimensions = check.Or(c.Dimensions, 3)
	c.Keep = check.Or(c.Keep, 10000)
	return c
}

// Validate returns an error that names the first field out of range, its value and its range; or nil.
func (c Config) Validate() error {
	const place = "estimate/knn: Config"
	return cmp.Or(
		check.Within(place, "Dimensions", c.Dimensions, 1, maxDimensions),
		check.Count(place, "Neighbours", c.Neighbours, false),
		check.Within(place, "Keep", c.Keep, 1, maxRuns),
		check.Named(place, "Scaling", c.Scaling, scalingNames[:]),
	)
}

// MarshalJSON returns the fields that are not zero. Names are kebab-case, times are in seconds, and Off is -1.
// UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
