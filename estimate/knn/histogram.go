package knn

import (
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
)

// HistogramConfig holds the choices of a [Histogram]. Its zero value suits percentages.
type HistogramConfig struct {
	// Low and High bound the range that is divided into bins. A value outside the range counts in the first or last
	// bin. Both 0 means 0 to 100.
	Low, High float64
	// Bins is the number of bins, of equal width. 0 means 20; the paper gives no number.
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

// Validate returns an error that names the first field out of range, its value and its range; or nil.
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

// MarshalJSON returns the fields that are not zero. Names are kebab-case, times are in seconds, and Off is -1.
// UnmarshalJSON reads this form.
func (c HistogramConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *HistogramConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// Experimental: no host of this repository calls it yet.
//
// Histogram estimates how much of a resource a new task needs. A [Regressor] with CPU and memory as parameters
// needs this estimate before the task has run. The estimate is the mean of the most populated bin over past runs
// [DynamicShare §3.1]. If two bins have equally many values, the lower bin counts; the paper does not say. The zero
// value refuses all values. Not safe for concurrent use: each kind of task and each resource needs a separate value.
type Histogram struct {
	config HistogramConfig
	bins   []bin
	n      int
}

type bin struct {
	sum num.Sum
	n   int
}

// NewHistogram returns an empty histogram, or an error that names the field out of range.
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

// Observe adds a value and reports whether it accepted the value. Observe refuses a value that is not finite or beyond
// 1e100. O(1), no allocation.
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

// Delete removes a value that was added before, for a history that forgets. Delete reports false and changes nothing if
// the value's bin is empty, and for a value that Observe would refuse. O(1), no allocation.
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

// binOf returns the bin of a value; the lower bound of a bin belongs to the bin. The quotient is a first guess
// only: with 100 bins from 0 to 1 it gives .29 the bin below its own.
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
	return h.config.Low + float64((h.config.High-h.config.Low)*float64(i)/float64(len(h.bins))) // no fused multiply-add
}

// Estimate returns the mean of the values in the most populated bin. Estimate reports false if there are no values, which
// is a cold start and not an estimate of 0. O(bins), no allocation.
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
