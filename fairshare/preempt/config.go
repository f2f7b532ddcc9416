package preempt

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off switches a time of [Config] off. A pool whose timeout is Off makes no claim for units by this timeout. If
// [Config.Cooldown] is Off, a pool may make the next claim immediately.
const Off = -1

// Config contains an operator's choices about killing tasks for pools that have had too few units for too long.
// The zero value follows the paper if each task uses one slot, as all tasks of the paper do.
type Config struct {
	// Timeouts are the timeouts of the pools at the top level. The zero values mean one minute for Min and five
	// minutes for Fair. The paper says only "several minutes" (section 5.2), so measure and set your own.
	Timeouts Timeouts
	// Pools contains different choices for single pools: one entry for each pool, in the order of the pools. Nil
	// means that no pool has different choices.
	Pools []PoolConfig
	// Threshold is the part of its fair share that a pool should have at least, from 1e-6 to 1, rounded to
	// millionths. For example, with 0.5 a pool waits for units while it uses less than half of its share. Zero
	// means 1, as in the paper. Hadoop's default is 0.5.
	Threshold float64
	// Target says how many units a pool below its fair share claims: all units up to its share, or fewer. Zero means
	// [ToShare].
	Target Target
	// StrictFloor means that no task is killed if its pool would then use less than its share, as in the paper.
	// The tasks of the paper use one slot each. Without StrictFloor a task of several units may be killed although
	// a part of its units are below the share of its pool; see [Preemptor.Plan].
	StrictFloor bool
	// Cooldown is the time during which a pool makes no new claim after tasks were chosen to be killed for it. In
	// this time the kills can take effect. Zero means 15 s, the time that Hadoop YARN waits before a kill. [Off]
	// means no cool-down.
	Cooldown time.Duration
	// Order compares two tasks. A negative result means that a is killed before b. Order must be a strict weak
	// order. Among equal tasks, the task with the lower index is killed first. Nil means copies first, and of
	// tasks with and without a copy the one that started last (section 3.2), which wastes the least work.
	Order func(a, b Task) int
	// ByMachine chooses tasks to kill machine by machine, so that the freed units are on few machines. The machine
	// whose tasks could free the most units comes first. Order then applies to the tasks of one machine.
	ByMachine bool
}

// PoolConfig contains different choices for one pool and for the pools below it. The zero value changes nothing.
type PoolConfig struct {
	// Timeouts replace the timeouts of the parent. A field of zero keeps the value of the parent.
	Timeouts Timeouts
	// Protected means that a plan kills no task of this pool or of a pool below it.
	Protected bool
}

// Timeouts say how long a pool waits for the units that it should have before tasks are killed for it.
type Timeouts struct {
	// Min is the paper's Tmin: how long a pool may be below its minimum before it claims units. Zero means the
	// value of the parent, and at the top level the value in [Config]. [Off] means that the pool claims no units
	// for its minimum.
	Min time.Duration
	// Fair is the paper's Tfair: how long a pool may be below its fair share before it claims units. Zero means
	// the value of the parent, and at the top level the value in [Config]. [Off] means that the pool claims no
	// units for its fair share. Min must be at most Fair, unless Min or Fair is Off. The paper wants Min shorter
	// than Fair (section 3.2). If both are equal, a pool claims the larger of its two deficits after this time.
	Fair time.Duration
}

// Target says how many units a pool below its fair share claims. The zero value is [ToShare].
type Target uint8

const (
	// ToShare makes a pool claim all units that it lacks to reach its fair share. [Config.Threshold] then only decides
	// when the pool claims, as in the paper and in Hadoop before 2.9.
	ToShare Target = iota
	// ToThreshold makes a pool claim only the units that it lacks to reach the part [Config.Threshold] of its fair
	// share, as Hadoop does since 2.9.
	ToThreshold
)

var targetNames = [...]string{ToShare: "to-share", ToThreshold: "to-threshold"}

// String returns the name of the target.
func (t Target) String() string { return enum.Name(targetNames[:], t) }

// MarshalText returns the name of the target. It returns an error if the value has no name.
func (t Target) MarshalText() ([]byte, error) { return enum.Text(targetNames[:], t) }

// UnmarshalText sets the target to the constant whose name is text. It returns an error if no constant has this name.
func (t *Target) UnmarshalText(text []byte) error { return enum.Parse(targetNames[:], text, t) }

// or returns t, in which each zero field is replaced by the same field of from.
func (t Timeouts) or(from Timeouts) Timeouts {
	return Timeouts{Min: check.Or(t.Min, from.Min), Fair: check.Or(t.Fair, from.Fair)}
}

// place is the start of the error messages about a Config.
const place = "fairshare/preempt: Config"

// validate returns an error for the first timeout of t that is out of range. The error calls t by the name field.
// No timeout of t may be zero.
func (t Timeouts) validate(field string) error {
	var order error
	if t.Min != Off && t.Fair != Off && t.Min > t.Fair {
		order = check.Badf(place, field+".Min", t.Min, "at most %s.Fair, which is %v", field, t.Fair)
	}
	return cmp.Or(check.Age(place, field+".Min", t.Min), check.Age(place, field+".Fair", t.Fair), order)
}

// Effective returns the configuration with its zero fields replaced by their defaults, except in Pools.
// [Preemptor.Config] also fills in Pools, because the timeouts of a pool depend on its parents.
func (c Config) Effective() Config {
	c.Timeouts = c.Timeouts.or(Timeouts{time.Minute, 5 * time.Minute})
	c.Threshold = check.Or(c.Threshold, 1)
	c.Cooldown = check.Or(c.Cooldown, 15*time.Second)
	return c
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range. Validate does not check Pools, because this check needs the tree of pools; [New] checks
// Pools.
func (c Config) Validate() error {
	c = c.Effective()
	var threshold error
	if !(c.Threshold >= 1e-6 && c.Threshold <= 1) {
		threshold = check.Bad(place, "Threshold", c.Threshold, "1e-6 to 1, or 0 for 1")
	}
	return cmp.Or(
		c.Timeouts.validate("Timeouts"),
		threshold,
		check.Named(place, "Target", c.Target),
		check.Age(place, "Cooldown", c.Cooldown),
	)
}

func (c *Config) wire(w *wire.Codec) {
	wire.Struct(c, w)
	wire.List(w, "pools", &c.Pools, wire.Struct[PoolConfig])
}

// MarshalJSON returns a JSON object with the fields that are not zero, except Order, which is a function. Its keys
// are the names of the fields in kebab case. Durations are in seconds, and Off is -1. UnmarshalJSON reads that
// form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(c.wire) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// million is the number of parts of a share in which thresholds are counted: a threshold of 1 is 1,000,000
// millionths.
const million = 1_000_000

func (c *Config) millionths() int64 { return int64(math.Round(c.Threshold * million)) }
