package journal

import (
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Recorder writes a journal of the events that a tracker receives, and of the tracker's answers. It only observes, so
// it changes no answer:
//
//	record := journal.NewRecorder(config)
//	config.OnEvent = record.OnEvent
//	t, err := tracker.New(config)
//	...
//	file.Write(record.Bytes()) // from time to time
//	record.Reset()
//
// A replay of the journal gives exactly the same answers. There is an exception: if the phase shares a budget or a
// Knowledge with other phases, the journal does not show the changes that the other phases make to it.
//
// A report and its decision take about 100 bytes. When the journal has reached its final size, an event allocates
// nothing, except that the text of a decision takes one small allocation.
//
// The journal need not grow for ever. A snapshot of the tracker ([tracker.Tracker.MarshalBinary]) takes the place of
// the journal before it: save the snapshot, and call Reset. After a restart of the program, [tracker.Restore] reads
// the snapshot, and [Resume] reads the journal since then.
//
// A Recorder is not safe for concurrent use. Use a Recorder for each phase.
type Recorder struct {
	text []byte
	// Memory that each event uses again.
	answer tracker.Answer
	// True if start is set.
	begun bool
	// The start of the journal: the first time that is not zero. Until such a time is seen, it is zero.
	start time.Time
	// True if the text has a line that begins with "since".
	anchored bool
}

// NewRecorder returns a recorder whose journal begins with the line of the phase. Call it before you create the
// tracker, because a Knowledge or a budget in the configuration may change later. O(n) for n tasks.
func NewRecorder(c tracker.Config) *Recorder { return &Recorder{text: appendPhase(nil, c)} }

// Bytes returns the journal since the last Reset. It contains whole lines only. The slice is valid until the next
// event. O(1).
func (r *Recorder) Bytes() []byte { return r.text }

// Reset drops the text that Bytes has returned, but does not free its memory. [Resume] can read the text that is
// written after it. O(1).
func (r *Recorder) Reset() { r.text, r.anchored = r.text[:0], false }

// OnEvent writes an event and its answer to the journal. Set it as [tracker.Config].OnEvent. O(length of the text).
func (r *Recorder) OnEvent(e tracker.Event, a tracker.Answer) {
	// A journal that begins with the zero time gets its start from the first event with another time.
	if e.Kind.Timed() && (!r.begun || r.start.IsZero() && !e.Time.IsZero()) {
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
