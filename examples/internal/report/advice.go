package report

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Setting is the setting of the log's own engine against stragglers, and the time that this setting would have saved.
type Setting struct {
	Engine  string `json:"engine"`
	Setting string `json:"setting"`
	Policy  string `json:"policy"` // name of the policy that has the engine's rule
	// Time and Resource are the reductions of the phases' time and of the slot time.
	Time     float64 `json:"time_reduction"`
	Resource float64 `json:"resource_reduction"`
	// Ever is the number of stragglers that become slow enough for the rule; null if the rule has no such limit.
	Ever *int `json:"slow_enough,omitempty"`
	// Text describes the rule in a sentence; empty if the rule has no such limit.
	Text string `json:"text"`
}

// engines has the setting of each engine, by the name of its log format.
var engines = map[string]struct{ name, setting, policy string }{
	"Spark event log":      {"Spark", "spark.speculation=true", "spark"},
	"Spark REST answer":    {"Spark", "spark.speculation=true", "spark"},
	"Spark 0.8 job log":    {"Spark", "spark.speculation=true", "spark"},
	"Hadoop Rumen trace":   {"Hadoop", "mapreduce.map.speculative=true and mapreduce.reduce.speculative=true", "late"},
	"Hadoop job history":   {"Hadoop", "mapreduce.map.speculative=true and mapreduce.reduce.speculative=true", "late"},
	"Hadoop 1 job history": {"Hadoop 1", "mapred.map.tasks.speculative.execution=true", "hadoop"},
	"Flink REST answer":    {"Flink", "execution.batch.speculative.enabled: true", "flink"},
}

// Advise adds the setting of the engine that wrote the log. format is the name of the log format. It adds nothing for
// an unknown format, or if the policies lack the engine's rule.
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
		if bar := multiplier(e.policy); bar > 0 {
			ever := slowerThan(phases, bar)
			s.Ever = &ever
			s.Text = fmt.Sprintf("Its rule acts on a task that takes more than %.3g times the median of the tasks that have ended; "+
				"%d of the %d stragglers %s.", bar, ever, r.Stragglers.Tasks, words.Plural(ever, "does", "do"))
		}
		r.Setting = s
		return
	}
}

// best returns the policy that saves most of the phases' time, the first of several.
func (r *Report) best() (best *Policy) {
	for i := range r.Policies {
		if p := &r.Policies[i]; best == nil || p.All.Mean > best.All.Mean {
			best = p
		}
	}
	return best
}

// multiplier returns the multiple of the median after which the rule of an engine acts; 0 if the rule has none.
func multiplier(policy string) float64 {
	switch policy {
	case "spark":
		return rules.Spark{}.Effective().Multiplier
	case "flink":
		return rules.Flink{}.Effective().Multiplier
	}
	return 0
}

// slowerThan returns the number of tasks that take more than bar times the median of their phase.
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

// Money is the cost of the slot time.
type Money struct {
	Cost float64 `json:"cost_per_slot_hour"`
	// Before is the cost without action, and With the cost under the first policy.
	Before float64 `json:"no_action"`
	With   float64 `json:"with_first_policy"`
}

// Price adds the cost of the slot time. cost is the price of one slot for one hour; 0 adds nothing.
func (r *Report) Price(cost float64) {
	if cost <= 0 || len(r.Policies) == 0 {
		return
	}
	p := r.Policies[0]
	r.Money = &Money{cost, cost * r.NoAction.Used / 3600, cost * p.Used.Mean / 3600}
}
