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
	// PaperThreshold is DynamicShare's. Factors scatter around 1, so by itself it names most workers of a healthy cluster.
	PaperThreshold = 1
	// Off turns a field off: as Spread, every laxity below the median is low; as Resolution, all laxities are told apart,
	// as in the paper.
	Off = -1
)

// neighbours is how many a [Detector] compares with, where there are enough workers.
const neighbours = 10

// Config holds the choices of a [Detector]. Its zero value is a choice of this package. The paper's is
// {Threshold: PaperThreshold, Spread: Off, Resolution: Off}, except that it looks at high laxities, too.
//
// What the zero value finds: of 84 laxities that scatter normally, with five below by at least 8 standard deviations,
// it names those five and no other with 10 and 20 neighbours. With 5, which is as many as are low, it takes 16, as the
// low ones vouch for each other.
//
// What it names wrongly, where nobody is overloaded and laxities scatter normally: one worker or more in about 1 of
// 1000 jobs of 84 workers, and in 3 of 100 jobs of 12. The paper's choice does so in every job. A factor alone does
// not do: a threshold of 3 with Spread Off does so in 3 of 10 jobs of 84. Scatter with a long tail downwards is another
// matter: where task times are exponential, the zero value names workers of the tail in 6 of 10 jobs of 84; a Spread
// of 20 makes that fewer than 1 in 50.
type Config struct {
	// Neighbours is l. It should exceed the number of workers that may be overloaded together. 0 means 10, or half of the
	// other workers if that is less.
	Neighbours int
	// Threshold is what the local outlier factor must exceed, 1 or more. 0 means 2.
	Threshold float64
	// Spread is how far a laxity must be below the median to be low, in median absolute deviations of the laxities, which
	// count as at least Resolution. 0 means 7.5, which is five standard deviations of a normal distribution; [Off]
	// takes all that are below the median.
	Spread float64
	// Resolution is the least distance that counts between two laxities: laxities in whole milliseconds have many
	// equals, beside which every other value would stand apart. 0 means 1 ms.
	Resolution time.Duration
}

// Validate reports the first field that is out of range, with its value and its range.
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

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Detector finds overloaded workers among those that run tasks of one job [DynamicShare §3.3]: a worker whose laxity is
// far below the median and whose local outlier factor exceeds the threshold. The paper takes every value whose factor
// exceeds 1, high ones included. It keeps its memory from one call to the next. The zero value has the
// recommended configuration. Not safe for concurrent use; one per job or scheduler.
type Detector struct {
	config  Config
	scorer  Scorer
	values  []float64
	factors []float64
}

// NewDetector returns a Detector, or an error that names the field of c that is out of range.
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

// Verdict says whether a worker is overloaded, and why. It is a plain value without NaN that can be compared with ==.
type Verdict struct {
	Overloaded bool
	Reason     Reason
	// Laxity is the worker's, and Bar is what it had to be less than to be low; 0 if no factor was computed.
	Laxity, Bar time.Duration
	// LOF is the local outlier factor, +Inf beside a block of equal laxities with Resolution Off, and Threshold what
	// it was held against. Both are 0 if no factor was computed.
	LOF, Threshold float64
}

// Detect appends one verdict for each of the laxities of one job's tasks on its workers to dst. A laxity that is
// [estimate.Unknown] or [laxity.NoDeadline] is left out of account. O(n log n + n l); it allocates only when it is
// given more laxities than ever before, or dst lacks the capacity.
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
		case err != nil: // the values are in range, so there are too few of them
			v.Reason = TooFewWorkers
		default:
			v.judge(factors[next], c.Threshold, d.values[next], bar)
			next++
		}
		dst = append(dst, v)
	}
	return dst
}

// bar returns what a low laxity is less than, in nanoseconds: the median less Spread median absolute deviations. Of two
// middle values it takes the lower.
func (d *Detector) bar(c Config) float64 {
	sorted := d.scorer.sorted
	lo := (len(sorted) - 1) / 2
	hi, median := lo+1, sorted[lo].value
	if c.Spread == Off {
		return median
	}
	var deviation float64
	for range (len(sorted)-1)/2 + 1 { // the nearest half of the values, from the median outwards
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

func known(d time.Duration) bool { return d != estimate.Unknown && d != laxity.NoDeadline }
