package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
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

func (k *Claim) wire(c *wire.Codec) {
	c.Kind(0, "claim")
	c.Word("cause", &k.Cause)
	c.When(true).Int("pool", &k.Pool)
	c.When(true).Int64("deficit", &k.Deficit)
	c.When(true).Duration("waited", &k.Waited)
	c.When(true).Int64("usage", &k.Usage)
	c.When(true).Int64("due", &k.Due)
	c.When(true).Int64("granted", &k.Granted)
}

// String returns the claim as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (k Claim) String() string                   { return wire.Line(k.wire) }
func (k Claim) LogValue() slog.Value             { return wire.Log(k.wire) }
func (k Claim) MarshalJSON() ([]byte, error)     { return wire.JSON(k.wire) }
func (k *Claim) UnmarshalJSON(data []byte) error { return wire.Read(data, k, (*Claim).wire) }
func (k *Claim) UnmarshalText(line []byte) error { return wire.Scan(line, k, (*Claim).wire) }

// Waiting is what a pool has to run next: the units that its tasks need, and whether those of one task must lie on one
// machine. The zero value is a pool that can use every single unit.
type Waiting struct {
	Units      int64 // of one task, or of a gang that starts together; less than 1 counts as 1
	OneMachine bool
}

func (w Waiting) size() int64 { return max(1, w.Units) }

// plain reports whether any unit anywhere will do.
func (w Waiting) plain() bool { return w.Units <= 1 }
