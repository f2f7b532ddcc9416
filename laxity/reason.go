package laxity

import "github.com/straggler-go/straggler/internal/enum"

// Reason says why: why a job is next, why a worker is or is not called overloaded, why a task stays or moves. The names
// and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// LeastLaxity: of the jobs that can still end in time, or of all under LeastFirst, this one can wait the least.
	LeastLaxity
	// EarliestDeadline: its deadline is the first.
	EarliestDeadline
	// OnlyLate: every job that waits has negative laxity; of these, this one has the least.
	OnlyLate
	// NoJob: none waits.
	NoJob
	// RunningFirst: the job that runs comes before those that wait, or at most within the margin after them.
	RunningFirst

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

	// EndsInTime: the task ends in time where it is, once the others have moved.
	EndsInTime
	// MakesRoom: the task is late here, or makes others late, and would end in time elsewhere.
	MakesRoom
	// LateElsewhere: the task is late wherever it runs, unless others are late in its place.
	LateElsewhere
	// Started: the task has begun and stays.
	Started
)

var reasonNames = [...]string{
	"no-reason", "least-laxity", "earliest-deadline", "only-late", "no-job", "running-first",
	"stands-apart", "among-peers", "not-low", "too-few-workers", "no-laxity",
	"ends-in-time", "makes-room", "late-elsewhere", "started",
}

// String returns the reason's name.
func (r Reason) String() string {
	return enum.Name(reasonNames[:], int(r), "Reason")
}
