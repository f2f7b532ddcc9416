package skew

import "github.com/straggler-go/straggler/internal/enum"

// Rule says how partitions are assigned. The names and values are stable. The zero value is [EarliestEnd].
type Rule uint8

const (
	// EarliestEnd is the rule of DynamicShare. It takes the largest partition first, and gives each partition to the
	// reduce task that would end first with it.
	EarliestEnd Rule = iota
	// LoadBalance is a rule that DynamicShare is compared with. It takes the largest partition first, and gives each
	// partition to the reduce task with the smallest load. It ignores speeds and deadlines.
	LoadBalance
	// ByHash gives partition i to reduce task i mod R. It ignores sizes, speeds and deadlines.
	ByHash
)

var ruleNames = [...]string{"earliest-end", "load-balance", "by-hash"}

// String returns the name of the rule.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error for an unknown value.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText sets the rule by its name. It returns an error for an unknown name.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }
