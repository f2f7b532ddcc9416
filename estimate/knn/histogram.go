package knn

import (
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// HistogramConfig contains the choices of a [Histogram]. Its zero value suits percentages.
type HistogramConfig struct {
	// Low and High are the ends of the range that is divided into bins. A value below Low belongs to the first bin,
	// and a value above High belongs to the last bin. If both are 0, the range is 0 to 100.
	Low, High float64
	// Bins is the number of bins, all of equal width. 0 means 20; the paper gives no number.
	Bins int
}

// Effective returns the configuration with its defaults filled in.
func (c HistogramConfig) Effective() HistogramConfig {
	if c.Low == 0 {
		c.High = check.Or(c.High, 100)
	}
	c.Bins = check.Or(c.Bins, 20)
	return c
}

// Validate returns an error that names the first field that is out of range, its value and its range; or nil.
func (c HistogramConfig) Validate() error {
	const place = "estimate/knn: HistogramConfig"
	c = c.Effective()
	switch {
	case !(math.Abs(c.Low) <= maxParameter):
		return check.Badf(place, "Low", c.Low, "-%g to %g", maxParameter, maxParameter)
	case !(c.High > c.Low && c.High <= maxParameter):
		return check.Badf(place, "High", c.High, "more than Low, %v, and at most %g", c.Low, maxParameter)
	}
	return check.Within(place, "Bins", c.Bins, 1, maxRuns)
}

// MarshalJSON returns the fields that are not zero as JSON. Names are kebab-case, times are in seconds, and a rule
// that is turned off has the value -1. UnmarshalJSON reads this form.
func (c HistogramConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *HistogramConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Experimental: no host of this repository calls it yet.
//
// Histogram estimates how much of a resource a new task needs. A [Regressor] with CPU and memory as parameters
// needs this estimate before the task has run. The values of past runs are divided into bins, and the estimate is
// the mean of the bin with the most values [DynamicShare §3.1]. If two bins have equally many values, Histogram
// uses the lower bin; the paper does not say which. The zero value refuses all values. Not safe for concurrent use:
// each kind of task and each resource needs a separate value.
type Histogram struct {
	config HistogramConfig
	bins   []bin
	n      int
}

type bin struct {
	sum num.Sum
	n   int
}

// NewHistogram returns an empty histogram, or an error that names the field of c that is out of range.
func NewHistogram(c HistogramConfig) (*Histogram, error) {
	c = c.Effective()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Histogram{config: c, bins: make([]bin, c.Bins)}, nil
}

// Config returns the configuration with its defaults filled in.
func (h *Histogram) Config() HistogramConfig { return h.config }

// Len returns the number of values.
func (h *Histogram) Len() int { return h.n }

// Observe adds a value and reports whether it accepted the value. Observe refuses a value that is not finite, or
// whose absolute value is above 1e100. O(1), no allocation.
func (h *Histogram) Observe(x float64) bool {
	if len(h.bins) == 0 || !(math.Abs(x) <= maxParameter) {
		return false
	}
	b := h.binOf(x)
	b.sum.Add(x)
	b.n++
	h.n++
	return true
}

// Delete removes a value that Observe has added before. So a host can keep a histogram of the newest values only.
// Delete reports whether it removed the value. It does not do so if the bin of the value is empty, or if Observe
// would refuse the value. O(1), no allocation.
func (h *Histogram) Delete(x float64) bool {
	if len(h.bins) == 0 || !(math.Abs(x) <= maxParameter) {
		return false
	}
	b := h.binOf(x)
	if b.n == 0 {
		return false
	}
	b.sum.Add(-x)
	b.n--
	h.n--
	if b.n == 0 {
		b.sum = num.Sum{}
	}
	return true
}

// binOf returns the bin to which a value belongs. The lower bound of a bin belongs to the bin. The quotient is only
// a first guess, because of rounding: with 100 bins from 0 to 1, the quotient puts .29 into the bin before the
// right bin.
func (h *Histogram) binOf(x float64) *bin {
	share := (x - h.config.Low) / (h.config.High - h.config.Low)
	last := len(h.bins) - 1
	i := int(min(max(math.Floor(share*float64(len(h.bins))), 0), float64(last)))
	if i < last && x >= h.lower(i+1) {
		i++
	} else if i > 0 && x < h.lower(i) {
		i--
	}
	return &h.bins[i]
}

// lower returns the lower bound of bin i.
func (h *Histogram) lower(i int) float64 {
	// the conversion prevents a fused multiply-add
	return h.config.Low + float64((h.config.High-h.config.Low)*float64(i)/float64(len(h.bins)))
}

// Estimate returns the mean of the values in the bin with the most values. Estimate reports false if there are no
// values: then nothing is known, which is not an estimate of 0. O(bins), no allocation.
func (h *Histogram) Estimate() (float64, bool) {
	var most bin
	for _, b := range h.bins {
		if b.n > most.n {
			most = b
		}
	}
	if most.n == 0 {
		return 0, false
	}
	return most.sum.Value() / float64(most.n), true
}
