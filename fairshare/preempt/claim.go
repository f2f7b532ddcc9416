package preempt

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
)

// Cause is the timeout on which a claim rests.
type Cause uint8

const (
	// NoCause is the zero value, of no claim.
	NoCause Cause = iota
	// BelowMinimum means the pool was below its minimum for Tmin.
	BelowMinimum
	// BelowShare means the pool was below the threshold of its fair share for Tfair.
	BelowShare
)

var causeNames = [...]string{NoCause: "no-cause", BelowMinimum: "below-minimum", BelowShare: "below-share"}

// String returns the name of the cause.
func (c Cause) String() string { return enum.Name(causeNames[:], c) }

// MarshalText returns the cause's name.
func (c Cause) MarshalText() ([]byte, error) { return enum.Text(causeNames[:], c) }

// UnmarshalText sets the cause by its name.
func (c *Cause) UnmarshalText(text []byte) error { return enum.Parse(causeNames[:], text, c) }

// Claim is what a pool is due after a timeout. It is comparable.
type Claim struct {
	Pool    int
	Cause   Cause         // of the larger deficit; the minimum's if they are equal
	Deficit int64         // units to free for it, without those that pools under it claim themselves
	Waited  time.Duration // since the pool fell below what Cause names
	Usage   int64         // what it has
	Due     int64         // what it should have by Cause
	Granted int64         // units that a plan found for it, free ones and those of victims: a multiple of Waiting.Units
}

// String returns the claim as one line, such as
// "claim below-minimum pool=1 deficit=2 waited=1m0s usage=0 due=2 granted=2".
func (c Claim) String() string {
	return fmt.Sprintf("claim %v pool=%d deficit=%d waited=%v usage=%d due=%d granted=%d",
		c.Cause, c.Pool, c.Deficit, c.Waited, c.Usage, c.Due, c.Granted)
}

// LogValue implements [slog.LogValuer].
func (c Claim) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("pool", c.Pool), slog.String("cause", c.Cause.String()), slog.Int64("deficit", c.Deficit),
		slog.Duration("waited", c.Waited), slog.Int64("usage", c.Usage), slog.Int64("due", c.Due), slog.Int64("granted",
			c.Granted))
}

// Waiting is what a pool has to run next: the units that its tasks need, and whether those of one task must lie on one
// machine. The zero value is a pool that can use every single unit.
type Waiting struct {
	Units      int64 // of one task, or of a gang that starts together; less than 1 counts as 1
	OneMachine bool
}

func (w Waiting) size() int64 { return max(1, w.Units) }

// plain reports whether any unit anywhere will do.
func (w Waiting) plain() bool { return w.Units <= 1 }
