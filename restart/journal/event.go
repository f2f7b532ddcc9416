package journal

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
)

// This file reads and writes events as lines. A line consists of keys and values. The method tracker.EventKind.Keys returns
// the keys of each kind of event. This file defines how the value of each key is written, and to which field of an
// event the value belongs.

// fields is an event in the form in which its line shows it. For example, a line contains "copy=no" and not NoCopy.
type fields struct {
	tracker.Event
	// The time until the machine leaves, or Unknown.
	in time.Duration
	// Whether the task may be copied, and whether it may be restarted.
	copies, restart bool
}

// fieldsOf returns an event in the form in which its line shows it.
func fieldsOf(e *tracker.Event) fields {
	f := fields{Event: *e, in: estimate.Unknown, copies: !e.NoCopy, restart: !e.NoRestart}
	if !e.Leaves.IsZero() {
		f.in = e.Leaves.Sub(e.Time)
	}
	return f
}

// inDelta returns a letter of a delta, in the alphabet of base64 for names in URLs. Any other letter becomes a question
// mark: a delta with such a letter is not valid, and a line could not hold it as one word.
func inDelta(r rune) rune {
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
		return r
	}
	return '?'
}

// event returns the event that the fields describe.
func (f *fields) event() tracker.Event {
	if f.in != estimate.Unknown {
		f.Leaves = f.Time.Add(f.in)
	}
	f.NoCopy, f.NoRestart = !f.copies, !f.restart
	return f.Event
}

// field returns the key and the variable for a value of the line. It also reports whether the key is left out of the
// line, because the value is not known or is the default.
func (f *fields) field(key string) (wire.Field, bool) {
	switch key {
	case "task":
		return wire.Field{Key: key, Value: &f.Task}, false
	case "attempt":
		return wire.Field{Key: key, Value: &f.Attempt}, false
	case "machine":
		return wire.Field{Key: key, Value: &f.Machine}, f.Machine < 0
	case "delta":
		f.Delta = strings.Map(inDelta, f.Delta)
		return wire.Field{Key: key, Value: &f.Delta}, false
	case "work":
		if !num.Known(f.Work) {
			f.Work = unknownWork
		}
		return wire.Field{Key: key, Value: &f.Work}, f.Work == unknownWork
	case "slots":
		return wire.Field{Key: key, Value: &f.Slots}, false
	case "in":
		return wire.Field{Key: key, Value: &f.in}, f.in == estimate.Unknown
	case "copy":
		return wire.Field{Key: key, Value: &f.copies}, f.copies
	case "restart":
		return wire.Field{Key: key, Value: &f.restart}, f.restart
	case "done":
		return wire.Field{Key: key, Value: &f.Report.Done}, f.Report.Done == 0
	case "score":
		return wire.Field{Key: key, Value: &f.Report.Score}, f.Report.Score == 0
	case "remaining":
		return wire.Field{Key: key, Value: &f.Report.Remaining}, f.Report.Remaining == 0
	}
	return wire.Field{Key: key, Value: &f.Report.Saved}, f.Report.Saved == 0
}

// AppendEvent appends an event to dst as one line, without a line end. The time of the event is written as the time
// since start. [ParseEvent] reads the line back, and AppendEvent writes its result as the same line again. If the
// kind of the event is unknown, no parser accepts the line. AppendEvent does not allocate if dst has enough capacity.
// O(length of the line).
func AppendEvent(dst []byte, start time.Time, e tracker.Event) []byte {
	if e.Kind.Timed() {
		dst = append(wire.AppendSeconds(dst, e.Time.Sub(start)), ' ')
	}
	word, _, _ := strings.Cut(e.Kind.String(), " ")
	dst = append(dst, word...)
	f := fieldsOf(&e)
	must, may := e.Kind.Keys()
	for _, key := range must {
		one, _ := f.field(key)
		if e.Kind == tracker.SlotsSet {
			dst = one.AppendValue(append(dst, ' '))
		} else {
			dst = one.Append(dst, ' ')
		}
	}
	for _, key := range may {
		if one, unset := f.field(key); !unset {
			dst = one.Append(dst, ' ')
		}
	}
	return dst
}

// unknownWork is the work of a new task if a line does not say it.
const unknownWork = -1

// parseEvent reads the words that follow the time of a line. Argument timed says whether the line has a time, and at
// is this time.
func parseEvent(words []string, at time.Duration, timed bool) (tracker.Event, error) {
	none := tracker.Event{Machine: unknownMachine}
	kind, words, err := parseKind(words)
	switch {
	case err != nil:
		return none, err
	case kind.Timed() && !timed:
		return none, fmt.Errorf("%s has no time, want a time before it, such as 10s %s", kind, kind)
	case !kind.Timed() && timed:
		return none, fmt.Errorf("%s has a time, want no time before it", kind)
	}
	if kind.Has("work") {
		none.Work = unknownWork
	}
	if none.Kind = kind; timed {
		none.Time = start().Add(at)
	}
	f := fieldsOf(&none)
	must, may := kind.Keys()
	list := make([]wire.Field, 0, len(must)+len(may))
	for _, keys := range [...][]string{must, may} {
		for _, key := range keys {
			one, _ := f.field(key)
			list = append(list, one)
		}
	}
	// The line "slots N" has a number without a key.
	if kind == tracker.SlotsSet {
		if len(words) != 1 {
			return none, fmt.Errorf("%s wants one word after it, got %d", kind, len(words))
		}
		err = list[0].Parse(words[0])
	} else {
		var seen uint64
		seen, err = wire.ParsePairs(kind, list, words)
		if missing := bits.TrailingZeros64(^seen); err == nil && missing < len(must) {
			err = fmt.Errorf("%s wants %s=", kind, must[missing])
		}
	}
	return f.event(), err
}

// parseKind reads the kind of an event from the first word. It returns the kind and the other words. The two kinds of
// "lose" have the same first word, and differ in the key of the second.
func parseKind(words []string) (tracker.EventKind, []string, error) {
	if len(words) == 0 {
		return 0, nil, fmt.Errorf("got only a time, want one of %s after it", names(true))
	}
	for k := tracker.Started; int(k) <= tracker.EventKinds; k++ {
		word, lost, two := strings.Cut(k.String(), " ")
		if words[0] == word && (!two || len(words) == 2 && strings.HasPrefix(words[1], lost+"=")) {
			return k, words[1:], nil
		}
	}
	if words[0] == "lose" {
		return 0, nil, errors.New("lose wants machine=, or task= for the output of a task, and no other field")
	}
	return 0, nil, fmt.Errorf("got %.40q, want a time or one of %s", words[0], names(false))
}

// names returns a list of words for an error. If timed is true, it contains the kinds of events that have a time. If
// timed is false, it contains all kinds, and the first words of the lines of a phase.
func names(timed bool) string {
	var all []string
	if !timed {
		all = append(all, wordPhase, wordWork, wordSince)
	}
	for k := tracker.Started; int(k) <= tracker.EventKinds; k++ {
		if k.Timed() || !timed {
			all = append(all, k.String())
		}
	}
	return strings.Join(all, ", ")
}
