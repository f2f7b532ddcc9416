package outlier

import "github.com/straggler-go/straggler/internal/enum"

// Reason says why a worker is or is not called overloaded. The values and names are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// StandsApart: the laxity is low and its factor exceeds the threshold.
	StandsApart
	// AmongPeers: the laxity is low, and its factor does not exceed the threshold.
	AmongPeers
	// NotLow: the laxity is not far enough below the median.
	NotLow
	// TooFewWorkers: there are not enough known laxities for the number of neighbours.
	TooFewWorkers
	// NoLaxity: the laxity is unknown, or there is no deadline.
	NoLaxity
)

var reasonNames = [...]string{"no-reason", "stands-apart", "among-peers", "not-low", "too-few-workers", "no-laxity"}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name, or an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText takes a reason's name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
