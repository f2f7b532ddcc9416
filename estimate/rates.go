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
	// Floor is the least work, in units, that counts: a task with less is taken to have this much. A task that reads
	// nearly nothing takes its start-up time all the same, and would otherwise show an absurd rate. 0 means no floor. A
	// tenth of the phase's mean work is a good choice.
	Floor float64
	// FixedOverhead keeps the overhead at 0, which is equation 3 as printed; see [Rates.Overhead].
	FixedOverhead bool
	// KeepFirstWave keeps the samples of a phase's first wave for good. By default each task of a later wave that
	// finishes pushes one of the first wave out: first waves run cold (44 % slower at the median of the TPC-H runs of
	// Decima), and a copy that is made later does not.
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
// the whole time that their progress so far implies. Copies that failed are no samples.
//
// It is a [Distribution] in seconds per unit of the work that counts, [Rates.Work]: of its samples once there are
// MinSamples of them; of Prior before that; and of a time that never comes if there is no Prior either.
//
// An update takes O(log n) amortised. After as many updates as there were samples the overhead is fitted anew, and if it
// has moved, the samples are sorted anew: that single update takes O(n log n), half a second for a million samples. An
// update does not allocate once the phase has reached its size. A sample needs 40 bytes.
//
// Not safe for concurrent use; one per phase.
type Rates struct {
	config   RatesConfig
	all      Empirical // the samples' rates
	samples  []rateSample
	free     []int32 // places in samples
	first    []int32 // places of finished samples of the first wave
	overhead float64
	stale    int // updates since the overhead was fitted
	fitted   int // samples that it was fitted to
	finished int
}

type rateSample struct{ seconds, work, rate float64 } // rate as it stands in all; negative if the place is free

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

// Overhead returns the constant part of a task's time, in units of work: the work that every task has on top of its
// own. Equation 3 is proportional to the work alone, so where a task's time hardly depends on its bytes it promises that
// every task with few bytes would be quick to run again, and all of these would be restarted. The overhead is fitted by
// least squares of the relative error, without the samples that take over 1.5 times what the fit gives them. It is 0
// until 8 samples are there, and where all tasks have the same work.
//
// A fit that would move a mean task's work by less than a twentieth is dropped. Even so a fit to few samples is unsteady:
// with ten tasks, about one fit in ten moves the time that a small task is promised by over a tenth; with a hundred, none
// does once their reports have settled. FixedOverhead is steadier, where it is right.
func (r *Rates) Overhead() float64 { return r.overhead }

// Work returns the work that counts for a task of the given work: at least Floor, plus the overhead.
func (r *Rates) Work(work float64) float64 { return max(work, r.config.Floor) + r.overhead }

// None is the number of a sample that there is not.
const None = -1

// Running records, or refreshes, the sample of a running copy: the seconds that it will have taken in all, by its
// progress so far, and its task's work. The first time, id is [None]; Running returns what to pass as id from then on.
// A copy that makes no sample contributes nothing: one whose time or work is negative or not finite, whose work does not
// count because it is 0 without a Floor, or whose rate is beyond [MaxSample].
func (r *Rates) Running(id int, seconds, work float64) int {
	r.Drop(id)
	return r.add(seconds, work)
}

// Finish records the time that a copy took which finished, and whether it was of its phase's first wave. It reports
// whether that made a sample. A sample that the copy had while it ran is to be dropped.
func (r *Rates) Finish(seconds, work float64, firstWave bool) bool {
	id := r.add(seconds, work)
	if id == None {
		return false
	}
	r.finished++
	switch {
	case r.config.KeepFirstWave:
	case firstWave:
		r.first = append(r.first, int32(id))
	case len(r.first) > 0:
		last := len(r.first) - 1
		r.Drop(int(r.first[last]))
		r.first = r.first[:last]
	}
	return true
}

// Drop takes away the sample of a copy that failed, or finished; an id that is not in use changes nothing. A copy that
// was killed because it was slow should keep its sample: without those, only the fast tasks would be seen.
func (r *Rates) Drop(id int) {
	if id < 0 || id >= len(r.samples) || r.samples[id].rate < 0 {
		return
	}
	r.all.Delete(r.samples[id].rate)
	r.samples[id].rate = -1
	r.free = append(r.free, int32(id))
}

func (r *Rates) add(seconds, work float64) int {
	counts := max(work, r.config.Floor)
	if !(work >= 0) || !num.Finite(work) || counts == 0 || !(seconds/counts <= MaxSample) { // the overhead may fall to 0
		return None
	}
	rate := seconds / r.Work(work)
	if !r.all.Insert(rate) {
		return None
	}
	id := len(r.samples)
	if n := len(r.free); n > 0 {
		id = int(r.free[n-1])
		r.free = r.free[:n-1]
		r.samples[id] = rateSample{seconds, work, rate}
	} else {
		r.samples = append(r.samples, rateSample{seconds, work, rate})
	}
	// A fit walks over the free places too: where most are free, it must be rarer than the samples are many.
	if r.stale++; r.stale >= max(r.fitted, leastFit, len(r.samples)/4) && !r.config.FixedOverhead {
		r.fit()
	}
	return id
}

// Samples returns the number of samples, finished and running.
func (r *Rates) Samples() int { return r.all.Len() }

// Finished returns the number of finished copies that were samples.
func (r *Rates) Finished() int { return r.finished }

// Known reports whether the distribution rests on enough samples or on a Prior.
func (r *Rates) Known() bool { return r.enough() || r.config.Prior != nil }

func (r *Rates) enough() bool { return r.all.Len() >= r.config.MinSamples }

// known returns the distribution that holds now.
func (r *Rates) known() Distribution {
	if !r.enough() && r.config.Prior != nil {
		return r.config.Prior
	}
	return &r.all
}

// Mean returns the expected time of a unit of work.
func (r *Rates) Mean() float64 {
	if !r.Known() {
		return math.Inf(1)
	}
	return r.known().Mean()
}

// CDF returns the probability that a unit of work takes at most x seconds.
func (r *Rates) CDF(x float64) float64 {
	if !r.Known() {
		return 0
	}
	return probability(r.known().CDF(x))
}

// Below returns the probability that a unit of work takes less than x seconds.
func (r *Rates) Below(x float64) float64 {
	if !r.Known() {
		return 0
	}
	return Below(r.known(), x)
}

// Quantile returns the p-quantile of the time of a unit of work, as [Empirical.Quantile] defines it.
func (r *Rates) Quantile(p float64) float64 {
	if !r.Known() {
		return math.Inf(1)
	}
	return quantile(r.known(), p)
}
