package knn

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
)

func (k *Regressor) state(c *snapshot.Codec) {
	scaling := int(k.config.Scaling)
	c.Field(1, "config").Fields(func() {
		c.Field(1, "dimensions").Number(&k.config.Dimensions, 1, maxDimensions)
		c.Field(2, "neighbours").Number(&k.config.Neighbours, 0, math.MaxInt)
		c.Field(3, "keep").Number(&k.config.Keep, 1, maxRuns)
		c.Field(4, "scaling").Number(&scaling, 0, int(ScaleNone))
	})
	if c.Valid(k.config == k.config.Effective(), k.config); !c.OK() {
		return
	}
	c.Field(2, "oldest").Number(&k.oldest, 0, maxRuns)
	c.Field(3, "added").Number(&k.added, 0, math.MaxInt/2)
	c.Field(4, "measured").Number(&k.measured, 0, math.MaxInt/2)
	k.config.Scaling = Scaling(scaling)
	dimensions := k.config.Dimensions
	if c.Reading() {
		fresh, err := New(k.config)
		if c.In.Fail(err); err != nil {
			return
		}
		fresh.oldest, fresh.added, fresh.measured = k.oldest, k.added, k.measured
		*k = *fresh
	}
	c.Field(5, "scales")
	for i := range k.inverse {
		c.Amount(&k.inverse[i])
	}
	n := c.Field(6, "runs").Size(len(k.y), 8*(1+dimensions))
	whole := n == k.config.Keep
	c.Check(n <= k.config.Keep && n <= k.added && (whole || n == k.added), "counts more or fewer runs than it holds")
	c.Check(k.oldest == 0 || whole && k.oldest < n, "begins with a run that it does not hold")
	fresh := k.measured <= k.added && k.added-k.measured <= n
	c.Check(fresh && (k.measured > 0 || n == 0), "measured more runs than it holds")
	if c.Reading() {
		k.x, k.y = make([]float64, n*dimensions), make([]float64, n)
	}
	for i := range k.y {
		c.Amount(&k.y[i])
		c.Check(k.y[i] <= estimate.MaxSample, "holds a time that is out of range")
		for j := range k.x[i*dimensions : (i+1)*dimensions] {
			x := &k.x[i*dimensions+j]
			c.Real(x)
			c.Check(math.Abs(*x) <= maxParameter, "holds a parameter that is out of range")
		}
	}
	if c.Reading() && c.OK() {
		k.index()
	}
}

// MarshalBinary and AppendBinary return a snapshot: the version of the format, the configuration, and all runs that
// k remembers. The two calls never fail. They take O(n) for n runs. A run needs 8 bytes for each parameter and 8
// bytes for its time.
//
// UnmarshalBinary reads such a snapshot. Afterwards k predicts and learns exactly as the Regressor from which the
// snapshot was made. If data is not a snapshot of a Regressor, UnmarshalBinary returns an error and leaves k
// unchanged. UnmarshalBinary takes O(n log n), because it builds the tree again. Its memory is bounded by a multiple of
// the length of data.
func (k *Regressor) MarshalBinary() ([]byte, error) { return k.AppendBinary(nil) }
func (k *Regressor) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, k.state)
}
func (k *Regressor) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, k, (*Regressor).state)
}

func (h *Histogram) state(c *snapshot.Codec) {
	c.Field(1, "low").Real(&h.config.Low)
	c.Field(2, "high").Real(&h.config.High)
	h.config.Bins = c.Field(3, "bins").Size(len(h.bins), 1)
	c.Check(h.config.Bins > 0, "has no bins")
	c.Valid(true, h.config)
	if c.Reading() {
		h.bins = make([]bin, h.config.Bins)
	}
	all := 0
	for i := range h.bins {
		b := &h.bins[i]
		n := uint64(b.n)
		c.Uint(&n)
		if b.n = int(min(n, math.MaxInt>>1)); b.n > 0 {
			c.Sum(&b.sum)
		}
		c.Check(b.n <= math.MaxInt>>1-all, "holds more values than fit")
		all += b.n
	}
	h.n = all
}

// MarshalBinary and AppendBinary return a snapshot: the version of the format, the configuration, and the number of
// values and their sum for each bin. The two calls never fail. UnmarshalBinary reads such a snapshot into h. If
// data is not a snapshot of a Histogram, UnmarshalBinary returns an error and leaves h unchanged. All three take
// O(bins). The memory of UnmarshalBinary is bounded by a multiple of the length of data.
func (h *Histogram) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }
func (h *Histogram) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, h.state)
}
func (h *Histogram) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, h, (*Histogram).state)
}
