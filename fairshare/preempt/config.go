package preempt

import (
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
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
	// Fair is Tfair: how long a pool may be below its fair share; zero and [Off] as for Min. Where neither is Never,
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

// inherit fills in what t leaves open, and checks that the result makes sense.
func (t Timeouts) inherit(from Timeouts, where string) (Timeouts, error) {
	switch {
	case t.Min < Off:
		return t, check.Bad("fairshare/preempt", fmt.Sprintf("%s.Min", where), t.Min, "more than 0, 0 to inherit, or Never")
	case t.Fair < Off:
		return t, check.Bad("fairshare/preempt", fmt.Sprintf("%s.Fair", where), t.Fair, "more than 0, 0 to inherit, or Never")
	}
	if t.Min == 0 {
		t.Min = from.Min
	}
	if t.Fair == 0 {
		t.Fair = from.Fair
	}
	if t.Min != Off && t.Fair != Off && t.Min > t.Fair {
		return t, check.Badf("fairshare/preempt", fmt.Sprintf("%s.Min", where), t.Min, "at most %s.Fair, which is %v", where, t.Fair)
	}
	return t, nil
}

// withDefaults fills in what is open and checks the rest, for n pools.
func (c Config) withDefaults(n int) (Config, error) {
	var err error
	if c.Timeouts, err = c.Timeouts.inherit(Timeouts{time.Minute, 5 * time.Minute}, "Config.Timeouts"); err != nil {
		return c, err
	}
	if c.Threshold == 0 {
		c.Threshold = 1
	}
	switch c.Cooldown {
	case 0:
		c.Cooldown = 15 * time.Second
	case Off:
		c.Cooldown = 0
	}
	switch {
	case !num.Finite(c.Threshold) || c.Threshold < 1e-6 || c.Threshold > 1:
		return c, check.Bad("fairshare/preempt", "Config.Threshold", c.Threshold, "1e-6 to 1, or 0 for 1")
	case c.Target > ToThreshold:
		return c, check.Bad("fairshare/preempt", "Config.Target", c.Target, "ToShare or ToThreshold")
	case c.Cooldown < 0:
		return c, check.Bad("fairshare/preempt", "Config.Cooldown", c.Cooldown, "more than 0, 0 for 15s, or Off")
	case c.Pools != nil && len(c.Pools) != n:
		return c, check.Badf("fairshare/preempt", "len(Config.Pools)", len(c.Pools), "one for each of the %d pools", n)
	}
	return c, nil
}

// million is what thresholds are counted in.
const million = 1_000_000

func (c *Config) millionths() int64 { return int64(math.Round(c.Threshold * million)) }
