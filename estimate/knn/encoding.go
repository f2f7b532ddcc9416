package knn

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const regressorVersion, histogramVersion = 2, 2

// AppendBinary appends a snapshot to dst: version, configuration, and the runs that are remembered. It never fails.
// O(n); 8 bytes a parameter and 8 for the time of each run.
func (k *Regressor) AppendBinary(dst []byte) ([]byte, error) {
	c, from := k.config, len(dst)
	dst = append(dst, regressorVersion)
	for _, n := range [...]int{c.Dimensions, c.Neighbours, c.Keep, int(c.Scaling), k.oldest, k.added, k.measured} {
		dst = snapshot.AppendInt(dst, int64(n))
	}
	for _, x := range k.inverse {
		dst = snapshot.AppendFloat(dst, x)
	}
	dst = snapshot.AppendUint(dst, uint64(len(k.y)))
	for i, y := range k.y {
		dst = snapshot.AppendFloat(dst, y)
		for _, x := range k.x[i*c.Dimensions : (i+1)*c.Dimensions] {
			dst = snapshot.AppendFloat(dst, x)
		}
	}
	return snapshot.Seal(dst, from), nil
}

// MarshalBinary returns a snapshot; see [Regressor.AppendBinary].
func (k *Regressor) MarshalBinary() ([]byte, error) { return k.AppendBinary(nil) }

// UnmarshalBinary sets k to what was written, configuration included: it predicts, and learns, as if it had never
// stopped. What is not a snapshot is an error, and leaves k as it was. O(n), and O(n log n) with a tree; memory is
// bounded by a multiple of the length of data.
func (k *Regressor) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate/knn: Regressor", regressorVersion, data)
	c := Config{
		Dimensions: r.Number(1, maxDimensions), Neighbours: r.Number(0, math.MaxInt), Keep: r.Number(1, maxRuns),
		Scaling: Scaling(r.Number(0, int(ScaleNone))),
	}
	oldest, added, measured := r.Number(0, maxRuns), r.Number(0, math.MaxInt/2), r.Number(0, math.MaxInt/2)
	if !r.OK() {
		return r.Close()
	}
	restored, err := New(c)
	r.Fail(err)
	for i := range c.Dimensions {
		restored.inverse[i] = r.Amount()
	}
	n := r.Count(8 * (1 + c.Dimensions))
	whole := n == c.Keep
	r.Check(n <= c.Keep && n <= added && (whole || n == added), "counts more or fewer runs than there are")
	r.Check(oldest == 0 || whole && oldest < n, "begins with a run that there is not")
	r.Check(measured <= added && added-measured <= n && (measured > 0 || n == 0), "measured runs that there are not")
	if !r.OK() {
		return r.Close()
	}
	restored.oldest, restored.added, restored.measured = oldest, added, measured
	restored.x, restored.y = make([]float64, 0, n*c.Dimensions), make([]float64, 0, n)
	for range n {
		restored.y = append(restored.y, r.Amount())
		for range c.Dimensions {
			restored.x = append(restored.x, r.Float())
		}
	}
	for _, y := range restored.y {
		r.Check(y <= estimate.MaxSample, "holds a time that is out of range")
	}
	for _, x := range restored.x {
		r.Check(math.Abs(x) <= maxParameter, "holds a parameter that is out of range")
	}
	if err := r.Close(); err != nil {
		return err
	}
	restored.index()
	*k = *restored
	return nil
}

// AppendBinary appends a snapshot to dst: version, configuration, and the number and the sum of each bin. It never
// fails. O(bins).
func (h *Histogram) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = snapshot.AppendFloat(snapshot.AppendFloat(append(dst, histogramVersion), h.config.Low), h.config.High)
	dst = snapshot.AppendUint(dst, uint64(len(h.bins)))
	for _, b := range h.bins {
		dst = snapshot.AppendUint(dst, uint64(b.n))
		if b.n > 0 {
			dst = snapshot.AppendSum(dst, b.sum)
		}
	}
	return snapshot.Seal(dst, from), nil
}

// MarshalBinary returns a snapshot; see [Histogram.AppendBinary].
func (h *Histogram) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// UnmarshalBinary sets h to what was written, configuration included. What is not a snapshot is an error, and leaves
// h as it was. O(bins); memory is bounded by a multiple of the length of data.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate/knn: Histogram", histogramVersion, data)
	c := HistogramConfig{Low: r.Float(), High: r.Float()}
	c.Bins = r.Count(1)
	r.Check(c.Bins > 0, "has no bins")
	if !r.OK() {
		return r.Close()
	}
	restored, err := NewHistogram(c)
	if err != nil {
		r.Fail(err)
		return r.Close()
	}
	for i := range restored.bins {
		b := &restored.bins[i]
		b.n = int(min(r.Uint(), math.MaxInt>>1))
		if b.n > 0 {
			b.sum = r.Sum()
		}
		r.Check(b.n <= math.MaxInt>>1-restored.n, "holds more values than fit")
		restored.n += b.n
	}
	if err := r.Close(); err != nil {
		return err
	}
	*h = *restored
	return nil
}
