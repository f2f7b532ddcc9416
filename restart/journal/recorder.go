package journal

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// Recorder is a [restart.Tracker] that keeps a journal of what it is told. Use it in the tracker's place, and write the
// journal to a file from time to time:
//
//	file.Write(r.Bytes())
//	r.Reset()
//
// What was written replays to the same answers, to the letter; but if the phase shares a budget or machine factors with
// others, their share in them is not in the journal. A report and its decision take about 100 bytes. Once the journal has
// its size, an event allocates nothing but the text of the decision that follows; a sweep allocates besides.
//
// Not safe for concurrent use; one per phase.
type Recorder struct {
	answers answers
	tracker *restart.Tracker
	begun   bool
	start   time.Time // of the journal: the first event that has a time
	told    int       // events so far
	found   []found
}

// found is a decision of a sweep.
type found struct {
	task     int
	decision restart.Decision
}

// NewRecorder returns a recorder of a new tracker, whose journal begins with the phase, or the error of
// [restart.NewTracker]. O(n) in the number of tasks.
func NewRecorder(c restart.Config) (*Recorder, error) {
	text := AppendPhase(nil, c) // before the tracker can learn anything
	tracker, err := restart.NewTracker(c)
	if err != nil {
		return nil, err
	}
	return &Recorder{answers: answers{text: text, end: "\n"}, tracker: tracker}, nil
}

// Bytes returns the journal since the last Reset, in whole lines. It holds until the next call of a method.
func (r *Recorder) Bytes() []byte { return r.answers.text }

// Reset drops the text that Bytes returned, and keeps its memory.
func (r *Recorder) Reset() { r.answers.text = r.answers.text[:0] }

// Config is [restart.Tracker.Config].
func (r *Recorder) Config() restart.Config { return r.tracker.Config() }

// Phase is [restart.Tracker.Phase].
func (r *Recorder) Phase() restart.Phase { return r.tracker.Phase() }

// Ledger is [restart.Tracker.Ledger].
func (r *Recorder) Ledger() restart.Ledger { return r.tracker.Ledger() }

// Rates is [restart.Tracker.Rates].
func (r *Recorder) Rates() *estimate.Rates { return r.tracker.Rates() }

// at returns the time since the journal's start.
func (r *Recorder) at(now time.Time) time.Duration {
	if !r.begun {
		r.begun, r.start = true, now
	}
	return now.Sub(r.start)
}

// tell writes the event's line. Each method then asks the tracker, writes its answer, and closes.
func (r *Recorder) tell(e Event) {
	r.told++
	r.answers.ignored = r.tracker.Ledger().Ignored
	r.answers.text, _ = e.AppendText(r.answers.text) // fails for no kind that is told here
	r.answers.text = append(r.answers.text, '\n')
}

func (r *Recorder) close() { r.answers.close(r.tracker) }

// SetSlots is [restart.Tracker.SetSlots], recorded.
func (r *Recorder) SetSlots(slots int) {
	r.tell(Event{Kind: Slots, Slots: slots})
	r.tracker.SetSlots(slots)
	r.close()
}

// SetEligible is [restart.Tracker.SetEligible], recorded.
func (r *Recorder) SetEligible(task int, duplicate, restart bool) {
	r.tell(Event{Kind: Eligible, Task: task, NoDuplicate: !duplicate, NoRestart: !restart})
	r.tracker.SetEligible(task, duplicate, restart)
	r.close()
}

// Start is [restart.Tracker.Start], recorded.
func (r *Recorder) Start(now time.Time, task, machine int) int {
	r.tell(Event{Kind: Start, At: r.at(now), Task: task, Machine: machine})
	attempt := r.tracker.Start(now, task, machine)
	r.answers.attempt(attempt)
	r.close()
	return attempt
}

// Submit is [restart.Tracker.Submit], recorded.
func (r *Recorder) Submit(now time.Time, task, machine int) int {
	r.tell(Event{Kind: Submit, At: r.at(now), Task: task, Machine: machine})
	attempt := r.tracker.Submit(now, task, machine)
	r.answers.attempt(attempt)
	r.close()
	return attempt
}

// Begin is [restart.Tracker.Begin], recorded.
func (r *Recorder) Begin(now time.Time, task, attempt, machine int) {
	r.tell(Event{Kind: Begin, At: r.at(now), Task: task, Attempt: attempt, Machine: machine})
	r.tracker.Begin(now, task, attempt, machine)
	r.close()
}

