package outlier

import "github.com/straggler-go/straggler/internal/enum"

// Reason says why a worker is reported as overloaded or not. The values and the names of the constants will not
// change.
type Reason uint8

const (
	// NoReason is the zero value. No verdict of a [Detector] has it.
	NoReason Reason = iota
	// StandsApart: the laxity of the worker is far below the median, and its local outlier factor is above the
	// threshold, because few other laxities are near it. So the worker is overloaded.
	StandsApart
	// AmongPeers: the laxity of the worker is far below the median, but its local outlier factor is not above the
	// threshold, because other workers have similar laxities. So the worker is not overloaded.
	AmongPeers
	// NotLow: the laxity of the worker is not far enough below the median of all laxities. So the worker is not
	// overloaded.
	NotLow
	// TooFewWorkers: the number of known laxities is too small for the number of neighbours, so no factor was
	// computed.
	TooFewWorkers
	// NoLaxity: the laxity of the worker is unknown, or the job has no deadline.
	NoLaxity
)

var reasonNames = [...]string{
	NoReason: "no-reason", StandsApart: "stands-apart", AmongPeers: "among-peers", NotLow: "not-low",
	TooFewWorkers: "too-few-workers", NoLaxity: "no-laxity",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
