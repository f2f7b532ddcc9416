package journal

import (
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Recorder writes a journal of the events that a tracker is told and of its answers. A recorder only watches,
// so it changes no answer:
//
//	record := journal.NewRecorder(config)
//	config.OnEvent = record.OnEvent
//	t, err := tracker.New(config)
//	...
//	file.Write(record.Bytes()) // from time to time
//	record.Reset()
//
// A replay of the journal gives exactly the same answers. Shared state is an exception: if the phase shares a budget
// or a record of machines with other phases, the journal does not show the other phases' changes.
//
// A report and its decision take about 100 bytes. Once the journal has grown to its size, an event allocates
// nothing, and the text of a decision allocates one small piece.
//
// A journal need not grow for ever. A snapshot of the tracker ([tracker.Tracker.MarshalBinary]) replaces the
// journal before it: call Reset, and keep the snapshot. After a restart, [tracker.Restore] reads the snapshot
// and [Resume] reads the journal since then.
//
// A Recorder is not safe for concurrent use. Use one for each phase.
type Recorder struct {
	text     []byte
	answer   tracker.Answer // scratch
	begun    bool
	start    time.Time // start of the journal: the first time that is not zero, once there is one
	anchored bool      // the text has a since line
}

// NewRecorder returns a recorder whose journal begins with the phase. Call it before the tracker is made,
// because a record of machines or a budget in the configuration may change later. O(n) in the number of tasks.
func NewRecorder(c tracker.Config) *Recorder { return &Recorder{text: AppendPhase(nil, c)} }

// Bytes returns the journal since the last Reset, in whole lines. The slice is valid until the next event.
// O(1).
func (r *Recorder) Bytes() []byte { return r.text }

// Reset drops the text that Bytes returned and keeps its memory. [Resume] can read the text that follows. O(1).
func (r *Recorder) Reset() { r.text, r.anchored = r.text[:0], false }

// OnEvent writes an event and its answer. Set it as [tracker.Config].OnEvent. O(length of the text).
func (r *Recorder) OnEvent(e tracker.Event, a tracker.Answer) {
	if e.Kind.Timed() && (!r.begun || r.start.IsZero() && !e.Time.IsZero()) { // from the zero time no time passes
		r.begun, r.start, r.anchored = true, e.Time, false
	}
	if r.begun && !r.anchored {
		r.anchored = true
		r.text = appendSince(r.text, r.start)
	}
	r.text = append(AppendEvent(r.text, r.start, e), '\n')
	r.answer = a
	r.text = appendAnswer(r.text, &e, &r.answer, "\n")
}
