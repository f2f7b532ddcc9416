package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Cause says which timeout led to a claim. A claim is the request of a pool that has waited too long for units.
type Cause uint8

const (
	// NoCause is the zero value. No claim has this cause.
	NoCause Cause = iota
	// BelowMinimum means that the pool was below its minimum for the time [Timeouts.Min].
	BelowMinimum
	// BelowShare means that the pool was below a part of its fair share, [Config.Threshold], for the time
	// [Timeouts.Fair].
	BelowShare
)

var causeNames = [...]string{NoCause: "no-cause", BelowMinimum: "below-minimum", BelowShare: "below-share"}

// String returns the name of the cause.
func (c Cause) String() string { return enum.Name(causeNames[:], c) }

// MarshalText returns the name of the cause. It returns an error if the value has no name.
func (c Cause) MarshalText() ([]byte, error) { return enum.Text(causeNames[:], c) }

// UnmarshalText sets the cause to the constant whose name is text. It returns an error if no constant has this name.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Parse(causeNames[:], text, c) }

// Claim is the request of one pool for units, for example slots, after the pool has waited too long. Claims can be
// compared with ==. A Claim prints as one line, for example:
//
//	claim below-minimum pool=1 deficit=2 waited=60s usage=0 due=2 granted=2
//
// Pool 1 has waited 60 s below its minimum. It uses no unit and should have 2. A plan has found 2 units for it.
type Claim struct {
	Pool    int           // index of the pool that asks for units
	Cause   Cause         // the timeout with the larger deficit; BelowMinimum if both deficits are equal
	Deficit int64         // units that the pool lacks, minus the units that the pools below it claim
	Waited  time.Duration // the time since the pool fell below its minimum, or below the threshold of its share
	Usage   int64         // units that the pool uses
	Due     int64         // units that the pool should have: its minimum, or the number that Config.Target sets
	// Granted is the number of units that a plan found for the claim: free units and units of killed tasks. It is a
	// multiple of the field Units of the pool's [Waiting].
	Granted int64
}

func (k *Claim) wire(c *wire.Codec) {
	c.Kind("claim")
	c.Word("cause", &k.Cause)
	c.When(true).Int("pool", &k.Pool)
	c.When(true).Int64("deficit", &k.Deficit)
	c.When(true).Duration("waited", &k.Waited)
	c.When(true).Int64("usage", &k.Usage)
	c.When(true).Int64("due", &k.Due)
	c.When(true).Int64("granted", &k.Granted)
}

// String returns the claim as one line. MarshalJSON and LogValue (for log/slog)
// return the same fields.
func (k Claim) String() string               { return wire.Line(k.wire) }
func (k Claim) LogValue() slog.Value         { return wire.Log(k.wire) }
func (k Claim) MarshalJSON() ([]byte, error) { return wire.JSON(k.wire) }

// Waiting describes the tasks that a pool waits to run: how many units each task needs, and whether these units
// must be on the same machine. The zero value means that the pool can use every single unit.
type Waiting struct {
	Units      int64 // units of one task, or of several tasks that must start together; less than 1 means 1
	OneMachine bool  // true if all units of a task must be on the same machine
}

func (w Waiting) size() int64 { return max(1, w.Units) }

// plain reports whether the pool can use every single unit, because its waiting tasks need one unit each.
func (w Waiting) plain() bool { return w.size() == 1 }
