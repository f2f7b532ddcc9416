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

// MaxLevels is the largest number of locality levels. For example, the three levels of the paper are: a machine
// with the job's data, a machine in the same rack, and any machine.
const MaxLevels = 64

// Config is the configuration of a [Policy]. A job may at first launch tasks only at level 0, on a machine with
// its data. After each wait it may also launch at the next level. The zero value has the three levels of the
// paper: machine, rack and anywhere. With it a job waits 15 seconds at each of the first two levels.
type Config struct {
	// Waits[i] is the time that a job waits at level i before it may also launch at level i+1. The paper calls these
	// times T_1, T_2 and so on. The number of levels is len(Waits)+1. With a wait of 0 the job skips the level, and
	// with a wait of [Forever] it never launches at the next level. Nil means 15 seconds at two levels, unless Misses
	// is set.
	Waits []time.Duration
	// Misses measures waits in offers and not in time. Misses[i] is the number of offers that a job declines at
	// level i before it may also launch at level i+1, 0 or more. Set either Misses or Waits.
	Misses []int
	// Reset says when the wait of a job starts again from 0. The zero value is the paper's rule.
	Reset Reset
}

// Reset says when the wait of a job starts again from 0, and at which level. The values and the names of the
// constants will not change.
type Reset uint8

const (
	// OnLaunch is the rule of the paper and of Hadoop's first fair scheduler. If the job launches a task, its wait
	// becomes 0, and its level becomes the level of the launched task. The next wait begins when the job declines
	// an offer. In Hadoop, every machine sent a report every few seconds, and after a declined offer only the time
	// to the next report was added to the wait. In this package the wait continues until the launch.
	//
	// A job with many tasks and few slots near its data waits without end, as in SPARK-18886: now and then it
	// launches a task near its data, its wait becomes 0, and it never uses the rest of the cluster. [NoRejection]
	// solves this problem.
	OnLaunch Reset = iota
	// ToLaunched is the rule of Spark up to 3.0. If the job launches a task, its wait becomes 0, and its level
	// becomes the level of the launched task. The next wait begins immediately, even without offers. The problem of
	// SPARK-18886 is that of OnLaunch.
	ToLaunched
	// NoRejection is the rule of Spark since 3.1, with the follow-up of pull request 28188. It solves the problem
	// of SPARK-18886: with [OnLaunch] and [ToLaunched], a job that sometimes launches a task near its data never
	// uses the rest of the cluster. A round is a set of offers that the host makes together; close each round with
	// [Locality.EndRound]. With NoRejection the wait starts again from 0 only at the end of a round, and only
	// under two conditions:
	//
	//   - The job declined no offer of this round with the reason [Delayed].
	//   - The round offered all free slots. Or the last round that offered all free slots, and all rounds since
	//     then, had no offer that was declined with the reason Delayed.
	//
	// If the job has launched tasks in the round, its level becomes the most local level of a launched task. If it
	// has launched no task, the wait starts again only if no offer was declined during this wait.
	//
	// Why does the wait start again after a round without a launch? If it did not, a job would stay at its last
	// level for ever when no round finds a slot for it. Why not if an offer was declined? Then other jobs could take
	// the declined slots before each round, and the job would wait for ever.
	NoRejection
)

var resetNames = [...]string{OnLaunch: "on-launch", ToLaunched: "to-launched", NoRejection: "no-rejection"}

// String returns the name of the rule.
func (r Reset) String() string { return enum.Name(resetNames[:], r) }

// MarshalText returns the name of the rule. It returns an error if the value has no name.
func (r Reset) MarshalText() ([]byte, error) { return enum.Text(resetNames[:], r) }

// UnmarshalText sets the rule to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reset) UnmarshalText(text []byte) error { return enum.Parse(resetNames[:], text, r) }

// Policy is a valid [Config]. [Policy.Start] begins the waits of a job. The zero value has one level, so its jobs
// never wait. A Policy never changes and is safe for concurrent use.
type Policy struct {
	waits    []time.Duration // by level, without the last level; if inOffers is true, one nanosecond is one offer
	total    time.Duration   // sum of the waits, or Forever
	inOffers bool            // true if waits are numbers of offers
	reset    Reset
}

// New returns a Policy. It returns an error for the first field of c that is out of range.
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

// Effective returns the configuration with its zero fields replaced by their defaults.
func (c Config) Effective() Config {
	if c.Waits == nil && c.Misses == nil {
		c.Waits = []time.Duration{15 * time.Second, 15 * time.Second}
	}
	return c
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c Config) Validate() error { return c.validate("Config") }

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, and durations are in seconds. UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// validate does the same as Validate. Its errors call the configuration by the given name.
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
	return check.Named(place, "Reset", c.Reset)
}

// Config returns the configuration of the policy, with zero fields replaced by their defaults.
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

// Levels returns the number of locality levels. At the last level a job may launch on any machine.
func (p *Policy) Levels() int { return len(p.waits) + 1 }
