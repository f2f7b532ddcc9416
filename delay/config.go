package delay

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// Forever is a wait that never ends.
const Forever time.Duration = math.MaxInt64

// MaxLevels is the largest number of locality levels.
const MaxLevels = 64

// Config is the configuration of a [Policy]. Its zero value has the paper's three levels: machine, rack and anywhere. A job
// waits 15 seconds at each of the first two levels, and the paper's rule starts the wait again.
type Config struct {
	// Waits are T_1, T_2 and so on: Waits[i] is the time that a job stays at level i before it may launch at level
	// i+1. The number of levels is the number of waits plus 1. A wait of 0 skips the level, and [Forever] never ends.
	// Nil means 15 seconds twice, unless Misses is set.
	Waits []time.Duration
	// Misses measures waits in offers instead of time: Misses[i] is the number of offers that a job declines at level i
	// before it may launch at level i+1, 0 or more. Set either Misses or Waits.
	Misses []int
	// Reset says when the wait starts again. The zero value is the paper's rule.
	Reset Reset
}

// Reset says when a job's wait starts again, and at which level. The names and values are stable.
type Reset uint8

const (
	// OnLaunch is the rule of the paper and of Hadoop's first fair scheduler. A launch sets the wait to 0 and the level to
	// the level of the launch, more local or less. The next wait begins with the first offer declined after the launch.
	// Hadoop received a report from every machine every few seconds, and after a decline counted only the time to the next
	// report. Here the wait continues until the launch.
	OnLaunch Reset = iota
	// ToLaunched is the rule of Spark up to 3.0. A launch sets the wait to 0 and the level to the level of the launch. The
	// wait continues with or without offers. The rule starves a job with many tasks and few local slots: the job launches
	// a local task now and then, and never uses the rest of the cluster (SPARK-18886).
	ToLaunched
	// NoRejection is the rule of Spark since 3.1, with the follow-up of pull request 28188; it solves SPARK-18886. The wait
	// starts again only at the end of a round of offers, and only under two conditions:
	//
	//   - No offer in this round was declined because of the delay.
	//   - No such offer was declined since the last round that offered all free slots, that round included. A round that
	//     offers all free slots itself does not need this condition.
	//
	// If the round has launches, the level becomes the most local level of the launches. Close each round of offers with
	// [Locality.EndRound].
	//
	// A round without a launch counts too. Otherwise a job would stay at its last level if the rounds of all free slots
	// find no slot. But such a round does not restart a wait in which an offer was declined. Otherwise a job would wait
	// for ever if other jobs take the declined slots before each such round.
	NoRejection
)

var resetNames = [...]string{"on-launch", "to-launched", "no-rejection"}

// String returns the rule's name.
func (r Reset) String() string { return enum.Name(resetNames[:], r) }

// MarshalText returns the rule's name.
func (r Reset) MarshalText() ([]byte, error) { return enum.Text(resetNames[:], r) }

// UnmarshalText sets the rule by its name.
func (r *Reset) UnmarshalText(text []byte) error { return enum.Parse(resetNames[:], text, r) }

// Policy is a valid [Config], from which jobs are started. The zero value has one level and never waits. A Policy is
// immutable and safe for concurrent use.
type Policy struct {
	waits    []time.Duration // by level, without the last level; if inOffers is set, a nanosecond stands for an offer
	total    time.Duration   // sum of the waits, or Forever
	inOffers bool            // waits are counted in offers
	reset    Reset
}

// New returns a Policy. The error names the field that is out of range.
func New(c Config) (*Policy, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Effective()
	p := &Policy{waits: slices.Clone(c.Waits), inOffers: c.Misses != nil, reset: c.Reset}
	for _, m := range c.Misses {
		p.waits = append(p.waits, time.Duration(m))
	}
	for _, w := range p.waits {
		p.total = num.Add(p.total, w)
	}
	return p, nil
}

// Effective returns the configuration with its defaults filled in.
func (c Config) Effective() Config {
	if c.Waits == nil && c.Misses == nil {
		c.Waits = []time.Duration{15 * time.Second, 15 * time.Second}
	}
	return c
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (c Config) Validate() error { return c.validate("Config") }

// MarshalJSON writes the fields that are not zero: names in kebab-case, durations in seconds. UnmarshalJSON reads this
// format.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// validate is Validate, with the configuration's name in errors.
func (c Config) validate(name string) error {
	place := "delay: " + name
	if c.Waits != nil && c.Misses != nil {
		return check.Badf(place, "Waits", c.Waits, "nil beside Misses of %v", c.Misses)
	}
	if n := max(len(c.Waits), len(c.Misses)) + 1; n > MaxLevels {
		return check.Badf(place, "Levels", n, "at most %d: one more than Waits or Misses", MaxLevels)
	}
	for i, w := range c.Waits {
		if w < 0 {
			return check.Bad(place, check.At("Waits", i, ""), w, "a duration, 0 or more")
		}
	}
	for i, m := range c.Misses {
		if m < 0 {
			return check.Bad(place, check.At("Misses", i, ""), m, "0 or more")
		}
	}
	return check.Named(place, "Reset", c.Reset, resetNames[:])
}

// Config returns the configuration with its defaults filled in.
func (p *Policy) Config() Config {
	c := Config{Reset: p.reset}
	if !p.inOffers {
		c.Waits = append([]time.Duration{}, p.waits...)
		return c
	}
	c.Misses = make([]int, len(p.waits))
	for i, w := range p.waits {
		c.Misses[i] = int(w)
	}
	return c
}

// Levels returns the number of levels. A job may launch anywhere at the last level.
func (p *Policy) Levels() int { return len(p.waits) + 1 }
