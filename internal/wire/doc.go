// Package wire prints, logs, marshals and reads back what the library answers, from one list of fields a type:
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
//	// UnmarshalJSON reads what MarshalJSON writes.
//	func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
//
//	// UnmarshalText reads what String returns.
//	func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
//
// The list runs once for each text. To write, each call appends its field; to read, each call takes it from what was
// given, and what no call has taken is an error that names it. Since the list reads as well, it may ask what it has
// passed already, such as the action, and nothing that comes later.
//
// # The form
//
// Keys are kebab-case. A field that is zero is left out, unless [Codec.When] says that it was used; what is left out
// reads as zero.
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
// JSON is exact: it reads back as the same value, to the nanosecond. A line is for people: numbers and durations have
// six digits, except those of choices, which are exact, and a line that is read prints the same again. A log has the
// JSON's keys, each with one type or null.
//
// Types whose exported fields are all that they hold need nothing for encoding/gob, which leaves out zeros as well.
package wire
