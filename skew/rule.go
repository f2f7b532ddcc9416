package skew

import "github.com/straggler-go/straggler/internal/enum"

// Rule says how partitions are assigned. The names and values are stable.
type Rule uint8

const (
	// EarliestEnd is DynamicShare's rule and the zero value: the largest partition first, each to the reduce task that
	// would end it first.
	EarliestEnd Rule = iota
	// LoadBalance is the rule that DynamicShare compares with: the largest partition first, each to the reduce task
	// with the least size so far, whatever its speed. It heeds no deadlines.
	LoadBalance
	// ByHash is plain hashing: partition i to reduce task i mod R. It heeds no deadlines.
	ByHash
)

var ruleNames = [...]string{"earliest-end", "load-balance", "by-hash"}

// String returns the rule's name.
func (r Rule) String() string { return enum.Name(ruleNames[:], r) }

// MarshalText returns the rule's name.
func (r Rule) MarshalText() ([]byte, error) { return enum.Text(ruleNames[:], r) }

// UnmarshalText sets the rule by its name.
func (r *Rule) UnmarshalText(text []byte) error { return enum.Parse(ruleNames[:], text, r) }
