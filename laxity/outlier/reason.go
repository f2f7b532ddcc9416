package outlier

import "github.com/straggler-go/straggler/internal/enum"

// Reason says why a worker counts as overloaded or not. The values and names are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// StandsApart: the laxity is low, and its factor exceeds the threshold. The worker is overloaded.
	StandsApart
	// AmongPeers: the laxity is low, but its factor does not exceed the threshold.
	AmongPeers
	// NotLow: the laxity is not far enough below the median.
	NotLow
	// TooFewWorkers: fewer laxities are known than the number of neighbours requires.
	TooFewWorkers
	// NoLaxity: the laxity is unknown, or the job has no deadline.
	NoLaxity
)

var reasonNames = [...]string{"no-reason", "stands-apart", "among-peers", "not-low", "too-few-workers", "no-laxity"}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name, or an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText reads a reason's name, and returns an error for any other text.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
