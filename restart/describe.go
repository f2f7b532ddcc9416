package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/kv"
	"github.com/straggler-go/straggler/restart/internal/registry"
)

// Description is what a [Tracker], a journal or a command line wants to know of a policy. A policy of your own may say
// it by a method Describe() Description; without one it is taken to read every fact, and has no text.
//
// [Tracker]: https://pkg.go.dev/github.com/straggler-go/straggler/restart/tracker#Tracker
type Description struct {
	// Name is the policy's name in small letters; "custom" for a policy of your own that does not say.
	Name string
	// Text is what package rules reads: the name, and the fields that are not zero. Empty for a policy of your own.
	Text string
	// What it reads of the facts, besides the copies of the task and the counts of the phase. A tracker keeps no others.
	ReadsInterval      bool // Phase.Interval, which must be positive then
	ReadsFresh         bool // Task.Fresh
	ReadsLeft          bool // Copy.Left and Copy.Basis; Copy.Remaining is plain extrapolation without
	ReadsDurations     bool // Peers.Durations
	ReadsRates         bool // Peers.Rates
	ReadsProgressRates bool // Peers.ProgressRates
	ReadsScores        bool // Peers.MeanScore
	ReadsThroughput    bool // Peers.Throughput
	ReadsMachines      bool // Peers.Machine
	// SlowNode is the percentile of the machines' total progress below which a machine gets no copy; 0 for none.
	SlowNode float64
	// CopiesOnly says that it answers Duplicate or Keep and nothing else, and that it refuses a slot to all tasks or to
	// none: by NoFreeSlot, CapReached or SlowMachine. A tracker then asks about one task and not about all.
	CopiesOnly bool
	// Limits are those that it keeps, for a tracker to hold it to.
	Limits Limits
}

// registration is the one place that knows a policy of this package by its name, its fields and what it reads.
type registration struct {
	Description
	fields []kv.Field    // pointers into a copy of the policy
	built  func() Policy // the copy, as the fields now stand
}

func (r registration) entry() registry.Entry[Policy] {
	return registry.Entry[Policy]{Name: r.Name, Fields: r.fields, Built: r.built}
}

const customName = "custom"

// registered returns the registration of a policy; its name is empty for one that is not of this package.
func registered(policy Policy) registration {
	var r registration
	switch p := policy.(type) {
	case nil:
		return registered(Mantri{})
	case *Mantri:
		if p != nil {
			return registered(*p)
		}
	case Mantri:
		r.Name, r.ReadsInterval, r.ReadsFresh, r.ReadsLeft = "mantri", true, true, true
		r.Limits = Limits{p.MaxRestarts, p.MaxDuplicates}
		r.fields = []kv.Field{
			{Key: "max-restarts", Value: &p.MaxRestarts}, {Key: "duplicate-threshold", Value: &p.DuplicateThreshold},
			{Key: "idle-gain", Value: &p.IdleGain}, {Key: "fastest-kept", Value: &p.FastestKept},
			{Key: "copy-pause", Value: &p.CopyPause}, {Key: "raised-bar", Value: &p.RaisedBar},
			{Key: "confidence", Value: &p.Confidence}, {Key: "max-duplicates", Value: &p.MaxDuplicates},
		}
		r.built = func() Policy { return p }
	case Never:
		r.Name, r.built = "never", func() Policy { return p }
	}
	return r
}

// Describe returns a policy's name, its text, and which facts it reads. A nil policy is Mantri{}. It allocates.
func Describe(policy Policy) Description {
	if r := registered(policy); r.built != nil {
		r.Text = r.entry().Text()
		return r.Description
	}
	if own, ok := policy.(interface{ Describe() Description }); ok && !check.Nil(policy) {
		d := own.Describe()
		if d.Name == "" {
			d.Name = customName
		}
		return d
	}
	return Description{
		Name: customName, ReadsFresh: true, ReadsDurations: true, ReadsRates: true, ReadsProgressRates: true,
		ReadsScores: true, ReadsThroughput: true, ReadsMachines: true,
	}
}

// ParsePolicy reads a policy of this package, mantri or never: its name, and behind commas the fields that differ from
// the published defaults, in small letters with dashes, durations as 5s, Off as off, as in "mantri,idle-gain=2".
// Package rules reads those of the other engines, too. The error says what was wanted, also for a field that is out of
// range.
func ParsePolicy(text string) (Policy, error) {
	entries := []registry.Entry[Policy]{registered(Mantri{}).entry(), registered(Never{}).entry()}
	policy, ok, err := registry.Parse("restart", text, entries)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, registry.Unknown("restart", text, []string{entries[0].Name, entries[1].Name})
	}
	return policy, Validate(policy)
}

// Validate returns an error that names the first field of a policy that is out of range, with its value and its range.
// It asks a policy of your own by its method Validate() error, if it has one. Validate a policy once, where it is made:
// Decide neither fails nor panics, whatever its fields are. A nil policy is Mantri{}; one that holds a nil pointer is
// an error.
func Validate(policy Policy) error {
	if check.Nil(policy) {
		return fmt.Errorf("restart: Policy is a nil %T, want a policy, or nil itself for Mantri", policy)
	}
	if v, ok := policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
