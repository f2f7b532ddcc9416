// Package wire prints the answers and configurations of the library as lines, logs them, and converts them to JSON. It
// also reads some of them from JSON. Each type has a single list of its fields for all these forms:
//
//	func (d *Decision) wire(c *wire.Codec) {
//		c.Word("action", &d.Action)
//		c.Word("reason", &d.Reason)
//		c.When(d.Action == Kill).Int("copy", &d.Copy)
//		c.Duration("remaining", &d.Remaining)
//	}
//
//	// String returns the decision as one line: action, reason, and the numbers that were used.
//	func (d Decision) String() string { return wire.Line(d.wire) }
//
//	// LogValue returns the decision as a group of fields, for log/slog.
//	func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }
//
//	// MarshalJSON returns the decision as an object of the fields that it prints.
//	func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
//
//	// UnmarshalJSON reads the form of MarshalJSON.
//	func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
//
// The list is a function, here the method named wire, which is called each time that a value is written or read.
// When it writes, each call of a Codec method appends a field to the output. When it reads, each call looks for its
// field in the input. If the input has a field for which there is no call, the result is an error that names the
// field. A condition in the list may use fields of earlier calls, such as the action, because these fields have
// been read already. It must not use fields of later calls.
//
// # The form
//
// Keys are kebab-case. A field with the zero value is not written, unless [Codec.When] says that the field was
// used. If a field is absent from the input, it becomes zero.
//
//	                 line                 JSON and log
//	duration         remaining=65.8s      seconds: 65.834927134
//	  unknown        remaining=?          null
//	number           value=0.25           0.25; NaN is null, ? in a line; infinity is "+Inf", +Inf in a line
//	  of a kind      seconds=0.25         "kind":"seconds","value":0.25
//	  limit, none    budget=off           null
//	  choice, off    wait=off             -1
//	index, none      left out             left out
//	word, enum       keep; basis=age      "keep"
//	flag             move, or stay        true or false
//	text             name=a, name="a b"   "a b"
//	list             avoid=3,7            [3,7]
//	object           limits=(copies=3)    {"copies":3}
//
// JSON is exact: if a value is written and read, the result is equal to the value, to the nanosecond. A line is for
// people. Numbers and durations in a line have six digits, but the choices of a configuration are exact. A log has the
// same keys as the JSON, and the value of a key always has the same type or is null.
//
// Configurations have UnmarshalJSON, and so have the values of package restart that a workflow engine passes on as
// JSON: decisions, answers, events, actions and ledgers. No host reads other answers back. A type with only exported
// fields needs no code for encoding/gob, so a host can store any answer with it. No host reads a line back. Package
// journal reads single fields of a line, by [Field].
package wire
