package shardqueue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Opened Kind = "opened" // the queue has the pieces of Config
	Joined Kind = "joined" // a machine is there, or is there again
	Gave   Kind = "gave"   // a lane of a machine got a batch
	Ended  Kind = "ended"  // the calls of a batch have ended
	Left   Kind = "left"   // a machine has left
	Lost   Kind = "lost"   // a machine has not been heard for the lease
)

// Event is a change of the queue. The events of a queue, applied in order, give its state.
type Event struct {
	Kind    Kind    `json:"kind"`
	At      int64   `json:"at"`                // Unix time in milliseconds
	Config  *Config `json:"config,omitempty"`  // of Opened
	Machine string  `json:"machine,omitempty"` // of all kinds but Opened
	Session string  `json:"session,omitempty"` // of Joined
	Lanes   int     `json:"lanes,omitempty"`   // of Joined
	Factor  float64 `json:"factor,omitempty"`  // of Joined
	Lane    int     `json:"lane,omitempty"`    // of Gave
	Batch   int     `json:"batch,omitempty"`   // of Gave and Ended
	Pieces  []int   `json:"pieces,omitempty"`  // of Gave
	Calls   []Ran   `json:"calls,omitempty"`   // of Ended: one for each call of the batch
}

// Ran is the result of a call: how long it took, in seconds, and whether a test failed.
type Ran struct {
	Seconds float64 `json:"seconds"`
	Failed  bool    `json:"failed,omitempty"`
}

// Line returns the event as a line of text: a checksum of eight digits, a space, the event as JSON, and a newline.
func (e *Event) Line() ([]byte, error) {
	text, err := json.Marshal(e)
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), err
}

// ErrHalf means that a line has no newline: its writer was stopped, or still writes.
var ErrHalf = errors.New("is half written")

// Parse reads a line that Line wrote. It returns ErrHalf if the line has no end.
func Parse(line []byte) (e Event, err error) {
	const digits = 8
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole {
		return e, ErrHalf
	}
	if len(text) <= digits || text[digits] != ' ' {
		return e, errors.New("has no checksum of eight digits")
	}
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(text[digits+1:])); string(text[:digits]) != want {
		return e, fmt.Errorf("has the checksum %q, want %s: it is damaged", text[:digits], want)
	}
	if err := json.Unmarshal(text[digits+1:], &e); err != nil {
		return e, fmt.Errorf("has a valid checksum, but is no event: %w", err)
	}
	return e, nil
}
