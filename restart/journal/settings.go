package journal

import (
	"reflect"
	"strings"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// customName is written in place of a value that has no text: a custom policy, prior, limiter, path, shape,
// experience or record of machines.
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

// customRecord is a placeholder for a record of machines.
type customRecord struct{ tracker.MachineRecord }

// newName is the text of a record of machines that is empty and has its defaults.
const newName = "new"

// recordText writes a record of machines as a word. An empty record with its defaults is written as new. Any other
// record is written as custom.
func recordText(record tracker.MachineRecord) string {
	if record == nil {
		return ""
	}
	own, ok := record.(*machines.Record)
	fresh, err := machines.New(machines.Config{})
	if err != nil || !ok || own.Len() > 0 || own.Config() != fresh.Config() {
		return customName
	}
	return newName
}

// parseRecord reads the word that recordText writes.
func parseRecord(text string) (tracker.MachineRecord, error) {
	if text == newName {
		return machines.New(machines.Config{})
	}
	return customRecord{}, onlyCustom("record", text)
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
