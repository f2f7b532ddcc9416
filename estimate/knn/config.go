package knn

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

const (
	// maxParameter bounds the parameters of a task, so that no squared distance overflows.
	maxParameter = 1e100
	maxShared    = 1e38 // what a float32 holds
	// constantSpread is the standard deviation, against the largest value, at and below which a parameter is constant
	// up to rounding; leastSpread is the same in absolute terms.
	constantSpread, leastSpread = 1e-12, 1e-40
	maxDimensions               = 64
	maxRuns                     = 1 << 30
)

// Scaling says in which unit each parameter of a task is measured when distances are taken. The values are stable.
type Scaling uint8

const (
	// ScaleDeviation divides each parameter by its population standard deviation over the runs, and ignores one that is
	// the same in all of them. It is the zero value, and not the paper's: unscaled, a size in bytes would drown the
	// rest.
	ScaleDeviation Scaling = iota
	// ScaleNone takes the parameters as they are, as the paper does. Use it for parameters that the host has scaled.
	ScaleNone
)

var scalingNames = [...]string{"deviation", "none"}

// String returns the scaling's name.
func (s Scaling) String() string { return enum.Name(scalingNames[:], s) }

// MarshalText returns the scaling's name; an error for a value that does not exist.
func (s Scaling) MarshalText() ([]byte, error) { return enum.Text(scalingNames[:], s) }

// UnmarshalText sets the scaling by its name.
func (s *Scaling) UnmarshalText(text []byte) error { return enum.Parse(scalingNames[:], text, s) }

// Config holds the choices of a [Regressor]. Its zero value is usable.
type Config struct {
	// Dimensions is the number of parameters of a task, 64 at most. 0 means 3: its size, and the CPU and memory that it
	// needs.
	Dimensions int
	// Neighbours is k, the number of past runs that count. 0 means the least k with k^5 >= n^4 for n runs: the paper
	// has it grow as n^(4/5), and gives no factor. For 100,000 runs that is 10,000, so a bound is worth setting for a
	// long history. It never exceeds the number of runs.
	Neighbours int
	// Keep is the number of runs that are remembered; each further one takes the place of the oldest. 0 means
	// 10,000; the paper gives no figure.
	Keep int
	// Scaling is the unit of distances. 0 is [ScaleDeviation].
	Scaling Scaling
	// Origin is the name of this process among those that pass on to each other what they have run of the same kind of
	// task, by [Regressor.AppendDelta] and [Regressor.Merge]. It is of at most 255 bytes, and no other has it. Empty:
	// nothing is passed on.
	Origin string
	// MaxSkew is how far the clock of another process may be ahead: a delta from further in the future is refused. 0
	// means a minute.
	MaxSkew time.Duration
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config {
	c.Dimensions = check.Or(c.Dimensions, 3)
	c.Keep = check.Or(c.Keep, 10000)
	c.MaxSkew = check.Or(c.MaxSkew, time.Minute)
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c Config) Validate() error {
	const place = "estimate/knn: Config"
	return cmp.Or(
		check.Within(place, "Dimensions", c.Dimensions, 1, maxDimensions),
		check.Count(place, "Neighbours", c.Neighbours, false),
		check.Within(place, "Keep", c.Keep, 1, maxRuns),
		check.Named(place, "Scaling", c.Scaling, scalingNames[:]),
		c.choices().Validate(place),
	)
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
