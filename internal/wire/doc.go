// Package wire prints, logs and marshals the answers and configurations of the library, and reads configurations.
// Each type has one list of fields for all four:
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
// The list runs once for each text. When it writes, each call appends its field. When it reads an object, each call
// takes its field from the input. An input field that no call has taken is an error, and the error names the field.
// Because the list also reads, it may use fields before the present call, such as the action, but no later field.
// Only the types that a host reads back have UnmarshalJSON: the choices of an operator, and the decision that a
// snapshot holds. Package journal reads single fields of a line, by [Field].
//
// # The form
//
// Keys are kebab-case. A field with the zero value is left out, unless [Codec.When] says that the field was used. A field
// that is left out reads as zero.
//
//	                 line                 JSON and log
//	duration         remaining=65.8s      seconds: 65.834927134
//	  unknown        remaining=?          null
//	number           value=0.25           0.25; NaN is null, ? in a line; infinity is "+Inf", +Inf in a line
//	  of a kind      seconds=0.25         "kind":"seconds","value":0.25
//	  limit, none    budget=off           null
//	  choice, off    wait=off             -1
//	part of a limit  spent=3/10           "spent":3,"budget":10
//	index, none      left out             left out
//	word, enum       keep; basis=age      "keep"
//	flag             move, or stay        true or false
//	text             name=a, name="a b"   "a b"
//	list             avoid=3,7            [3,7]
//	object           limits=(copies=3)    {"copies":3}
//
// JSON is exact: a value reads back as an equal value, to the nanosecond. A line is for people. Numbers and
// durations in a line have six digits, except choices, which are exact. A log has the keys of the JSON, and each key
// has one type or null.
//
// A type that holds nothing but exported fields needs no code for encoding/gob. So a host can store any answer.
package wire
