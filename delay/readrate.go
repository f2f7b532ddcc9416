package delay

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Class is a class of jobs whose tasks read at similar rates.
type Class struct {
	// MinRate is the smallest read rate of a job in the class, in bytes per second, 0 or more.
	MinRate float64
	// Config says how long the jobs of the class wait. For jobs that mostly compute, set each element of Waits to
	// 0.
	Config Config
}

// ByReadRate contains a [Policy] for each class of jobs. The paper calls this IO-rate biasing [FAIR §4.3.2]. If
// many jobs want a slot on the same machine, jobs that read fast should wait for it, and jobs that mostly compute
// should not. For example, two tasks read 64 MB, the first in 25 s and the second in 5 s. On another machine, the
// first task would load the network with only a fifth of the second task's rate. The zero value has no classes,
// and its jobs never wait. A ByReadRate never changes and is safe for concurrent use.
type ByReadRate struct {
	rates    []float64
	policies []*Policy
}

// NewByReadRate returns the policies of the classes. List the class with the largest MinRate first. The last class
// must have the MinRate 0. NewByReadRate returns an error with the index of a class and the name of a field that
// is out of range.
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

// For returns the policy for jobs with the given read rate in bytes per second. The read rate of a task is the
// number of bytes that it reads, divided by its duration on a machine with its data. For an unknown rate, NaN or
// negative, For returns the policy of the class with the largest MinRate. Cost: O(classes), no allocation.
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
