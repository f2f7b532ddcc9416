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

// MaxLevels is how many locality levels there may be.
const MaxLevels = 64

// Config holds the choices of a [Policy]. Its zero value has the paper's three levels, node, rack and anywhere, with 15
// seconds at each of the first two, and the paper's reset rule.
type Config struct {
	// Waits are T_1, T_2 and so on: Waits[i] is how long a job stays at level i before it may launch at level i+1, and
	// there is one level more than there are waits. A wait of 0 is no wait; [Forever] never ends. Nil means 15 seconds
	// twice, unless Misses is set.
	Waits []time.Duration
	// Misses is the other way to measure a wait: Misses[i] is how many offers a job declines at level i before it may
	// launch at level i+1. Set it or Waits.
	Misses []int
	// Reset says when the wait starts again. The zero value is the paper's.
	Reset Reset
}

// Reset says when a job's wait starts again, and at which level. The names and values are stable.
type Reset uint8

const (
	// OnLaunch is the rule of the paper and of Hadoop's first fair scheduler: a launch sets the wait to 0 and the level
	// to that of the launch, more local or less, and the next wait begins with the first offer that is declined after
	// it. Hadoop's, which heard from all nodes every few seconds, counted only the time to the next of these reports
	// after a decline; here the wait runs on until the launch.
	OnLaunch Reset = iota
	// ToLaunched is the rule of Spark up to 3.0: a launch sets the wait to 0 and the level to that of the launch, and
	// time runs on with or without offers. It starves a job with many tasks and few local slots, which launches one now
	// and then and never gets to use the rest of the cluster (SPARK-18886).
	ToLaunched
	// NoRejection is the rule by which Spark mends that since 3.1, with the follow-up of its pull request 28188: the
	// wait starts again only after a round of offers in which nothing was declined because of the delay, and only if
	// nothing was since the last round that offered all free slots, that one included. If such a round has launches,
	// the level is set to its most local. Close each round of offers with [Locality.EndRound].
	//
	// A round without a launch counts, too; otherwise a job would stay at the last level where the rounds of all free
	// slots find none. But it leaves a wait as it is in which something was declined; otherwise a job would wait for
	// ever where others take what it declines before each of these rounds.
	NoRejection
)

var resetNames = [...]string{"on-launch", "to-launched", "no-rejection"}

// String returns the rule's name.
func (r Reset) String() string { return enum.Name(resetNames[:], r) }

// MarshalText returns the rule's name.
func (r Reset) MarshalText() ([]byte, error) { return enum.Text(resetNames[:], r) }

// UnmarshalText sets the rule by its name.
func (r *Reset) UnmarshalText(text []byte) error { return enum.Parse(resetNames[:], text, r) }

// Policy is a checked [Config], to start jobs with. The zero value has one level and never waits. Immutable. Safe for
// concurrent use.
type Policy struct {
	waits    []time.Duration // of each level but the last; in a unit of one offer if inOffers is set
	total    time.Duration   // their sum, or Forever
	inOffers bool
	reset    Reset
}

// New returns a Policy, or an error that names the field that is out of range.
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

// Validate reports the first field that is out of range, with its value and its range.
func (c Config) Validate() error { return c.validate("Config") }

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// validate names the place of the configuration in errors.
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

// Levels returns the number of levels. The last one allows a launch anywhere.
func (p *Policy) Levels() int { return len(p.waits) + 1 }
