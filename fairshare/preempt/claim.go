package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Cause says which timeout led to a claim.
type Cause uint8

const (
	// NoCause is the zero value: there is no claim.
	NoCause Cause = iota
	// BelowMinimum means that the pool was below its minimum for Tmin.
	BelowMinimum
	// BelowShare means that the pool was below the threshold of its fair share for Tfair.
	BelowShare
)

var causeNames = [...]string{NoCause: "no-cause", BelowMinimum: "below-minimum", BelowShare: "below-share"}

// String returns the name of the cause.
func (c Cause) String() string { return enum.Name(causeNames[:], c) }

// MarshalText returns the name of the cause. It returns an error for an unknown value.
func (c Cause) MarshalText() ([]byte, error) { return enum.Text(causeNames[:], c) }

// UnmarshalText sets the cause by its name. It returns an error for an unknown name.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Parse(causeNames[:], text, c) }

// Claim is the request of one pool for units after a timeout. It is comparable. One line:
//
//	claim below-minimum pool=1 deficit=2 waited=60s usage=0 due=2 granted=2
//
// Pool 1 uses no unit and should have 2, and it has waited 60 s. A plan has found 2 units for it.
type Claim struct {
	Pool    int           // index of the pool that claims
	Cause   Cause         // the cause of the larger deficit; BelowMinimum if both deficits are equal
	Deficit int64         // units to free for the pool, without the claims of the pools below it
	Waited  time.Duration // the time since the pool fell below its minimum or its threshold
	Usage   int64         // units that the pool uses
	Due     int64         // units that the pool should have by Cause
	Granted int64         // units that a plan found, free units and units of victims; a multiple of Waiting.Units
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

// String returns the claim as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (k Claim) String() string               { return wire.Line(k.wire) }
func (k Claim) LogValue() slog.Value         { return wire.Log(k.wire) }
func (k Claim) MarshalJSON() ([]byte, error) { return wire.JSON(k.wire) }

// Waiting describes the tasks that a pool waits to run: how many units each task needs, and whether the units of a
// task must lie on one machine. The zero value means that the pool can use every single unit.
type Waiting struct {
	Units      int64 // units of one task, or of several tasks that must start together; less than 1 counts as 1
	OneMachine bool  // all units of a task must lie on one machine
}

func (w Waiting) size() int64 { return max(1, w.Units) }

// plain reports whether the pool can use every single unit.
func (w Waiting) plain() bool { return w.Units <= 1 }
