package fairshare

import (
	"log/slog"
	"strconv"
	"time"
)

// Cause is the timeout on which a claim rests.
type Cause uint8

const (
	// NoCause is the zero value, of no claim.
	NoCause Cause = iota
	// MinTimeout means the pool was below its minimum for Tmin.
	MinTimeout
	// FairTimeout means the pool was below the threshold of its fair share for Tfair.
	FairTimeout
)

var causeNames = [...]string{NoCause: "none", MinTimeout: "below minimum", FairTimeout: "below fair share"}

// String returns the cause in words.
func (c Cause) String() string { return nameOf(causeNames[:], uint8(c)) }

// Claim is what a pool is due after a timeout. It is comparable.
//
// Safe for concurrent use.
type Claim struct {
	Pool    int
	Cause   Cause         // of the larger deficit; the minimum's if they are equal
	Deficit int64         // units to free for it, without those that pools under it claim themselves
	Waited  time.Duration // since the pool fell below what Cause names
	Usage   int64         // what it has
	Due     int64         // what it should have by Cause
	Granted int64         // units that a plan found for it, free ones and those of victims
}

// String returns the claim as one line.
func (c Claim) String() string {
	b := append(make([]byte, 0, 100), "pool "...)
	b = strconv.AppendInt(b, int64(c.Pool), 10)
	b = append(b, " claims "...)
	b = strconv.AppendInt(b, c.Deficit, 10)
	b = append(b, ": "...)
	b = append(b, c.Cause.String()...)
	b = append(b, " for "...)
	b = append(b, c.Waited.String()...)
	b = append(b, ", has "...)
	b = strconv.AppendInt(b, c.Usage, 10)
	b = append(b, " of "...)
	b = strconv.AppendInt(b, c.Due, 10)
	b = append(b, ", granted "...)
	return string(strconv.AppendInt(b, c.Granted, 10))
}

// LogValue implements [slog.LogValuer].
func (c Claim) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("pool", c.Pool), slog.String("cause", c.Cause.String()), slog.Int64("deficit", c.Deficit),
		slog.Duration("waited", c.Waited), slog.Int64("usage", c.Usage), slog.Int64("due", c.Due), slog.Int64("granted", c.Granted))
}