// Report is [restart.Tracker.Report], recorded.
func (r *Recorder) Report(now time.Time, task, attempt int, p restart.Progress) restart.Decision {
	r.tell(Event{Kind: Report, At: r.at(now), Task: task, Attempt: attempt, Progress: p})
	d := r.tracker.Report(now, task, attempt, p)
	r.answers.decision(noTask, d)
	r.close()
	return d
}

// Decide is [restart.Tracker.Decide], recorded.
func (r *Recorder) Decide(now time.Time, task int) restart.Decision {
	r.tell(Event{Kind: Decide, At: r.at(now), Task: task})
	d := r.tracker.Decide(now, task)
	r.answers.decision(noTask, d)
	r.close()
	return d
}

// Next is [restart.Tracker.Next], recorded.
func (r *Recorder) Next(now time.Time, machine int) (task int, d restart.Decision) {
	r.tell(Event{Kind: Next, At: r.at(now), Machine: machine})
	task, d = r.tracker.Next(now, machine)
	r.answers.decision(task, d)
	r.close()
	return task, d
}

// Sweep is [restart.Tracker.Sweep], recorded, but visit is called after the sweep: with each task whose decision was not
// to keep. Once visit has told the recorder of anything, the tasks that follow are decided anew, with a line of their
// own, and visited if there is still something to do.
func (r *Recorder) Sweep(now time.Time, visit func(task int, d restart.Decision)) {
	r.tell(Event{Kind: Sweep, At: r.at(now)})
	all := r.found[:0]
	r.tracker.Sweep(now, func(task int, d restart.Decision) {
		r.answers.decision(task, d)
		all = append(all, found{task, d})
	})
	r.close()
	r.found = nil // visit may sweep in turn
	told := r.told
	for _, f := range all {
		if r.told != told {
			f.decision = r.Decide(now, f.task)
		}
		if f.decision.Action != restart.Keep {
			visit(f.task, f.decision)
		}
	}
	r.found = all
}

// Finish is [restart.Tracker.Finish], recorded.
func (r *Recorder) Finish(now time.Time, task, attempt int, dst []int) []int {
	r.tell(Event{Kind: Finish, At: r.at(now), Task: task, Attempt: attempt})
	n := len(dst)
	dst = r.tracker.Finish(now, task, attempt, dst)
	r.answers.numbers(endsAttempts, dst[n:])
	r.close()
	return dst
}

// Fail is [restart.Tracker.Fail], recorded.
func (r *Recorder) Fail(now time.Time, task, attempt int) {
	r.tell(Event{Kind: Fail, At: r.at(now), Task: task, Attempt: attempt})
	r.tracker.Fail(now, task, attempt)
	r.close()
}

// Kill is [restart.Tracker.Kill], recorded.
func (r *Recorder) Kill(now time.Time, task, attempt int) {
	r.tell(Event{Kind: Kill, At: r.at(now), Task: task, Attempt: attempt})
	r.tracker.Kill(now, task, attempt)
	r.close()
}

// Restart is [restart.Tracker.Restart], recorded.
func (r *Recorder) Restart(now time.Time, task, attempt int) {
	r.tell(Event{Kind: Restart, At: r.at(now), Task: task, Attempt: attempt})
	r.tracker.Restart(now, task, attempt)
	r.close()
}

// GiveUp is [restart.Tracker.GiveUp], recorded.
func (r *Recorder) GiveUp(now time.Time, task int) {
	r.tell(Event{Kind: GiveUp, At: r.at(now), Task: task})
	r.tracker.GiveUp(now, task)
	r.close()
}

// LoseMachine is [restart.Tracker.LoseMachine], recorded.
func (r *Recorder) LoseMachine(now time.Time, machine int, dst []int) []int {
	r.tell(Event{Kind: LoseMachine, At: r.at(now), Machine: machine})
	n := len(dst)
	dst = r.tracker.LoseMachine(now, machine, dst)
	r.answers.numbers(waitTasks, dst[n:])
	r.close()
	return dst
}

// LoseOutput is [restart.Tracker.LoseOutput], recorded.
func (r *Recorder) LoseOutput(now time.Time, task int) {
	r.tell(Event{Kind: LoseOutput, At: r.at(now), Task: task})
	r.tracker.LoseOutput(now, task)
	r.close()
}
