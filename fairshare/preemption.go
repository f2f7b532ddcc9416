package fairshare

import (
	"fmt"
	"time"
)

const (
	// Never as a timeout means that the pool makes no claim of that kind.
	Never time.Duration = -1
	// NoCooldown lets a pool claim again at once.
	NoCooldown time.Duration = -1

	// DefaultMinTimeout and DefaultFairTimeout are the timeouts of a top-level pool that has none of its own. They are
	// not the paper's, which gives no numbers beyond "several minutes" (section 5.2); set your own.
	DefaultMinTimeout  = time.Minute
	DefaultFairTimeout = 5 * time.Minute
	// DefaultCooldown is what Hadoop YARN waits before a kill.
	DefaultCooldown = 15 * time.Second
)

// Patience is how long a pool waits for what it is due before tasks are killed for it.
//
// Safe for concurrent use.
type Patience struct {
	// Min is Tmin: how long a pool may be below its minimum. Zero means the parent's, and at the top level the
	// [Preemption]'s. [Never] means no claim.
	Min time.Duration
	// Fair is Tfair: how long a pool may be below its fair share; zero and [Never] as for Min. Where neither is Never,
	// Min must be shorter than Fair (section 3.2).
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
func (t Target) String() string { return nameOf(targetNames[:], uint8(t)) }

// Preemption is an operator's choices about killing tasks for pools that starve.
//
// Safe for concurrent use.
type Preemption struct {
	// Patience is that of the top level. Zero fields mean [DefaultMinTimeout] and [DefaultFairTimeout].
	Patience Patience
	// Pools holds exceptions, one entry a pool, or is nil if there are none.
	Pools []PoolPreemption
	// Threshold is the percentage of its fair share below which a pool starves. Zero means 100, the paper's; Hadoop's
	// default is 50. Range 1 to 100.
	Threshold int
	// Target is how much is claimed.
	Target Target
	// Cooldown is how long a pool for which tasks were killed makes no new claim, so that kills can take effect. Zero
	// means [DefaultCooldown]; see [NoCooldown].
	Cooldown time.Duration
	// Order says which of two tasks to kill first: negative for a. Nil means the one started last (section 3.2), which
	// wastes least. Ties go to the lower index. It must be a strict weak order.
	Order func(a, b Task) int
	// ByMachine takes victims machine by machine, the machine with most candidates first, so that what is freed lies
	// together. Order then holds within a machine.
	ByMachine bool
}

// PoolPreemption is what differs for one pool and the pools under it.
//
// Safe for concurrent use.
type PoolPreemption struct {
	Patience Patience
	// Protected pools lose no task to preemption.
	Protected bool
}

func (p Patience) check(where string) error {
	switch {
	case p.Min < Never:
		return fmt.Errorf("fairshare: %s: Patience.Min is %v, want more than 0, 0 to inherit, or Never", where, p.Min)
	case p.Fair < Never:
		return fmt.Errorf("fairshare: %s: Patience.Fair is %v, want more than 0, 0 to inherit, or Never", where, p.Fair)
	}
	return nil
}

// inherit fills in what p leaves open, and checks that the result makes sense.
func (p Patience) inherit(from Patience, where string) (Patience, error) {
	if err := p.check(where); err != nil {
		return p, err
	}
	if p.Min == 0 {
		p.Min = from.Min
	}
	if p.Fair == 0 {
		p.Fair = from.Fair
	}
	if p.Min != Never && p.Fair != Never && p.Min >= p.Fair {
		return p, fmt.Errorf("fairshare: %s: Patience.Min is %v, want less than Patience.Fair, which is %v", where, p.Min, p.Fair)
	}
	return p, nil
}

// withDefaults fills in what is open and checks the rest, for a forest of n pools.
func (c Preemption) withDefaults(n int) (Preemption, error) {
	var err error
	if c.Patience, err = c.Patience.inherit(Patience{DefaultMinTimeout, DefaultFairTimeout}, "preemption"); err != nil {
		return c, err
	}
	if c.Threshold == 0 {
		c.Threshold = 100
	}
	switch c.Cooldown {
	case 0:
		c.Cooldown = DefaultCooldown
	case NoCooldown:
		c.Cooldown = 0
	}
	switch {
	case c.Threshold < 0 || c.Threshold > 100:
		return c, fmt.Errorf("fairshare: preemption: Threshold is %d, want 1 to 100 percent, or 0 for 100", c.Threshold)
	case c.Target > ToThreshold:
		return c, fmt.Errorf("fairshare: preemption: Target is %d, want ToShare or ToThreshold", c.Target)
	case c.Cooldown < 0:
		return c, fmt.Errorf("fairshare: preemption: Cooldown is %v, want more than 0, 0 for the default, or NoCooldown", c.Cooldown)
	case c.Pools != nil && len(c.Pools) != n:
		return c, fmt.Errorf("fairshare: preemption: Pools has %d entries, want one for each of the %d pools", len(c.Pools), n)
	}
	return c, nil
}
