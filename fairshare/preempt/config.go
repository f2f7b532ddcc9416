package preempt

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off, as a timeout, makes no claim of that kind, and as a cool-down lets a pool claim again at once.
const Off = -1

// Config is an operator's choices about killing tasks for pools that starve. The zero value is the paper's, where it
// says anything.
type Config struct {
	// Timeouts are those of the top level. Zero fields mean one minute and five; the paper gives no numbers beyond
	// "several minutes" (section 5.2), so set your own.
	Timeouts Timeouts
	// Pools holds exceptions, one entry a pool, or is nil if there are none.
	Pools []PoolConfig
	// Threshold is the part of its fair share below which a pool starves, in (0, 1], counted in millionths. Zero means 1,
	// the paper's; Hadoop's default is 0.5.
	Threshold float64
	// Target is how much is claimed.
	Target Target
	// StrictFloor lets no task go that would take its pool below its share, as the paper has it, where all tasks hold one
	// slot. Without it part of one task may; see [Preemptor.Plan].
	StrictFloor bool
	// Cooldown is how long a pool for which tasks were killed makes no new claim, so that kills can take effect. Zero
	// means 15 s, what Hadoop YARN waits before a kill; see [Off].
	Cooldown time.Duration
	// Order says which of two tasks to kill first: negative for a. Nil means [NewestFirst] (section 3.2), which wastes
	// least. Ties go to the lower index. It must be a strict weak order.
	Order func(a, b Task) int
	// ByMachine takes victims machine by machine, the machine with most candidates first, so that what is freed lies
	// together. Order then holds within a machine.
	ByMachine bool
}

// PoolConfig is what differs for one pool and the pools under it.
type PoolConfig struct {
	Timeouts Timeouts
	// Protected pools lose no task to preemption.
	Protected bool
}

// Timeouts are how long a pool waits for what it is due before tasks are killed for it.
type Timeouts struct {
	// Min is Tmin: how long a pool may be below its minimum. Zero means the parent's, and at the top level the
	// [Config]'s. [Off] means no claim.
	Min time.Duration
	// Fair is Tfair: how long a pool may be below its fair share; zero and [Off] as for Min. Where neither is Off,
	// Min is at most Fair. The paper has it shorter (section 3.2); with both equal a pool claims the larger deficit at
	// once.
	Fair time.Duration
}

// Target is how much a pool that is below its fair share claims.
type Target uint8

const (
	// ToShare claims the whole fair share: the threshold is a trigger only, as in the paper and in Hadoop before 2.9.
	ToShare Target = iota
	// ToThreshold claims no more than the threshold, as Hadoop does since.
	ToThreshold
)

var targetNames = [...]string{ToShare: "to-share", ToThreshold: "to-threshold"}

// String returns the name of the target.
func (t Target) String() string { return enum.Name(targetNames[:], t) }

// MarshalText returns the target's name.
func (t Target) MarshalText() ([]byte, error) { return enum.Text(targetNames[:], t) }

// UnmarshalText sets the target by its name.
func (t *Target) UnmarshalText(text []byte) error { return enum.Parse(targetNames[:], text, t) }

// or fills in what t leaves open.
func (t Timeouts) or(from Timeouts) Timeouts {
	return Timeouts{Min: check.Or(t.Min, from.Min), Fair: check.Or(t.Fair, from.Fair)}
}

// place is that of errors.
const place = "fairshare/preempt: Config"

// validate reports the first of the timeouts that makes no sense, under the name of their field; none is left open.
func (t Timeouts) validate(field string) error {
	var order error
	if t.Min != Off && t.Fair != Off && t.Min > t.Fair {
		order = check.Badf(place, field+".Min", t.Min, "at most %s.Fair, which is %v", field, t.Fair)
	}
	return cmp.Or(check.Age(place, field+".Min", t.Min), check.Age(place, field+".Fair", t.Fair), order)
}

// Effective returns the configuration with its defaults filled in; those of single pools follow from the tree.
func (c Config) Effective() Config {
	c.Timeouts = c.Timeouts.or(Timeouts{time.Minute, 5 * time.Minute})
	c.Threshold = check.Or(c.Threshold, 1)
	c.Cooldown = check.Or(c.Cooldown, 15*time.Second)
	return c
}

// Validate reports the first field that is out of range, with its value and its range. [New] also checks Pools, by the
// tree.
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

// MarshalJSON returns the fields that are not zero, kebab-case, durations in seconds, Off as -1, and no Order;
// UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(c.wire) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// million is what thresholds are counted in.
const million = 1_000_000

func (c *Config) millionths() int64 { return int64(math.Round(c.Threshold * million)) }
