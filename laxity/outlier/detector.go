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
	// PaperThreshold is DynamicShare's threshold. Factors scatter around 1, so with this threshold alone the detector names
	// most workers of a healthy cluster.
	PaperThreshold = 1
	// Off turns a field off. As Spread, it makes every laxity below the median low. As Resolution, it distinguishes all
	// laxities, as the paper does.
	Off = -1
)

// neighbours is the number of neighbours that a [Detector] uses if there are enough workers.
const neighbours = 10

// Config is the configuration of a [Detector]. Its zero value is a choice of this package. The paper's choice is
// {Threshold: PaperThreshold, Spread: Off, Resolution: Off}; the paper also names workers with high laxities.
//
// Overloaded workers that the zero value finds: in a test, 79 laxities scatter normally and five laxities are lower
// by at least 8 standard deviations. With 10 or 20 neighbours the detector names exactly the five workers. With only
// 5 neighbours, the number of low laxities, the detector needs 16 standard deviations, because the low laxities are
// neighbours of each other.
//
// Healthy workers that the zero value names wrongly, if laxities scatter normally and no worker is overloaded:
//
//   - The zero value names a worker in about 1 of 1000 jobs with 84 workers, and in 3 of 100 jobs with 12 workers.
//   - The paper's choice names a worker in every job.
//   - A large factor alone is not enough: a threshold of 3 with Spread Off names a worker in 3 of 10 jobs with 84 workers.
//   - If task times are exponential, laxities have a long tail downwards. The zero value then names workers of the tail in
//     6 of 10 jobs with 84 workers. With a Spread of 20, this happens in fewer than 1 of 50 jobs.
type Config struct {
	// Neighbours is l, 1 or more. Neighbours should exceed the number of workers that may be overloaded together. 0
	// means 10, or half of the other workers if this is less.
	Neighbours int
	// Threshold is a limit for the local outlier factor, 1 or more. An overloaded worker's factor exceeds it. 0 means 2.
	Threshold float64
	// Spread says which laxities are low, in median absolute deviations of the laxities. A laxity is low if it is
	// below the median by more than Spread deviations. A deviation counts as at least Resolution. 0 means 7.5, or
	// five standard deviations of a normal distribution. [Off] makes every laxity below the median low.
	Spread float64
	// Resolution is the smallest distance between two laxities that counts. Laxities in whole milliseconds are often equal,
	// and without a resolution every other laxity would then be an outlier. 0 means 1 ms. [Off] means no resolution.
	Resolution time.Duration
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (c Config) Validate() error {
	const place = "laxity/outlier: Config"
	var spread error
	if c.Spread != Off {
		spread = check.Factor(place, "Spread", c.Spread)
	}
	return cmp.Or(
		check.Count(place, "Neighbours", c.Neighbours, false),
		check.Within(place, "Threshold", c.Threshold, 1, math.MaxFloat64),
		spread,
		check.Age(place, "Resolution", c.Resolution),
	)
}

// MarshalJSON writes the fields that are not zero: names in kebab-case, durations in seconds, Off as -1. UnmarshalJSON
// reads this format.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Detector finds the overloaded workers of one job [DynamicShare §3.3]. A worker is overloaded if its laxity is far below
// the median and its local outlier factor exceeds the threshold. The paper takes every value with a factor above 1, also
// high values. A Detector reuses its memory. The zero value has the recommended configuration. Not safe for concurrent
// use; each job or scheduler needs its own Detector.
type Detector struct {
	config  Config
	scorer  Scorer
	values  []float64
	factors []float64
}

// NewDetector returns a Detector. The error names the field of c that is out of range.
func NewDetector(c Config) (*Detector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Detector{config: c}, nil
}

// Effective returns the configuration with its defaults filled in. Neighbours stays 0 if it depends on the workers.
func (c Config) Effective() Config {
	c.Threshold = check.Or(c.Threshold, 2)
	c.Spread = check.Or(c.Spread, 7.5)
	c.Resolution = check.Or(c.Resolution, time.Millisecond)
	return c
}

// Config returns the configuration with its defaults filled in. Neighbours stays 0 if it depends on the workers.
func (d *Detector) Config() Config { return d.config.Effective() }

// Verdict says whether a worker is overloaded, and why. A Verdict is a plain value without NaN, and can be compared
// with ==.
type Verdict struct {
	// Overloaded says that the worker is overloaded.
	Overloaded bool
	// Reason says why the worker counts as overloaded or not.
	Reason Reason
	// Laxity is the worker's laxity. A laxity below Bar is low. Bar is 0 if no factor was computed.
	Laxity, Bar time.Duration
	// LOF is the local outlier factor, and Threshold is its limit. LOF may be +Inf if Resolution is Off, for a laxity near
	// a group of equal laxities. Both are 0 if no factor was computed.
	LOF, Threshold float64
}

// Detect appends a verdict for each laxity to dst. The laxities belong to the tasks of one job, one laxity for each worker.
// Detect ignores a laxity of [estimate.Unknown] or [laxity.NoDeadline]. O(n log n + n l); it allocates only if it gets more
// laxities than ever before, or if dst lacks the capacity.
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
		case err != nil: // all values are in range, so the only cause is too few values
			v.Reason = TooFewWorkers
		default:
			v.judge(factors[next], c.Threshold, d.values[next], bar)
			next++
		}
		dst = append(dst, v)
	}
	return dst
}

// bar returns the limit for low laxities in nanoseconds: the median minus Spread median absolute deviations. The median of
// an even number of values is the lower middle value.
func (d *Detector) bar(c Config) float64 {
	sorted := d.scorer.sorted
	lo := (len(sorted) - 1) / 2
	hi, median := lo+1, sorted[lo].value
	if c.Spread == Off {
		return median
	}
	var deviation float64
	for range (len(sorted)-1)/2 + 1 { // visits the half of the values that is nearest to the median
		if lo < 0 || hi < len(sorted) && sorted[hi].value-median < median-sorted[lo].value {
			deviation = sorted[hi].value - median
			hi++
		} else {
			deviation = median - sorted[lo].value
			lo--
		}
	}
	return median - float64(c.Spread*max(deviation, float64(max(c.Resolution, 0))))
}

// judge sets the verdict from the worker's factor and laxity and from their limits.
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

// known reports whether the laxity is known and has a deadline.
func known(d time.Duration) bool { return d != estimate.Unknown && d != laxity.NoDeadline }
