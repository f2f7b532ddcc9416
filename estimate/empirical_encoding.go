package estimate

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

const empiricalVersion = 2

// AppendBinary appends a snapshot to dst: version, number of values, the values in ascending order as differences of
// their bits, and the exact sum. It never fails. O(n); about 5 bytes a value where there are a million.
func (e *Empirical) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = snapshot.AppendUint(append(dst, empiricalVersion), uint64(e.Len()))
	last := uint64(0)
	e.tree.each(func(x float64) {
		bits := math.Float64bits(x)
		dst = snapshot.AppendUint(dst, bits-last)
		last = bits
	})
	return snapshot.Seal(snapshot.AppendSum(dst, e.sum), from), nil
}

// MarshalBinary returns a snapshot; see [Empirical.AppendBinary].
func (e *Empirical) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }

// UnmarshalBinary sets e to what was written: it answers as if it had never stopped. What is not a snapshot is an
// error, and leaves e as it was. O(n); memory is bounded by a multiple of the length of data.
func (e *Empirical) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate: Empirical", empiricalVersion, data)
	n := r.Count(1)
	r.Check(n <= maxSize, "holds more values than fit")
	if !r.OK() {
		return r.Close()
	}
	var restored Empirical
	last, total := uint64(0), 0.
	restored.tree.build(n, func() float64 {
		step := r.Uint()
		if step > math.Float64bits(MaxSample)-last {
			r.Check(false, fmt.Sprintf("holds a value beyond %g", float64(MaxSample)))
			step = 0
		}
		last += step
		x := math.Float64frombits(last)
		total += x
		return x
	})
	restored.sum = r.Sum()
	r.Check(plausible(restored.sum.High, total), "holds a sum that is not that of its values")
	if err := r.Close(); err != nil {
		return err
	}
	*e = restored
	return nil
}

// plausible reports whether a sum that was kept up to date is what its terms come to, up to rounding, of which values
// that came and went may have left some.
func plausible(sum, total float64) bool {
	return math.Abs(sum-total) <= float64(1e-6*total)+1e-3 // no fused multiply-add
}
