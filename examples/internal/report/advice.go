package report

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Setting is what the engine of the log has against stragglers of its own, and what that would have saved.
type Setting struct {
	Engine  string `json:"engine"`
	Setting string `json:"setting"`
	Policy  string `json:"policy"` // of the report's, which is the engine's rule
	// Reductions of the phases' time and of the slots'.
	Time     float64 `json:"time_reduction"`
	Resource float64 `json:"resource_reduction"`
	// Ever is how many of the stragglers are ever slow enough for the rule, where it has a bar.
	Ever *int `json:"slow_enough,omitempty"`
	// Text says it in a sentence or two.
	Text string `json:"text"`
}

// engines are the settings of engines, by the policy that is their rule.
var engines = map[string]struct{ name, setting, policy string }{
	"Spark event log":      {"Spark", "spark.speculation=true", "spark"},
	"Spark REST answer":    {"Spark", "spark.speculation=true", "spark"},
	"Spark 0.8 job log":    {"Spark", "spark.speculation=true", "spark"},
	"Hadoop Rumen trace":   {"Hadoop", "mapreduce.map.speculative=true and mapreduce.reduce.speculative=true", "late"},
	"Hadoop job history":   {"Hadoop", "mapreduce.map.speculative=true and mapreduce.reduce.speculative=true", "late"},
	"Hadoop 1 job history": {"Hadoop 1", "mapred.map.tasks.speculative.execution=true", "hadoop"},
	"Flink REST answer":    {"Flink", "execution.batch.speculative.enabled: true", "flink"},
}

// Advise adds what the engine of a log, by the name of its format, could be told to do.
func (r *Report) Advise(format string, phases []*sim.Phase) {
	e, known := engines[format]
	if !known {
		return
	}
	for _, p := range r.Policies {
		if p.Name != e.policy {
			continue
		}
		s := &Setting{Engine: e.name, Setting: e.setting, Policy: p.Name, Time: p.All.Mean, Resource: p.Resource.Mean}
		s.Text = fmt.Sprintf("In %s, the setting %s would have changed the phases' time by %s and the slot time by %s.", s.Engine, s.Setting,
			Change(s.Time), Change(s.Resource))
		if bar := multiplier(e.policy); bar > 0 {
			ever := slowerThan(phases, bar)
			s.Ever = &ever
			s.Text += fmt.Sprintf(" Its rule acts on a task that takes more than %.3g times the median of the tasks that have ended; "+
				"%d of the %d stragglers do.", bar, ever, r.Stragglers.Tasks)
		}
		if best := r.best(); best != nil && best.All.Mean > s.Time+0.0005 {
			s.Text += fmt.Sprintf(" The policy %s would have changed the phases' time by %s and the slot time by %s.", best.Name, Change(best.All.Mean), Change(best.Resource.Mean))
		}
		r.Setting = s
		return
	}
}

// best is the policy that saves most of the phases' time; of several the first.
func (r *Report) best() (best *Policy) {
	for i := range r.Policies {
		if p := &r.Policies[i]; best == nil || p.All.Mean > best.All.Mean {
			best = p
		}
	}
	return best
}

// multiplier is the bar of an engine's rule, in medians; 0 if it has none.
func multiplier(policy string) float64 {
	switch policy {
	case "spark":
		return rules.Spark{}.Effective().Multiplier
	case "flink":
		return rules.Flink{}.Effective().Multiplier
	}
	return 0
}

func slowerThan(phases []*sim.Phase, bar float64) (n int) {
	for _, p := range phases {
		for _, ratio := range compare.AppendRatios(nil, p) {
			if ratio > bar {
				n++
			}
		}
	}
	return n
}

// Money is the bill for the slots' time.
type Money struct {
	Cost float64 `json:"cost_per_slot_hour"`
	// Before is the bill without action, With that under the first policy.
	Before float64 `json:"no_action"`
	With   float64 `json:"with_first_policy"`
}

// Price adds the bill, at a cost of a slot for an hour, and says it in the headline.
func (r *Report) Price(cost float64) {
	if cost <= 0 || len(r.Policies) == 0 {
		return
	}
	p := r.Policies[0]
	r.Money = &Money{cost, cost * r.NoAction.Used / 3600, cost * p.Used.Mean / 3600}
	r.Headline += fmt.Sprintf(" At a price of %g for one slot and one hour, the slot time costs %.2f without action and %.2f with %s.",
		cost, r.Money.Before, r.Money.With, p.Name)
}
