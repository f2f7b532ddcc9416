package delay

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// RemoteCostConfig holds the choices of a [RemoteCost]. Its zero value is usable.
type RemoteCostConfig struct {
	// Levels is how many locality levels there are, 2 to [MaxLevels]. 0 means 3: node, rack, anywhere.
	Levels int
	// MinSamples is how many tasks a level needs to be compared. 0 means 10.
	MinSamples int
	// Keep is about how many tasks of a level count, the latest most; MinSamples or more. 0 means 500.
	Keep int
}

// Effective returns the configuration with its defaults filled in.
func (c RemoteCostConfig) Effective() RemoteCostConfig {
	if c.Levels == 0 {
		c.Levels = 3
	}
	if c.MinSamples == 0 {
		c.MinSamples = 10
	}
	if c.Keep == 0 {
		c.Keep = max(500, c.MinSamples)
	}
	return c
}

// Validate reports the first field that is out of range, with its value and its range.
func (c RemoteCostConfig) Validate() error {
	c = c.Effective()
	switch {
	case c.Levels < 2 || c.Levels > MaxLevels:
		return check.Badf("delay", "RemoteCostConfig.Levels", c.Levels, "2 to %d, or 0 for 3", MaxLevels)
	case c.MinSamples < 0:
		return check.Bad("delay", "RemoteCostConfig.MinSamples", c.MinSamples, "a positive number, or 0 for the default")
	case c.Keep < c.MinSamples || c.Keep > 1<<30:
		return check.Badf("delay", "RemoteCostConfig.Keep", c.Keep, "MinSamples, %d, to 2^30, or 0 for the default", c.MinSamples)
	}
	return nil
}

// Experimental: no host of this repository calls it yet.
//
// RemoteCost learns D of [Gain] for a class of jobs: how much longer a task takes where its data is not [FAIR §4.3.1].
// It is the difference of the mean times at the two levels. The paper takes D as known; it is near 0 where tasks
// compute, which is what [ByReadRate] tells apart by rate.
//
// The zero value has the defaults. Not safe for concurrent use; one per class of jobs with tasks of about one size.
type RemoteCost struct {
	config RemoteCostConfig
	levels []meanTime
}

// meanTime is the mean of the latest times, in seconds.
type meanTime struct {
	mean, weight float64
	samples      int
}

// NewRemoteCost returns a RemoteCost that has seen nothing, or an error that names the field that is out of range.
func NewRemoteCost(c RemoteCostConfig) (*RemoteCost, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &RemoteCost{config: c, levels: make([]meanTime, c.Levels)}, nil
}

// Config returns the configuration with its defaults filled in.
func (c *RemoteCost) Config() RemoteCostConfig { return c.config.Effective() }

// Observe records that a task that was launched at the level took so long, and reports whether that was used: a level
// that does not exist is not, nor is a time that is not positive. A task that was killed has not shown how long it
// takes: leave it out. O(1), no allocation, except for the first task of the zero value.
func (c *RemoteCost) Observe(level int, took time.Duration) bool {
	if c.levels == nil {
		c.config = c.Config()
		c.levels = make([]meanTime, c.config.Levels)
	}
	if level < 0 || level >= len(c.levels) || took <= 0 {
		return false
	}
	m := &c.levels[level]
	m.weight = float64(m.weight*(1-1/float64(c.config.Keep))) + 1
	m.mean += (took.Seconds() - m.mean) / m.weight
	m.samples = min(m.samples+1, c.config.Keep)
	return true
}

// Of returns D of a level: how much longer a task takes there than at level 0, never below 0, and whether it is known:
// not before enough tasks of both levels have ended. O(1), no allocation.
func (c *RemoteCost) Of(level int) (d time.Duration, known bool) {
	if level <= 0 || level >= len(c.levels) {
		return 0, level == 0
	}
	local, remote := c.levels[0], c.levels[level]
	if min(local.samples, remote.samples) < c.config.MinSamples {
		return 0, false
	}
	d, _ = num.Duration(max(remote.mean-local.mean, 0))
	return d, true
}

// remoteCostVersion is the first byte of a snapshot.
const remoteCostVersion = 2

func (c *RemoteCost) state(w *snapshot.Codec) {
	c.config = c.Config()
	w.Number(&c.config.Levels, 2, MaxLevels)
	w.Number(&c.config.MinSamples, 1, math.MaxInt32)
	w.Number(&c.config.Keep, 1, math.MaxInt32)
	w.Valid(c.config == c.config.Effective(), c.config)
	begun := c.levels != nil
	if w.Bool(&begun); begun && w.Reading() {
		c.levels = make([]meanTime, c.config.Levels)
	}
	for i := range c.levels {
		m := &c.levels[i]
		w.Number(&m.samples, 0, c.config.Keep)
		w.Amount(&m.mean)
		w.Amount(&m.weight)
		none, some := m.weight == 0 && m.mean == 0, m.weight >= 1
		w.Check(m.samples == 0 && none || m.samples > 0 && some, "has times without tasks")
	}
}

// MarshalBinary and AppendBinary return the state, with its configuration, as bytes: restored, it answers as if it had
// never stopped. They never fail. UnmarshalBinary replaces c by what data holds; it is an error, and leaves c as
// it was, if data is not what MarshalBinary returns.
func (c *RemoteCost) MarshalBinary() ([]byte, error) { return c.AppendBinary(nil) }
func (c *RemoteCost) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, remoteCostVersion, c.state)
}
func (c *RemoteCost) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, remoteCostVersion, c, (*RemoteCost).state)
}
