package laxity

import "github.com/straggler-go/straggler/internal/enum"

// Reason says why: why a job is next, why a task stays or moves. The names
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

	// NoEstimate: what the task needs is unknown.
	NoEstimate
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
	"no-estimate", "ends-in-time", "makes-room", "late-elsewhere", "started",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name, or an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText takes a reason's name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
