package journal

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// customName is written in place of a value that has no text: a custom policy, prior, limiter or path, and a
// Knowledge with observations.
const customName = "custom"

// custom stands for a value of the host that has no text: a policy, a prior distribution or a limiter. The value itself
// comes from [Options.Configure].
type custom struct{}

func (custom) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Reason: restart.Disabled}
}
func (custom) Mean() float64            { return 0 }
func (custom) CDF(float64) float64      { return 0 }
func (custom) Quantile(float64) float64 { return 0 }
func (custom) Allows() bool             { return false }
func (custom) TaskStarted()             {}
func (custom) CopyLaunched()            {}
func (custom) CopyEnded()               {}
func (custom) SlotsChanged(int)         {}

// quoteKind writes the kind of a phase as Go quotes a text, with \x20 for a space, so that it is one word.
func quoteKind(kind string) string {
	if kind == "" {
		return ""
	}
	return strings.ReplaceAll(strconv.Quote(kind), " ", `\x20`)
}

// unquoteKind reads the word that quoteKind writes.
func unquoteKind(text string) (string, error) {
	kind, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("kind is %.40q, want a text that is quoted as in Go", text)
	}
	return kind, nil
}

// newName is the text of a Knowledge without observations that has the default settings.
const newName = "new"

// knowledgeText writes a Knowledge as a word. A Knowledge without observations that has the default settings is written
// as new. Any other Knowledge is written as custom.
func knowledgeText(know *tracker.Knowledge) string {
	if know == nil {
		return ""
	}
	if know.Config() != new(tracker.Knowledge).Config() || know.Machines().Len() > 0 || len(know.Kinds()) > 0 {
		return customName
	}
	return newName
}

// parseKnowledge reads the word that knowledgeText writes. For custom, it returns a placeholder that is written as custom
// again.
func parseKnowledge(text string) (*tracker.Knowledge, error) {
	if text == newName {
		return new(tracker.Knowledge), nil
	}
	if err := onlyCustom("knowledge", text); err != nil {
		return nil, err
	}
	return tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: customName}})
}

// noPath is the placeholder for a path, the function that says how much longer a task takes on a machine because of
// the way to its data.
func noPath(int, int) float64 { return 1 }

// policyText writes a policy. If the same policy cannot be read from the text, the policy is written as custom.
func policyText(policy restart.Policy) string {
	text := rules.Text(policy)
	if policy == nil {
		return text
	}
	if same, err := rules.Parse(text); err != nil || !reflect.DeepEqual(same, policy) {
		return customName
	}
	return text
}

// parsePolicy reads the text that policyText writes.
func parsePolicy(text string) (restart.Policy, error) {
	if text == customName {
		return custom{}, nil
	}
	return rules.Parse(text)
}

// budgetText writes a budget: the number of its slots, and the fields that differ from the defaults. Any other
// limiter is written as custom.
func budgetText(limiter tracker.Limiter) string {
	b, ok := limiter.(*tracker.Budget)
	switch {
	case limiter == nil:
		return ""
	case !ok:
		return customName
	}
	c, usual := b.Config(), tracker.BudgetConfig{Slots: b.Config().Slots}.Effective()
	fields, others := wire.Choices(&c), wire.Choices(&usual)
	// The number of slots is written without a key.
	dst := fields[0].AppendValue(nil)
	for i := range fields {
		if text := fields[i].Append(nil, ','); string(text) != string(others[i].Append(nil, ',')) {
			dst = append(dst, text...)
		}
	}
	return string(dst)
}

// parseBudget reads the text that budgetText writes.
func parseBudget(text string) (tracker.Limiter, error) {
	if text == customName {
		return custom{}, nil
	}
	var c tracker.BudgetConfig
	fields := wire.Choices(&c)
	slots, rest, some := strings.Cut(text, ",")
	if err := (wire.Field{Key: "budget", Value: &c.Slots}).Parse(slots); err != nil {
		return nil, err
	}
	if some {
		if err := wire.ParseSet("budget", fields[1:], rest); err != nil {
			return nil, err
		}
	}
	return tracker.NewBudget(c)
}
