package laxity

import "github.com/straggler-go/straggler/internal/enum"

// Reason explains an answer of this package: why a job comes next, or why a task stays or moves. The values and
// the names of the constants will not change.
type Reason uint8

const (
	// NoReason is the zero value. No finished answer has it.
	NoReason Reason = iota

	// LeastLaxity: the job has the smallest laxity, the time that it may still wait, among the jobs that can still
	// meet their deadlines. With the rule [LeastFirst] it has the smallest laxity among all jobs.
	LeastLaxity
	// EarliestDeadline: the job has the earliest deadline, and the rule is [DeadlineFirst].
	EarliestDeadline
	// OnlyLate: all waiting jobs have negative laxity, and this job has the smallest laxity.
	OnlyLate
	// NoJob: no job waits, or no job has the ticket.
	NoJob
	// RunningFirst: the running job should continue. It comes before all waiting jobs, or after the first waiting
	// job by at most [Policy.Margin].
	RunningFirst

	// NoEstimate: the remaining time of the task is unknown, so the task stays.
	NoEstimate
	// EndsInTime: the task stays, because it ends in time on this worker after the other tasks have moved.
	EndsInTime
	// MakesRoom: the task should move. On this worker it would be late or make other tasks late, and on another
	// worker it would end in time.
	MakesRoom
	// LateElsewhere: the task stays and is late. It would be late on every other worker, and on this worker it
	// could only end in time if other tasks were late.
	LateElsewhere
	// Started: the task runs already, so it stays.
	Started
)

var reasonNames = [...]string{
	NoReason: "no-reason", LeastLaxity: "least-laxity", EarliestDeadline: "earliest-deadline", OnlyLate: "only-late",
	NoJob: "no-job", RunningFirst: "running-first", NoEstimate: "no-estimate", EndsInTime: "ends-in-time",
	MakesRoom: "makes-room", LateElsewhere: "late-elsewhere", Started: "started",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
