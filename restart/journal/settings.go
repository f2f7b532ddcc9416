package journal

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/restart"
)

// policies names the policies that a journal can write out. Each is written with the fields that are not zero.
var policies = [...]struct {
	name string
	zero restart.Policy
}{
	{"mantri", restart.Mantri{}}, {"late", restart.LATE{}}, {"hadoop", restart.Hadoop{}},
	{"mapreduce", restart.MapReduce{}}, {"dryad", restart.Dryad{}}, {"spark", restart.Spark{}},
	{"flink", restart.Flink{}}, {"never", restart.Never{}},
}

// customName stands for what has no text: a policy or a prior of the host's own, or learned machine factors.
const customName = "custom"

// custom takes the place of what a journal names but cannot hold, until [Options.Configure] supplies it.
type custom struct{}

func (custom) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Reason: restart.Disabled}
}
func (custom) Mean() float64            { return 0 }
func (custom) CDF(float64) float64      { return 0 }
func (custom) Quantile(float64) float64 { return 0 }

// settings returns a policy's name, its fields, and a function that returns the policy as the fields then stand.
func settings(policy restart.Policy) (name string, fields []field, built func() restart.Policy) {
	switch p := policy.(type) {
	case nil:
		return settings(restart.Mantri{})
	case restart.Mantri:
		return "mantri", []field{
			{"max-restarts", &p.MaxRestarts}, {"duplicate-threshold", &p.DuplicateThreshold}, {"idle-gain", &p.IdleGain},
			{"fastest-kept", &p.FastestKept}, {"copy-pause", &p.CopyPause}, {"raised-bar", &p.RaisedBar},
		}, func() restart.Policy { return p }
	case restart.LATE:
		return "late", []field{
			{"speculative-cap", &p.SpeculativeCap}, {"slow-node", &p.SlowNode}, {"slow-task", &p.SlowTask},
			{"min-age", &p.MinAge}, {"use-remaining", &p.UseRemaining}, {"early", &p.Early},
		}, func() restart.Policy { return p }
	case restart.Hadoop:
		return "hadoop", []field{{"score-lag", &p.ScoreLag}, {"min-age", &p.MinAge}}, func() restart.Policy { return p }
	case restart.MapReduce:
		return "mapreduce", []field{{"near-end", &p.NearEnd}}, func() restart.Policy { return p }
	case restart.Dryad:
		return "dryad", []field{
			{"percentile", &p.Percentile}, {"min-finished", &p.MinFinished},
		}, func() restart.Policy { return p }
	case restart.Spark:
		return "spark", []field{
			{"quantile", &p.Quantile}, {"multiplier", &p.Multiplier}, {"min-runtime", &p.MinRuntime},
			{"duration", &p.Duration}, {"executor-slots", &p.ExecutorSlots}, {"slow-rate", &p.SlowRate},
			{"long-run", &p.LongRun},
		}, func() restart.Policy { return p }
	case restart.Flink:
		return "flink", []field{
			{"ratio", &p.Ratio}, {"multiplier", &p.Multiplier}, {"lower-bound", &p.LowerBound},
		}, func() restart.Policy { return p }
	case restart.Never:
		return "never", nil, func() restart.Policy { return p }
	}
	return customName, nil, func() restart.Policy { return custom{} }
}

func appendPolicy(dst []byte, policy restart.Policy) []byte {
	name, fields, _ := settings(policy)
	dst = append(dst, name...)
	for _, f := range fields {
		if !f.unset() {
			dst = f.appendChoice(appendKey(append(dst, ','), f.key))
		}
	}
	return dst
}

func parsePolicy(text string) (restart.Policy, error) {
	name, rest, some := strings.Cut(text, ",")
	var zero restart.Policy = custom{}
	names := make([]string, 0, len(policies)+1)
	for _, p := range policies {
		names = append(names, p.name)
		if p.name == name {
			zero = p.zero
		}
	}
	own, fields, built := settings(zero)
	if own != name {
		return nil, fmt.Errorf("policy is %s, want one of %s or %s", quote(name), strings.Join(names, ", "), customName)
	}
	if some {
		if err := parseChoices("policy "+name, fields, rest); err != nil {
			return nil, err
		}
	}
	return built(), nil
}

// parseChoices reads key=value pairs with commas between them.
func parseChoices(what string, fields []field, text string) error {
	var seen [16]bool
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		i := find(fields, key)
		switch {
		case i < 0 && len(fields) == 0:
			return fmt.Errorf("%s has no settings, got %s", what, quote(pair))
		case i < 0:
			return fmt.Errorf("%s has no setting %s, want one of %s", what, quote(key), keys(fields))
		case seen[i]:
			return fmt.Errorf("%s is given twice", key)
		}
		seen[i] = true
		if err := fields[i].parseChoice(value); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// budgetFields are the choices of a budget; its slots come first and have no key.
func budgetFields(c *restart.BudgetConfig) []field {
	return []field{{"share", &c.Share}, {"rate", &c.Rate}, {"floor", &c.Floor}}
}

// appendBudget writes what differs from the budget that has only slots.
func appendBudget(dst []byte, b *restart.Budget) []byte {
	c := b.Config()
	slots := field{"slots", &c.Slots}
	dst = slots.append(dst)
	usual, err := restart.NewBudget(restart.BudgetConfig{Slots: c.Slots})
	if err != nil {
		return dst // a Budget that NewBudget did not make; reading it back says so
	}
	defaults := usual.Config()
	for i, f := range budgetFields(&c) {
		if text := f.appendChoice(nil); string(text) != string(budgetFields(&defaults)[i].appendChoice(nil)) {
			dst = append(appendKey(append(dst, ','), f.key), text...)
		}
	}
	return dst
}

func parseBudget(text string) (*restart.Budget, error) {
	var c restart.BudgetConfig
	slots, rest, some := strings.Cut(text, ",")
	if err := (field{"budget", &c.Slots}).parse(slots); err != nil {
		return nil, err
	}
	if some {
		if err := parseChoices("budget", budgetFields(&c), rest); err != nil {
			return nil, err
		}
	}
	return restart.NewBudget(c)
}

func appendKey(dst []byte, key string) []byte { return append(append(dst, key...), '=') }
