package laxity

import "github.com/straggler-go/straggler/internal/enum"

// Reason explains an answer of this package: why a job is next, or why a task stays or moves. The names and values are
// stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// LeastLaxity: the job has the least laxity among the jobs that can still meet their deadlines. Under LeastFirst it has
	// the least laxity among all jobs.
	LeastLaxity
	// EarliestDeadline: the job has the earliest deadline.
	EarliestDeadline
	// OnlyLate: all waiting jobs have negative laxity, and the job has the least.
	OnlyLate
	// NoJob: no job waits.
	NoJob
	// RunningFirst: the running job comes before all waiting jobs, or within the margin after the first.
	RunningFirst

	// NoEstimate: the remaining time of the task is unknown.
	NoEstimate
	// EndsInTime: the task ends in time on this worker, once the other tasks have moved.
	EndsInTime
	// MakesRoom: the task is late here or makes other tasks late, and would end in time elsewhere.
	MakesRoom
	// LateElsewhere: the task is late on every worker, unless other tasks are late in its place.
	LateElsewhere
	// Started: the task runs already and stays.
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

// UnmarshalText reads a reason's name, and returns an error for any other text.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
