package knn

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// This file shares runs of one kind of task between processes.

// year is the age at which a shared run is removed.
const year = 365 * 24 * time.Hour

func (c Config) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: year}
}

// run is a run that processes share: its parameters, followed by its time in seconds.
type run []float64

// rounded rounds the numbers of a run to float32, the precision in which runs are sent to other processes. So all
// processes use the same numbers.
func (r run) rounded() run {
	for i, v := range r {
		r[i] = float64(float32(v)) + 0 // the addition turns -0 into 0
	}
	return r
}

// form returns a description, for package merge, of how runs are encoded for other processes and which numbers are
// valid.
func (k *Regressor) form() merge.Form[run] {
	want := k.config.Dimensions + 1
	return merge.Form[run]{Place: "estimate/knn", Kind: 'k', Fact: func(c *snapshot.Codec, r *run) {
		n := want
		c.Number(&n, want, want)
		if c.Reading() {
			*r = make(run, n)
		}
		for i := range *r {
			bits := uint64(math.Float32bits(float32((*r)[i])))
			c.Uint(&bits)
			v := float64(math.Float32frombits(uint32(bits)))
			c.Check(bits <= math.MaxUint32 && math.Abs(v) <= maxShared, "holds a parameter that is out of range")
			c.Check(i < n-1 || v >= 0 && v <= estimate.MaxSample, "holds a time that is out of range")
			(*r)[i] = v
		}
	}}
}

// newest returns the newest runs of all processes, at most Keep of them.
func (k *Regressor) newest() []merge.Observation[run] {
	return k.fleet.Newest(k.form(), k.config.choices(), k.clock.Since, k.config.Keep)
}

// AppendVersion appends a version to dst: a summary of the runs that k knows. Another process passes the version to
// AppendDelta, which then returns the runs that k does not know.
func (k *Regressor) AppendVersion(dst []byte) []byte { return k.fleet.AppendVersion(k.form(), dst) }

// AppendDelta appends a delta to dst: the runs that another process, the reader, does not know. The argument since
// is the version that the reader got from its AppendVersion. If since is nil, the delta contains all runs. If
// origins are given, the delta contains only runs of the processes with these names. AppendDelta returns an error
// if since is not a version. A delta has some 9 bytes for each run and 5 bytes for each parameter.
func (k *Regressor) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return k.fleet.AppendDelta(k.form(), k.config.choices(), k.clock.Since, dst, since, origins)
}

// Merge adds the runs of a delta that another process has made by AppendDelta. Deltas may arrive in any order and
// more than once. After a Merge, processes that know the same runs and have the same configuration, except for the
// Origin, give the same predictions, to the last bit. At most half of the Keep runs come from a single process, and
// no run is older than a year. Merge returns an error and changes nothing in these cases:
//
//   - k has no Origin
//   - delta is damaged, or is no delta
//   - delta has another number of parameters
//   - the time of delta is more than MaxSkew after now; this error is a FieldError
//
// Merge takes O(n log n) for n runs. If several deltas arrive together, pass them to Merge one directly after the
// other.
func (k *Regressor) Merge(now time.Time, delta []byte) error {
	c := k.config.choices()
	if err := k.fleet.Merge(k.form(), c, c.At(&k.clock, now), delta); err != nil {
		return err
	}
	k.x, k.y, k.oldest, k.added, k.measured, k.indexed = k.x[:0], k.y[:0], 0, 0, 0, 0
	for _, v := range k.newest() {
		k.add(v.Fact[:k.config.Dimensions], v.Fact[k.config.Dimensions])
	}
	if len(k.y) > 0 {
		k.measure()
	}
	return nil
}
