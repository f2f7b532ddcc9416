package journal

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart/tracker"
)

// This file reads and writes events as lines. The keys of each kind are in tracker.Kind.Keys. Here is how a
// key's value is written, and in which field of an event it belongs.

// fields are an event as its line shows it.
type fields struct {
	tracker.Event
	in              time.Duration // time until the machine leaves, or Unknown
	copies, restart bool
}

// fieldsOf returns the fields of an event.
func fieldsOf(e *tracker.Event) fields {
	f := fields{Event: *e, in: estimate.Unknown, copies: !e.NoCopy, restart: !e.NoRestart}
	if !e.Leaves.IsZero() {
		f.in = e.Leaves.Sub(e.Time)
	}
	return f
}

// event returns the event of the fields.
func (f *fields) event() tracker.Event {
	if f.in != estimate.Unknown {
		f.Leaves = f.Time.Add(f.in)
	}
	f.NoCopy, f.NoRestart = !f.copies, !f.restart
	return f.Event
}

// field returns the key and the place of a value, and whether the value is left out of a line.
func (f *fields) field(key string) (wire.Field, bool) {
	switch key {
	case "task":
		return wire.Field{Key: key, Value: &f.Task}, false
	case "attempt":
		return wire.Field{Key: key, Value: &f.Attempt}, false
	case "machine":
		return wire.Field{Key: key, Value: &f.Machine}, f.Machine < 0
	case "delta":
		f.Delta = strings.ReplaceAll(f.Delta, " ", "?") // a space would split the word; such a text is no delta
		return wire.Field{Key: key, Value: &f.Delta}, false
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

// AppendEvent appends an event as one line, without a line end. The event's time is written as the time since
// start. [ParseEvent] reads the line back, and AppendEvent writes the result as the same line again. An event
// of an unknown kind gives a line that no parser accepts. AppendEvent does not allocate if dst is long enough.
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

// parseEvent reads the words of a line after its time.
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
	if kind == tracker.SlotsSet { // its number has no key
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

// parseKind takes the kind off the front of the words. The two kinds of lose differ in the key of the next
// word.
func parseKind(words []string) (tracker.Kind, []string, error) {
	if len(words) == 0 {
		return 0, nil, fmt.Errorf("got only a time, want one of %s after it", names(true))
	}
	for k := tracker.Started; int(k) <= tracker.Kinds; k++ {
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

// names lists the kinds that have a time; without timed, all kinds and the words of a phase.
func names(timed bool) string {
	var all []string
	if !timed {
		all = append(all, wordPhase, wordWork, wordSince)
	}
	for k := tracker.Started; int(k) <= tracker.Kinds; k++ {
		if k.Timed() || !timed {
			all = append(all, k.String())
		}
	}
	return strings.Join(all, ", ")
}
