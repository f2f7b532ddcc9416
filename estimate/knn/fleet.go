package knn

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// What many processes have run of the same kind of task, and pass on to each other.

// year is the age from which on runs are forgotten that are passed on.
const year = 365 * 24 * time.Hour

func (c Config) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: year}
}

// run is a run as it is passed on: its parameters, and its seconds.
type run []float64

// rounded is a run as all processes know it.
func (r run) rounded() run {
	for i, v := range r {
		r[i] = float64(float32(v)) + 0 // -0 becomes 0
	}
	return r
}

// form is how runs are passed on.
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

// newest is what counts of all that is known.
func (k *Regressor) newest() []merge.Observation[run] {
	return k.fleet.Newest(k.form(), k.config.choices(), k.clock.Since, k.config.Keep)
}

// AppendVersion appends what k knows, as far as a process that knows more must know that to say the rest.
func (k *Regressor) AppendVersion(dst []byte) []byte { return k.fleet.AppendVersion(k.form(), dst) }

// AppendDelta appends the runs beyond a version, that of the reader by its AppendVersion; nil stands for one that knows
// none. With origins it says only what these have run. It is an error if since is no version. Some 9 bytes a run and 5
// a parameter.
func (k *Regressor) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return k.fleet.AppendDelta(k.form(), k.config.choices(), k.clock.Since, dst, since, origins)
}

// Merge takes in what another process has run, by its AppendDelta, in any order, and as often as it comes: those that
// know the same, and have the same choices, predict the same after a Merge, to the last bit. Of Keep runs at most half
// are those of one process, and none is older than a year. It is an error, and nothing is taken, if k has no Origin,
// delta is damaged, of another number of parameters, or none, or, a FieldError, if it comes from more than MaxSkew
// ahead of now. O(n log n): merge what has come in at once.
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
