package preempt

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off as a timeout means that the pool makes no such claim. Off as a cool-down means that the pool may claim
// again at once.
const Off = -1

// Config holds an operator's choices about killing tasks for pools that starve. The zero value follows the paper for
// tasks of one slot, which is the size of all tasks of the paper.
type Config struct {
	// Timeouts are the timeouts of the pools at the top level. Zero fields mean one minute for Min and five minutes
	// for Fair. The paper says only "several minutes" (section 5.2), so set your own.
	Timeouts Timeouts
	// Pools holds exceptions: one entry for each pool, in the pools' order. Nil means no exceptions.
	Pools []PoolConfig
	// Threshold is the part of its fair share below which a pool starves: 1e-6 to 1, rounded to millionths. Zero
	// means 1, as in the paper. Hadoop's default is 0.5.
	Threshold float64
	// Target says how many units a pool below its fair share claims. Zero: [ToShare].
	Target Target
	// StrictFloor means that no task is killed if its pool would fall below its share, as in the paper. All tasks of
	// the paper hold one slot. Without StrictFloor a part of one task may lie below the share; see [Preemptor.Plan].
	StrictFloor bool
	// Cooldown is the time during which a pool makes no new claim after tasks were killed for it. So kills can take
	// effect. Zero means 15 s, the time that Hadoop YARN waits before a kill. [Off] means no cool-down.
	Cooldown time.Duration
	// Order compares two tasks; a negative result means that a is killed first. Order must be a strict weak order.
	// Ties go to the lower index. Nil means [NewestFirst] (section 3.2), which wastes the least work.
	Order func(a, b Task) int
	// ByMachine takes victims machine by machine, so that the freed units lie together. The machine with the most
	// units of candidates is first. Order then holds within a machine.
	ByMachine bool
}

// PoolConfig holds the exceptions for one pool and for the pools below it. The zero value changes nothing.
type PoolConfig struct {
	// Timeouts replace the timeouts of the parent. Zero fields keep the parent's value.
	Timeouts Timeouts
	// Protected means that no task of the pool, or of a pool below it, is killed.
	Protected bool
}

// Timeouts say how long a pool waits for its due units before tasks are killed for it.
type Timeouts struct {
	// Min is Tmin: how long a pool may be below its minimum before it makes a claim. Zero means the parent's value,
	// and at the top level the value in [Config]. [Off] means that the pool makes no claim for its minimum.
	Min time.Duration
	// Fair is Tfair: how long a pool may be below its fair share before it makes a claim. Zero means the parent's
	// value, and [Off] means no claim, as for Min. Min must be at most Fair, unless Min or Fair is Off. The paper
	// wants Min shorter than Fair (section 3.2). If both are equal, a pool claims the larger deficit at once.
	Fair time.Duration
}

// Target says how many units a pool below its fair share claims. The zero value is [ToShare].
type Target uint8

const (
	// ToShare claims the whole fair share. The threshold only triggers the claim, as in the paper and in Hadoop
	// before 2.9.
	ToShare Target = iota
	// ToThreshold claims units up to the threshold of the share, as Hadoop does since 2.9.
	ToThreshold
)

var targetNames = [...]string{ToShare: "to-share", ToThreshold: "to-threshold"}

// String returns the name of the target.
func (t Target) String() string { return enum.Name(targetNames[:], t) }

// MarshalText returns the name of the target. It returns an error for an unknown value.
func (t Target) MarshalText() ([]byte, error) { return enum.Text(targetNames[:], t) }

// UnmarshalText sets the target by its name. It returns an error for an unknown name.
func (t *Target) UnmarshalText(text []byte) error { return enum.Parse(targetNames[:], text, t) }

// or returns t with its zero fields replaced by the fields of from.
func (t Timeouts) or(from Timeouts) Timeouts {
	return Timeouts{Min: check.Or(t.Min, from.Min), Fair: check.Or(t.Fair, from.Fair)}
}

// place is the place that errors name.
const place = "fairshare/preempt: Config"

// validate returns an error for the first timeout that is out of range. field is the name of the timeouts in the
// error. No timeout of t may be zero.
func (t Timeouts) validate(field string) error {
	var order error
	if t.Min != Off && t.Fair != Off && t.Min > t.Fair {
		order = check.Badf(place, field+".Min", t.Min, "at most %s.Fair, which is %v", field, t.Fair)
	}
	return cmp.Or(check.Age(place, field+".Min", t.Min), check.Age(place, field+".Fair", t.Fair), order)
}

// Effective returns the configuration with its defaults filled in, except in Pools. [Preemptor.Config] also fills in
// Pools, because the timeouts of a pool depend on its parents.
func (c Config) Effective() Config {
	c.Timeouts = c.Timeouts.or(Timeouts{time.Minute, 5 * time.Minute})
	c.Threshold = check.Or(c.Threshold, 1)
	c.Cooldown = check.Or(c.Cooldown, 15*time.Second)
	return c
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its
// range. [New] also checks Pools, because their check needs the tree.
func (c Config) Validate() error {
	c = c.Effective()
	var threshold error
	if !(c.Threshold >= 1e-6 && c.Threshold <= 1) {
		threshold = check.Bad(place, "Threshold", c.Threshold, "1e-6 to 1, or 0 for 1")
	}
	return cmp.Or(
		c.Timeouts.validate("Timeouts"),
		threshold,
		check.Named(place, "Target", c.Target, targetNames[:]),
		check.Age(place, "Cooldown", c.Cooldown),
	)
}

func (c *Config) wire(w *wire.Codec) {
	wire.Struct(c, w)
	wire.List(w, "pools", &c.Pools, wire.Struct[PoolConfig])
}

// MarshalJSON returns the fields that are not zero, except Order. Names are in kebab case, durations in seconds, and
// Off is -1. UnmarshalJSON reads that form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(c.wire) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// million is the unit of thresholds: a threshold of 1 is 1,000,000 millionths.
const million = 1_000_000

func (c *Config) millionths() int64 { return int64(math.Round(c.Threshold * million)) }
