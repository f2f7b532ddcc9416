package delay

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Class is a class of jobs by the rate at which their tasks read, and how these wait.
type Class struct {
	// MinRate is the least rate of the class, in bytes per second, 0 or more.
	MinRate float64
	// Config is how its jobs wait: for CPU-bound jobs, set Waits to zeros.
	Config Config
}

// ByReadRate holds a [Policy] for each class of jobs: IO-rate biasing [FAIR §4.3.2]. Where many jobs want the same
// node, those that read fast should wait for it and those that mostly compute should not: a task that takes 25 s over
// 64 MB loads the network with a fifth of what one does that takes 5 s. The zero value has no classes, and its policy
// is the zero Policy, which never waits. Immutable. Safe for concurrent use.
type ByReadRate struct {
	rates    []float64
	policies []*Policy
}

// NewByReadRate returns the policies of the classes, which are given from the fastest reader to the slowest; the last
// must have the MinRate 0. The error names the row and the field that is out of range.
func NewByReadRate(classes ...Class) (*ByReadRate, error) {
	if len(classes) == 0 {
		return nil, check.Bad("delay", "len(classes)", 0, "1 or more")
	}
	b := &ByReadRate{}
	for i, c := range classes {
		rate := check.At("classes", i, "MinRate")
		switch {
		case !(c.MinRate >= 0) || !num.Finite(c.MinRate):
			return nil, check.Bad("delay", rate, c.MinRate, "a finite rate, 0 or more")
		case i > 0 && c.MinRate >= classes[i-1].MinRate:
			return nil, check.Badf("delay", rate, c.MinRate, "less than the %v of the row before", classes[i-1].MinRate)
		case i == len(classes)-1 && c.MinRate != 0:
			return nil, check.Bad("delay", rate, c.MinRate, "0 in the last row")
		}
		if err := c.Config.validate(check.At("classes", i, "Config")); err != nil {
			return nil, err
		}
		p, err := New(c.Config)
		if err != nil {
			return nil, err
		}
		b.rates, b.policies = append(b.rates, c.MinRate), append(b.policies, p)
	}
	return b, nil
}

// For returns the policy of jobs whose tasks read at the given rate, in bytes per second: the bytes of a task over the
// time that it takes where its data is. A rate that is not known, NaN or negative, gets the first policy, that of the
// fastest readers. O(classes), no allocation.
func (b *ByReadRate) For(rate float64) *Policy {
	if len(b.policies) == 0 {
		return &Policy{}
	}
	for i, least := range b.rates {
		if rate >= least {
			return b.policies[i]
		}
	}
	return b.policies[0]
}
