package rules

import (
	"slices"
	"strings"

	"github.com/straggler-go/straggler/internal/kv"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/registry"
)

// registration is the one place that knows a policy of this package by its name, its fields and what it reads.
type registration struct {
	restart.Description
	fields []kv.Field            // pointers into a copy of the policy
	built  func() restart.Policy // the copy, as the fields now stand
}

func (r registration) entry() registry.Entry[restart.Policy] {
	return registry.Entry[restart.Policy]{Name: r.Name, Fields: r.fields, Built: r.built}
}

func describe(policy restart.Policy) restart.Description {
	r := registered(policy)
	r.Text, r.CopiesOnly = r.entry().Text(), true // of this package's rules none kills
	return r.Description
}

// registered returns the registration of a policy of this package.
func registered(policy restart.Policy) registration {
	var r registration
	switch p := policy.(type) {
	case LATE:
		r.Name, r.ReadsProgressRates, r.ReadsMachines = "late", true, true
		r.SlowNode = max(p.Effective().SlowNode, 0)
		r.fields = []kv.Field{
			{Key: "speculative-cap", Value: &p.SpeculativeCap}, {Key: "slow-node", Value: &p.SlowNode},
			{Key: "slow-task", Value: &p.SlowTask}, {Key: "min-age", Value: &p.MinAge},
			{Key: "use-remaining", Value: &p.UseRemaining}, {Key: "early", Value: &p.Early},
		}
		r.built = func() restart.Policy { return p }
	case Hadoop:
		r.Name, r.ReadsScores = "hadoop", true
		r.fields = []kv.Field{{Key: "score-lag", Value: &p.ScoreLag}, {Key: "min-age", Value: &p.MinAge}}
		r.built = func() restart.Policy { return p }
	case MapReduce:
		r.Name = "mapreduce"
		r.fields = []kv.Field{{Key: "near-end", Value: &p.NearEnd}}
		r.built = func() restart.Policy { return p }
	case Dryad:
		r.Name, r.ReadsDurations = "dryad", true
		r.fields = []kv.Field{{Key: "percentile", Value: &p.Percentile}, {Key: "min-finished", Value: &p.MinFinished}}
		r.built = func() restart.Policy { return p }
	case Spark:
		r.Name, r.ReadsDurations, r.ReadsThroughput = "spark", true, true
		r.fields = []kv.Field{
			{Key: "quantile", Value: &p.Quantile}, {Key: "multiplier", Value: &p.Multiplier},
			{Key: "min-runtime", Value: &p.MinRuntime}, {Key: "duration", Value: &p.Duration},
			{Key: "executor-slots", Value: &p.ExecutorSlots}, {Key: "slow-rate", Value: &p.SlowRate},
			{Key: "long-run", Value: &p.LongRun},
		}
		r.built = func() restart.Policy { return p }
	case Flink:
		r.Name, r.ReadsDurations, r.ReadsRates = "flink", true, true
		r.fields = []kv.Field{
			{Key: "ratio", Value: &p.Ratio}, {Key: "multiplier", Value: &p.Multiplier},
			{Key: "lower-bound", Value: &p.LowerBound},
		}
		r.built = func() restart.Policy { return p }
	}
	return r
}

// published lists the policies of this package, each by its zero value.
func published() []restart.Policy {
	return []restart.Policy{LATE{}, Hadoop{}, MapReduce{}, Dryad{}, Spark{}, Flink{}}
}

// Parse reads a policy: its name, and behind commas the fields that differ from the published defaults, in small
// letters with dashes, durations as 5s, [restart.Off] as off; spaces around a comma or a sign do not count:
//
//	mantri
//	mantri,idle-gain=2,max-restarts=off
//	late,min-age=5s,speculative-cap=0.2
//
// It knows those of this package and of package restart. The error says what was wanted, also for a field that is out
// of range. It allocates.
func Parse(text string) (restart.Policy, error) {
	names := []string{restart.Describe(restart.Mantri{}).Name, restart.Describe(restart.Never{}).Name}
	var entries []registry.Entry[restart.Policy]
	for _, zero := range published() {
		e := registered(zero).entry()
		entries, names = append(entries, e), append(names, e.Name)
	}
	policy, ok, err := registry.Parse("restart/rules", text, entries)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return policy, restart.Validate(policy)
	}
	name, _, _ := strings.Cut(text, ",")
	if slices.Contains(names[:2], strings.TrimSpace(name)) {
		return restart.ParsePolicy(text)
	}
	return nil, registry.Unknown("restart/rules", text, names)
}

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (l LATE) Describe() restart.Description { return describe(l) }

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (h Hadoop) Describe() restart.Description { return describe(h) }

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (m MapReduce) Describe() restart.Description { return describe(m) }

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (y Dryad) Describe() restart.Description { return describe(y) }

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (s Spark) Describe() restart.Description { return describe(s) }

// Describe says what a [restart.Policy] reads; see [restart.Description].
func (f Flink) Describe() restart.Description { return describe(f) }
