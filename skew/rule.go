package skew

import "github.com/straggler-go/straggler/internal/enum"

// Rule says how partitions are assigned. The numbers and the names of the constants will not change. The zero value
// is [EarliestEnd].
type Rule uint8

const (
	// EarliestEnd is the rule of the DynamicShare paper. It takes the largest partition first, and gives each
	// partition to the reduce task that would end first with this partition.
	EarliestEnd Rule = iota
	// LoadBalance is a rule with which the DynamicShare paper compares its own rule. It takes the largest partition
	// first, and gives each partition to the reduce task with the smallest load. It ignores speeds and deadlines.
	LoadBalance
	// ByHash gives partition i to the reduce task with index i mod R; R is the number of reduce tasks. It ignores sizes,
	// speeds and deadlines.
	ByHash
)

var ruleNames = [...]string{EarliestEnd: "earliest-end", LoadBalance: "load-balance", ByHash: "by-hash"}

// String returns the name of the rule.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the name of the rule. It returns an error for an unknown value.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText sets the rule to the rule with the given name. It returns an error for an unknown name.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }
