package engine

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
)

// What a host stores, sends and logs has one list of fields a type.

func (a *Action) wire(c *wire.Codec) {
	c.Word("op", &a.Op)
	c.When(true).Int("task", &a.Task)
	c.When(true).Text("id", &a.ID)
	c.Text("host", &a.Host)
	c.Texts("avoid", &a.Avoid)
	if c.Reading() || a.Decision != (restart.Decision{}) {
		c.Value("decision", &a.Decision)
	}
}

// LogValue returns the action as a group of fields, for log/slog.
func (a Action) LogValue() slog.Value { return wire.Log(a.wire) }

// MarshalJSON returns the action as an object, the decision as one within, durations in seconds, null for unknown.
func (a Action) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

// UnmarshalJSON reads what MarshalJSON writes: the very same action.
func (a *Action) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Action).wire) }

func (r *Request) wire(c *wire.Codec) {
	c.Word("op", &r.Op)
	c.When(true).Int("task", &r.Task)
	c.When(true).Text("id", &r.ID)
	c.Text("host", &r.Host)
	c.Time("since", &r.Since)
}

// String returns the request as one line.
func (r Request) String() string { return wire.Line(r.wire) }

// LogValue returns the request as a group of fields, for log/slog.
func (r Request) LogValue() slog.Value { return wire.Log(r.wire) }

// MarshalJSON returns the request as an object.
func (r Request) MarshalJSON() ([]byte, error) { return wire.JSON(r.wire) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Request) UnmarshalJSON(data []byte) error { return wire.Read(data, r, (*Request).wire) }

func (m *Movement) wire(c *wire.Codec) {
	c.Word("why", &m.Why)
	c.When(true).Duration("still", &m.Still)
	c.When(true).Duration("usual", &m.Usual)
}

// String returns the verdict as one line.
func (m Movement) String() string { return wire.Line(m.wire) }

// LogValue returns the verdict as a group of fields, for log/slog.
func (m Movement) LogValue() slog.Value { return wire.Log(m.wire) }

// MarshalJSON returns the verdict as an object, durations in seconds.
func (m Movement) MarshalJSON() ([]byte, error) { return wire.JSON(m.wire) }

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Movement) UnmarshalJSON(data []byte) error { return wire.Read(data, m, (*Movement).wire) }
