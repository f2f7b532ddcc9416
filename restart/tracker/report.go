package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Report is what a copy reports of itself. Leave out what is not known.
type Report struct {
	// Done is the work that is done, in the units of Config.Work: bytes if Work is bytes, a share in [0, 1] if Work is
	// nil. A copy that resumes from a checkpoint counts what that held. Too large a number is noticed at once, and
	// counted as BadUnits; too small a one when copies end, and counted as SmallUnits: then t_rem goes by ages.
	Done float64
	// Score is its progress score in [0, 1]; if 0, Done divided by the task's work is used. A host that knows nothing
	// else may report it alone: then Score times the task's work is done, for every estimate and every policy.
	Score float64
	// Remaining is the host's own estimate of t_rem, such as that of [estimate.TimeLeftBySubphase]; if 0 or
	// estimate.Unknown, Config.Model is used. A report of a negative one makes no sense, and is ignored.
	//
	// [estimate.TimeLeftBySubphase]: https://pkg.go.dev/github.com/straggler-go/straggler/estimate#TimeLeftBySubphase
	Remaining time.Duration
	// Saved is how much of the task's work a checkpoint holds, in the units of Done. Copies that begin from now on
	// resume there: t_new counts what the checkpoint leaves, and they are judged, and learned from, by what they do
	// beyond it. One that shows less than that in its first report has begun anew. 0: as it was told last. What is
	// saved of a task without work says nothing.
	Saved float64
}

// valid reports whether a report makes sense.
func (r *Report) valid() bool {
	return r.Done >= 0 && r.Score >= 0 && r.Saved >= 0 && num.Finite(r.Done) && num.Finite(r.Score) && num.Finite(r.Saved) &&
		(r.Remaining >= 0 || r.Remaining == estimate.Unknown)
}
