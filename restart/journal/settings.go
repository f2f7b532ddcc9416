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

// customName is the text of a value that has no text of its own: a custom policy, prior, limiter, path or
// record of machines.
const customName = "custom"

// custom is a placeholder for a custom value until [Options.Configure] supplies it.
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

// customRecord is the placeholder for a record of machines.
type customRecord struct{ tracker.MachineRecord }

// newName is the text of a record of machines with its defaults and no experience.
const newName = "new"

// recordText writes a record of machines. Only a record without experience has a text of its own.
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

func parseRecord(text string) (tracker.MachineRecord, error) {
	if text == newName {
		return machines.New(machines.Config{})
	}
	return customRecord{}, onlyCustom("record", text)
}

// noPath is the placeholder for a path.
func noPath(int, int) float64 { return 1 }

// policyText writes a policy. If the text does not read back as the same policy, it is custom.
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

func parsePolicy(text string) (restart.Policy, error) {
	if text == customName {
		return custom{}, nil
	}
	return rules.Parse(text)
}

// budgetText writes a budget: its slots, and its fields that differ from the defaults. Any other limiter is
// custom.
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
	dst := fields[0].AppendValue(nil) // the slots, without a key
	for i := range fields {
		if text := fields[i].Append(nil, ','); string(text) != string(others[i].Append(nil, ',')) {
			dst = append(dst, text...)
		}
	}
	return string(dst)
}

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
