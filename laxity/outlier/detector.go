package outlier

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/laxity"
)

const (
	// PaperThreshold is the threshold of the paper for the local outlier factor, which says how far a laxity is from
	// the nearest other laxities. In a healthy cluster factors are scattered around 1. So with this threshold alone
	// most workers of a healthy cluster are reported as overloaded.
	PaperThreshold = 1
	// Off switches a field of [Config] off. If Spread is Off, every laxity below the median is low. If Resolution
	// is Off, all different laxities are treated as different, as in the paper.
	Off = -1
)

// neighbours is the number of neighbours that a [Detector] uses if there are enough workers.
const neighbours = 10

// Config is the configuration of a [Detector]. The zero value is a choice of this package. The choice of the paper
// is {Threshold: PaperThreshold, Spread: Off, Resolution: Off}, except that the paper also reports workers with
// high laxities. The laxity of a worker is the time that its most urgent task may still wait and meet its deadline.
//
// Which overloaded workers does the zero value find? In a test, 79 workers had normally distributed laxities. Five
// other workers had laxities that were lower by at least 8 standard deviations. With 10 or 20 neighbours the
// Detector reported exactly these five workers. With only 5 neighbours the laxities must be lower by 16 standard
// deviations, because the five workers are then neighbours of each other.
//
// Which healthy workers does it report by mistake? Let no worker be overloaded, and let laxities be normally
// distributed:
//
//   - The zero value reports a worker in about 1 of 1000 jobs with 84 workers, and in 3 of 100 jobs with 12
//     workers.
//   - The choice of the paper reports a worker in every job.
//   - A large factor alone is not enough: a Threshold of 3, with Spread Off, reports a worker in 3 of 10 jobs with
//     84 workers.
//   - If the times of tasks are exponentially distributed, some laxities are much lower than others. The zero
//     value then reports such workers in 6 of 10 jobs with 84 workers. With a Spread of 20 it does so in fewer
//     than 1 of 50 jobs.
type Config struct {
	// Neighbours is the number of nearest values with which the laxity of a worker is compared, 1 or more. The
	// paper calls it l. It should be larger than the number of workers that may be overloaded at the same time.
	// Zero means 10, or half of the other workers if this is less.
	Neighbours int `want:"count"`
	// Threshold is a limit for the local outlier factor, which says how far a laxity is from the nearest other
	// laxities. It is 1 or more. A worker is overloaded only if its factor is larger. Zero means 2.
	Threshold float64
	// Spread says which laxities are low. A laxity is low if it is below the median by more than Spread times the
	// median absolute deviation. This deviation is at least Resolution. Zero means 7.5, which is five standard
	// deviations of a normal distribution. [Off] means that every laxity below the median is low.
	Spread float64 `want:"factor or off"`
	// Resolution is the smallest difference between two laxities that is not ignored. Laxities in whole
	// milliseconds are often equal. Without Resolution, every laxity near a group of equal laxities would be an
	// outlier. Zero means 1 ms. [Off] means that no difference is ignored.
	Resolution time.Duration `want:"age"`
}

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c Config) Validate() error {
	const place = "laxity/outlier: Config"
	return cmp.Or(check.Valid(c), check.Within(place, "Threshold", c.Threshold, 1, math.MaxFloat64))
}

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case. Durations are in seconds, and Off is -1. UnmarshalJSON reads this form.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Detector finds the overloaded workers of one job [DynamicShare §3.3]. A worker is overloaded if its laxity is
// far below the median, and if its local outlier factor is larger than [Config.Threshold]. The paper reports every
// worker with a factor above 1, even a worker with a high laxity. A Detector uses its memory again in later calls.
// The zero value has the default configuration. A Detector is not safe for concurrent use. Use one Detector for
// each job or each scheduler.
type Detector struct {
	config  Config
	scorer  Scorer
	values  []float64
	factors []float64
}

// NewDetector returns a Detector. It returns an error for the first field of c that is out of range.
func NewDetector(c Config) (*Detector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Detector{config: c}, nil
}

