package estimate

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// DefaultMinSamples is the number of samples that [Rates] wants before it trusts them. The paper gives none; three is
// the least at which one odd task is outvoted.
const DefaultMinSamples = 3

// RatesConfig holds the choices of a [Rates]. Its zero value is usable.
type RatesConfig struct {
	// MinSamples is how many samples are enough. With fewer, Prior stands in. 0 means [DefaultMinSamples].
	MinSamples int
	// Prior is what the host expects of the phase before enough tasks were seen: seconds per unit of work. Nil: nothing.
	Prior Distribution
	// Floor is the least work, in units, that counts: a task with less is taken to have this much, when its rate is
	// learned and when a time is predicted. A task that reads nearly nothing takes its start-up time all the same, and
	// would otherwise show an absurd rate. 0 means no floor. A tenth of the phase's mean work is a good choice.
	Floor float64
	// KeepFirstWave keeps the samples of a phase's first wave for good. By default each sample of a later wave pushes
	// one of the first wave out: first waves run cold (44 % slower at the median of the TPC-H runs of Decima), and a
	// copy that is made later does not.
	KeepFirstWave bool
}

func (c RatesConfig) validate() error {
	switch {
	case c.MinSamples < 0:
		return fmt.Errorf("estimate: MinSamples is %d, want 0 or more", c.MinSamples)
	case !(c.Floor >= 0) || math.IsInf(c.Floor, 1):
		return fmt.Errorf("estimate: Floor is %v, want a finite number of units, 0 or more", c.Floor)
	}
	return nil
}

// Rates learns processRate, the time that a unit of work takes, from the tasks of one phase [Mantri §5.5]: from
// finished copies by their whole time, and, because the paper says "all the tasks in this phase", from running ones by
// their progress so far. Copies that failed or were killed are no samples.
//
// It is a [Distribution] in seconds per unit of work: of its samples once there are MinSamples of them; of Prior before
// that; and of a time that never comes if there is no Prior either. Each update takes O(log n) and does not allocate
// once the phase has reached its size. Not safe for concurrent use; one per phase.
type Rates struct {
	config RatesConfig
	all    Empirical
	first  []float64 // the samples of the first wave that are still in all
	done   int
}

// NewRates returns an empty Rates, or an error that names the field that is out of range.
func NewRates(c RatesConfig) (*Rates, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.MinSamples == 0 {
		c.MinSamples = DefaultMinSamples
	}
	return &Rates{config: c}, nil
}

// Config returns the configuration with its defaults filled in.
func (r *Rates) Config() RatesConfig { return r.config }

// Work returns the work that counts for a task of the given work: at least Floor.
func (r *Rates) Work(work float64) float64 { return max(work, r.config.Floor) }

// Rate returns the time that a unit of work took, in seconds: seconds divided by the work that counts. It reports false
// if the two make no rate: no work, no time, or a value that is not finite.
func (r *Rates) Rate(seconds, work float64) (rate float64, ok bool) {
	rate = seconds / r.Work(work)
	return rate, seconds >= 0 && r.Work(work) > 0 && num.Finite(work) && rate <= MaxSample
}

// Finish records a copy that finished: the seconds it took, the work it did, and whether it was of the phase's first
// wave. It reports whether that was a sample.
func (r *Rates) Finish(seconds, work float64, firstWave bool) bool {
	rate, ok := r.Rate(seconds, work)
	if !ok || !r.all.Insert(rate) {
		return false
	}
	r.done++
	switch {
	case r.config.KeepFirstWave:
	case firstWave:
		r.first = append(r.first, rate)
	case len(r.first) > 0:
		last := len(r.first) - 1
		r.all.Delete(r.first[last])
		r.first = r.first[:last]
	}
	return true
}

// Replace exchanges the sample of a running copy: old is the rate that it contributed so far, or a negative number if
// none; rate is its present rate, or a negative number if it contributes no more. It returns what to pass as old next.
func (r *Rates) Replace(old, rate float64) float64 {
	if rate == old {
		return old
	}
	if old >= 0 {
		r.all.Delete(old)
	}
	if rate >= 0 && r.all.Insert(rate) {
		return rate
	}
	return -1
}

// Samples returns the number of samples, finished and running.
func (r *Rates) Samples() int { return r.all.Len() }

// Finished returns the number of finished copies that were samples.
func (r *Rates) Finished() int { return r.done }

// Known reports whether the distribution rests on enough samples or on a Prior.
func (r *Rates) Known() bool { return r.enough() || r.config.Prior != nil }

func (r *Rates) enough() bool { return r.all.Len() >= r.config.MinSamples }

// Mean returns the expected time of a unit of work.
func (r *Rates) Mean() float64 {
	switch {
	case r.enough():
		return r.all.Mean()
	case r.config.Prior != nil:
		return r.config.Prior.Mean()
	}
	return math.Inf(1)
}

// CDF returns the probability that a unit of work takes at most x seconds.
func (r *Rates) CDF(x float64) float64 {
	switch {
	case r.enough():
		return r.all.CDF(x)
	case r.config.Prior != nil:
		return r.config.Prior.CDF(x)
	}
	return 0
}

// Below returns the probability that a unit of work takes less than x seconds.
func (r *Rates) Below(x float64) float64 {
	switch {
	case r.enough():
		return r.all.Below(x)
	case r.config.Prior != nil:
		return Below(r.config.Prior, x)
	}
	return 0
}

// Quantile returns the p-quantile of the time of a unit of work, as [Empirical.Quantile] defines it.
func (r *Rates) Quantile(p float64) float64 {
	switch {
	case r.enough():
		return r.all.Quantile(p)
	case r.config.Prior != nil:
		return r.config.Prior.Quantile(p)
	}
	return math.Inf(1)
}
