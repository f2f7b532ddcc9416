package journal

import (
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Recorder keeps a journal of what a tracker is told and what it answers. It watches, and so it can't change an answer:
//
//	record := journal.NewRecorder(config)
//	config.OnEvent = record.OnEvent
//	t, err := tracker.New(config)
//	...
//	file.Write(record.Bytes()) // from time to time
//	record.Reset()
//
// What was written replays to the same answers, to the letter; but if the phase shares a budget or a record of machines
// with others, their share in them is not in the journal. A report and its decision take about 100 bytes. Once the
// journal has its size, an event allocates nothing, and the text of a decision one small piece.
//
// A journal need not grow for ever. After a snapshot of the tracker ([tracker.Tracker.MarshalBinary]) what was recorded
// before is not needed to go on: Reset, keep the snapshot, and after a restart let [tracker.Restore] and [Resume] read
// the two.
//
// Not safe for concurrent use; one per phase.
type Recorder struct {
	text     []byte
	answer   tracker.Answer // scratch
	begun    bool
	start    time.Time // of the journal: the first instant that is not the zero time, once there is one
	anchored bool      // the text says when that was
}

// NewRecorder returns a recorder whose journal begins with the phase. Call it before the tracker is made: what it is
// configured with may learn. O(n) in the number of tasks.
func NewRecorder(c tracker.Config) *Recorder { return &Recorder{text: AppendPhase(nil, c)} }

// Bytes returns the journal since the last Reset, in whole lines. It holds until the next event.
func (r *Recorder) Bytes() []byte { return r.text }

// Reset drops the text that Bytes returned, and keeps its memory. What follows can be read on its own, by [Resume].
func (r *Recorder) Reset() { r.text, r.anchored = r.text[:0], false }

// OnEvent writes an event and its answer. It is meant for [tracker.Config].OnEvent.
func (r *Recorder) OnEvent(e tracker.Event, a tracker.Answer) {
	if e.Kind.Timed() && (!r.begun || r.start.IsZero() && !e.Time.IsZero()) { // no time passes from the zero time on
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
