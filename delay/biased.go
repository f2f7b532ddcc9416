package delay

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Class is a class of jobs by the rate at which their tasks read, and how these wait.
type Class struct {
	// MinRate is the least rate of the class, in bytes per second, 0 or more.
	MinRate float64
	// Config is how its jobs wait: for CPU-bound jobs, set Waits to zeros.
	Config Config
}

// Biased holds a [Policy] for each class of jobs: IO-rate biasing [FAIR §4.3.2]. Where many jobs want the same node,
// those that read fast should wait for it and those that mostly compute should not: a task that takes 25 s over 64 MB
// loads the network with a fifth of what one does that takes 5 s. Immutable. Safe for concurrent use.
type Biased struct {
	rates    []float64
	policies []*Policy
}

// NewBiased returns the policies of the classes, which are given from the fastest reader to the slowest; the last must
// have the MinRate 0. The error names the row and the field that is out of range.
func NewBiased(classes ...Class) (*Biased, error) {
	if len(classes) == 0 {
		return nil, fmt.Errorf("delay: classes has no rows, want one or more")
	}
	b := &Biased{}
	for i, c := range classes {
		place := fmt.Sprintf("delay: classes[%d].", i)
		switch {
		case !(c.MinRate >= 0) || !num.Finite(c.MinRate):
			return nil, fmt.Errorf("%sMinRate is %v, want a finite rate, 0 or more", place, c.MinRate)
		case i > 0 && c.MinRate >= classes[i-1].MinRate:
			return nil, fmt.Errorf("%sMinRate is %v, want less than the %v of the row before",
				place, c.MinRate, classes[i-1].MinRate)
		case i == len(classes)-1 && c.MinRate != 0:
			return nil, fmt.Errorf("%sMinRate is %v, want 0 in the last row", place, c.MinRate)
		}
		p, err := newPolicy(place+"Config.", c.Config)
		if err != nil {
			return nil, err
		}
		b.rates, b.policies = append(b.rates, c.MinRate), append(b.policies, p)
	}
	return b, nil
}

// For returns the policy of jobs whose tasks read at the given rate, in bytes per second. A rate that is not known, NaN
// or negative, gets the first policy, that of the fastest readers. O(classes), no allocation.
func (b *Biased) For(rate float64) *Policy {
	for i, least := range b.rates {
		if rate >= least {
			return b.policies[i]
		}
	}
	return b.policies[0]
}

// ReadRate returns the rate at which a task reads, in bytes per second, if it takes so long over so many bytes: what it
// asks of the network when it does not run where its data is [FAIR §4.3.2]. It is an error if bytes is negative or not
// finite, or if took is not positive. O(1), no allocation but for the error.
func ReadRate(bytes float64, took time.Duration) (float64, error) {
	if !(bytes >= 0) || !num.Finite(bytes) {
		return 0, fmt.Errorf("delay: bytes is %v, want a finite number, 0 or more", bytes)
	}
	if took <= 0 {
		return 0, fmt.Errorf("delay: took is %v, want a duration above 0", took)
	}
	return bytes / took.Seconds(), nil
}
