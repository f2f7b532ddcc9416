package replicate

import (
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// CopyTimesConfig holds the choices of a [CopyTimes]. Its zero value is usable.
type CopyTimesConfig struct {
	// Bandwidth is what is assumed before enough copies were seen, in bytes per second. 0 assumes nothing: there is no
	// estimate then.
	Bandwidth float64
	// MinSamples is how many copies an estimate of its own needs. 0 means 5.
	MinSamples int
	// Keep is about how many copies count, the latest most. 0 means 200.
	Keep int
}

// Effective returns the configuration with its defaults filled in.
func (c CopyTimesConfig) Effective() CopyTimesConfig {
	if c.MinSamples == 0 {
		c.MinSamples = 5
	}
	if c.Keep == 0 {
		c.Keep = max(200, c.MinSamples)
	}
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c CopyTimesConfig) Validate() error {
	c = c.Effective()
	switch {
	case !(c.Bandwidth >= 0) || !num.Finite(c.Bandwidth):
		return check.Bad("replicate", "CopyTimesConfig.Bandwidth", c.Bandwidth, "a finite rate, 0 or more")
	case c.MinSamples < 0:
		return check.Bad("replicate", "CopyTimesConfig.MinSamples", c.MinSamples, "a positive number, or 0 for the default")
	case c.Keep < c.MinSamples || c.Keep > 1<<30:
		return check.Bad("replicate", "CopyTimesConfig.Keep", c.Keep, "MinSamples to 2^30, or 0 for the default")
	}
	return nil
}

// Experimental: no host of this repository calls it yet.
//
// CopyTimes learns t_rep, the time to move an output to another machine in the rack [Mantri §5.3], from the copies that
// were made: the line of least squares, a part that every copy takes and a time per byte, neither below 0, over about
// the latest Keep of them. The paper takes t_rep as given. The zero value is a CopyTimes with the defaults. Not safe
// for concurrent use; one per kind of path, for example per rack.
type CopyTimes struct {
	config  CopyTimesConfig
	samples int
	// Sums over the samples, each of which counts for a little less with every one that follows.
	weight, bytes, seconds, bytes2, product float64
}

// NewCopyTimes returns a CopyTimes that has seen nothing, or an error that names the field that is out of range.
func NewCopyTimes(c CopyTimesConfig) (*CopyTimes, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &CopyTimes{config: c}, nil
}

// Config returns the configuration with its defaults filled in.
func (c *CopyTimes) Config() CopyTimesConfig { return c.config.Effective() }

// Observe records that a copy of so many bytes took so long. It reports whether that was used: a negative size is not,
// nor is a time that is not positive. O(1), no allocation.
func (c *CopyTimes) Observe(bytes int64, took time.Duration) bool {
	if bytes < 0 || took <= 0 {
		return false
	}
	x, y := float64(bytes), took.Seconds()
	fade := 1 - 1/float64(c.Config().Keep)
	c.weight = float64(c.weight*fade) + 1
	c.bytes = float64(c.bytes*fade) + x
	c.seconds = float64(c.seconds*fade) + y
	c.bytes2 = float64(c.bytes2*fade) + float64(x*x)
	c.product = float64(c.product*fade) + float64(x*y)
	c.samples = min(c.samples+1, c.Config().Keep)
	return true
}

// Estimate returns t_rep for an output of so many bytes, and whether there is an estimate: there is none for a negative
// size, or while too few copies were seen and no Bandwidth is assumed. O(1), no allocation.
func (c *CopyTimes) Estimate(bytes int64) (time.Duration, bool) {
	if bytes < 0 {
		return 0, false
	}
	config := c.Config()
	if c.samples < config.MinSamples {
		if config.Bandwidth == 0 {
			return 0, false
		}
		return duration(float64(bytes) / config.Bandwidth), true
	}
	fixed, perByte := c.line()
	return duration(fixed + float64(perByte*float64(bytes))), true
}

// line returns the line of least squares whose two coefficients are not negative.
func (c *CopyTimes) line() (fixed, perByte float64) {
	mean, meanBytes := c.seconds/c.weight, c.bytes/c.weight
	variance := c.bytes2/c.weight - float64(meanBytes*meanBytes)
	switch {
	case c.bytes2 == 0:
		return mean, 0 // nothing but empty outputs
	case !(variance > 1e-9*meanBytes*meanBytes):
		return 0, c.product / c.bytes2 // all of one size
	}
	perByte = (c.product/c.weight - float64(meanBytes*mean)) / variance
	fixed = mean - float64(perByte*meanBytes)
	switch {
	case perByte < 0:
		return mean, 0
	case fixed < 0:
		return 0, c.product / c.bytes2
	}
	return fixed, perByte
}
