package tracker

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// wire lists the fields that are data; the policy is the text of package rules.
func (c *Config) wire(w *wire.Codec) {
	w.Int("tasks", &c.Tasks)
	w.When(c.Work != nil).Floats("work", &c.Work) // without tasks it is not nil
	w.Int("slots", &c.Slots)
	w.Int("machines", &c.Machines)
	w.Bool("stream", &c.Stream)
	w.Int("clones", &c.Clones)
	w.Duration("interval", &c.Interval)
	w.Duration("lag", &c.Lag)
	w.When(c.Policy != nil).Enum("policy", named{&c.Policy})
	w.Duration("window", &c.Model.Window)
	w.Duration("grace", &c.Model.Grace)
	w.Duration("wrap-up", &c.Model.WrapUp)
	w.Int("min-samples", &c.UnitTimes.MinSamples)
	w.Float("floor", &c.UnitTimes.Floor)
	w.Bool("fixed-overhead", &c.UnitTimes.FixedOverhead)
	w.Bool("keep-first-wave", &c.UnitTimes.KeepFirstWave)
}

// MarshalJSON returns the fields that are not zero, kebab-case, durations in seconds, a Policy as [rules.Text] writes
// it, and one of the host's own as custom. What the host supplies or shares is left out: Budget, Record, Shape, Experience, Path,
// Prior, Factors, OnEvent.
func (c Config) MarshalJSON() ([]byte, error) { return wire.JSON(c.wire) }

// UnmarshalJSON sets the configuration to what MarshalJSON wrote; set what that leaves out behind it.
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// named is a policy by its text.
type named struct{ policy *restart.Policy }

// String returns the text, or custom.
func (n named) String() string { return cmp.Or(rules.Text(*n.policy), "custom") }

// MarshalText returns the text.
func (n named) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the text.
func (n named) UnmarshalText(text []byte) (err error) {
	*n.policy, err = rules.Parse(string(text))
	return err
}