// Effective returns the configuration with its zero fields replaced by their defaults. If Neighbours is 0, it
// stays 0, because its default depends on the number of workers.
func (c Config) Effective() Config {
	c.Threshold = check.Or(c.Threshold, 2)
	c.Spread = check.Or(c.Spread, 7.5)
	c.Resolution = check.Or(c.Resolution, time.Millisecond)
	return c
}

// Config returns the configuration with its zero fields replaced by their defaults. If Neighbours is 0, it stays
// 0, because its default depends on the number of workers.
func (d *Detector) Config() Config { return d.config.Effective() }

// Verdict says whether a worker is overloaded, and why. Verdicts can be compared with ==, and no field is NaN.
type Verdict struct {
	// Overloaded is true if the worker is overloaded.
	Overloaded bool
	// Reason says why the worker is reported as overloaded or not.
	Reason Reason
	// Laxity is the laxity of the worker: how long its most urgent task may still wait. Bar is the limit for low
	// laxities: a laxity below Bar is low. Bar is 0 if no factor was computed.
	Laxity, Bar time.Duration
	// LOF is the local outlier factor of the laxity, as [LOF] computes it, and Threshold is its limit. If
	// Resolution is Off, LOF may be +Inf for a laxity near a group of equal laxities. Both are 0 if no factor was
	// computed.
	LOF, Threshold float64
}

// Detect appends to dst a verdict for each laxity, and returns dst. laxities must be from the tasks of one job,
// one laxity for each worker. A laxity of [estimate.Unknown] or [laxity.NoDeadline] is ignored. Cost: O(n log n +
// n l) for n laxities and l neighbours. Detect allocates only if it gets more laxities than ever before, or if dst
// is too short.
func (d *Detector) Detect(dst []Verdict, laxities []time.Duration) []Verdict {
	c := d.config.Effective()
	d.values = d.values[:0]
	for _, own := range laxities {
		if known(own) {
			d.values = append(d.values, float64(own))
		}
	}
	n, l := len(d.values), c.Neighbours
	if l == 0 {
		l = min(neighbours, (n-1)/2)
	}
	factors, err := d.scorer.Score(d.factors[:0], d.values, l, float64(max(c.Resolution, 0)))
	d.factors = factors
	next := 0
	var bar float64
	if err == nil {
		bar = d.bar(c)
	}
	for _, own := range laxities {
		v := Verdict{Laxity: own}
		switch {
		case !known(own):
			v.Reason = NoLaxity
		case err != nil: // all values are in range, so the error can only be that there are too few values
			v.Reason = TooFewWorkers
		default:
			v.judge(factors[next], c.Threshold, d.values[next], bar)
			next++
		}
		dst = append(dst, v)
	}
	return dst
}

// bar returns the limit below which a laxity is low, in nanoseconds. This is the median minus Spread times the
// median absolute deviation. For an even number of laxities, the median is the smaller of the two middle laxities.
func (d *Detector) bar(c Config) float64 {
	sorted := d.scorer.sorted
	middle := (len(sorted) - 1) / 2
	median := sorted[middle].value
	if c.Spread == Off {
		return median
	}
	// The deviation of the median itself is 0. Each step visits the next value, so that half of the values are visited.
	lo, hi, deviation := middle-1, middle+1, 0.0
	for range middle {
		deviation = min(median-sorted[lo].value, sorted[hi].value-median)
		if deviation == sorted[hi].value-median {
			hi++
		} else {
			lo--
		}
	}
	return median - float64(c.Spread*max(deviation, float64(max(c.Resolution, 0))))
}

// judge sets the verdict about a worker. factor is its local outlier factor, threshold is the limit for the
// factor, own is its laxity, and bar is the limit below which a laxity is low.
func (v *Verdict) judge(factor, threshold, own, bar float64) {
	v.LOF, v.Threshold = factor, threshold
	v.Bar, _ = num.Duration(bar / 1e9)
	switch {
	case !(own < bar):
		v.Reason = NotLow
	case factor > threshold:
		v.Overloaded, v.Reason = true, StandsApart
	default:
		v.Reason = AmongPeers
	}
}

// known reports whether a laxity is known and comes from a job with a deadline.
func known(d time.Duration) bool { return d != estimate.Unknown && d != laxity.NoDeadline }
