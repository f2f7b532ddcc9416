package delay

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Class is a class of jobs by the rate at which their tasks read.
type Class struct {
	// MinRate is the smallest read rate of the class, in bytes per second, 0 or more.
	MinRate float64
	// Config says how the jobs of the class wait. For jobs that mostly compute, set Waits to zeros.
	Config Config
}

// ByReadRate has a [Policy] for each class of jobs: IO-rate biasing [FAIR §4.3.2]. If many jobs want the same
// machine, the jobs that read fast should wait for it, and the jobs that mostly compute should not. For example, two
// tasks read 64 MB, the first in 25 s and the second in 5 s. The first task loads the network with a fifth of the
// second task's rate. The zero value has no classes, and its policy is the zero Policy, which never waits. A
// ByReadRate is immutable and safe for concurrent use.
type ByReadRate struct {
	rates    []float64
	policies []*Policy
}

// NewByReadRate returns the policies of the classes. List the classes from the fastest readers to the slowest; the last
// class must have the MinRate 0. The error names the row and the field that is out of range.
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

// For returns the policy of jobs with the given read rate, in bytes per second. The rate of a task is its bytes divided by
// its duration on a machine with its data. An unknown rate, NaN or negative, gets the policy of the fastest readers.
// O(classes), no allocation.
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
