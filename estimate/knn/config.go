package knn

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

const (
	// maxParameter is the largest absolute value of a parameter of a task. With this limit no squared distance
	// overflows.
	maxParameter = 1e100
	// A parameter is treated as equal in all runs if its standard deviation is at most constantSpread times its
	// largest absolute value, or at most leastSpread.
	constantSpread, leastSpread = 1e-12, 1e-40
	maxDimensions               = 64
	maxRuns                     = 1 << 30
)

// Scaling chooses the unit in which each parameter of a task is measured when the distance between two tasks is
// computed. The numbers of the constants will not change.
type Scaling uint8

const (
	// ScaleDeviation divides each parameter by its population standard deviation over the runs, and ignores a
	// parameter that is equal in all runs. ScaleDeviation is the zero value. The paper does not scale. Without
	// scaling, a size in bytes would outweigh all other parameters.
	ScaleDeviation Scaling = iota
	// ScaleNone uses the parameters unchanged, as the paper does. Use ScaleNone if the host has scaled the
	// parameters.
	ScaleNone
)

var scalingNames = [...]string{ScaleDeviation: "deviation", ScaleNone: "none"}

// String returns the scaling's name.
func (s Scaling) String() string { return enum.Name(scalingNames[:], s) }

// MarshalText returns the scaling's name, or an error for a value without a name.
func (s Scaling) MarshalText() ([]byte, error) { return enum.Text(scalingNames[:], s) }

// UnmarshalText sets the scaling to the scaling with the given name, or returns an error for an unknown name.
func (s *Scaling) UnmarshalText(text []byte) error { return enum.Parse(scalingNames[:], text, s) }

// Config contains the choices of a [Regressor]. Its zero value is usable.
type Config struct {
	// Dimensions is the number of parameters of a task, at most 64. 0 means 3: the size of the task, and the CPU
	// and memory that the task needs.
	Dimensions int `default:"3"`
	// Neighbours is k, the number of nearest past runs that a prediction uses. 0 means the least k with k^5 >= n^4
	// for n runs. The paper lets k grow as n^(4/5), and gives no factor. For 100,000 runs this default is 10,000,
	// and a prediction becomes slow. So set Neighbours if there will be many runs. If there are fewer runs than
	// Neighbours, a prediction uses all runs.
	Neighbours int `want:"count"`
	// Keep is the number of runs that the Regressor remembers. After that, each new run replaces the oldest run. 0
	// means 10,000; the paper gives no figure.
	Keep int `default:"10000"`
	// Scaling is the unit in which distances are measured. The zero value is [ScaleDeviation].
	Scaling Scaling
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config { return check.Filled(c) }

// Validate returns an error that names the first field that is out of range, its value and its range; or nil.
func (c Config) Validate() error {
	const place = "estimate/knn: Config"
	return cmp.Or(check.Valid(c), check.Within(place, "Dimensions", c.Dimensions, 1, maxDimensions), check.Within(place, "Keep", c.Keep, 1, maxRuns))
}

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
