package estimate

import (
	"fmt"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// state writes the values to a snapshot or reads them from it, in ascending order. Each value is stored as a
// difference: its bits, as an integer, minus the bits of the value before.
func (e *Empirical) state(c *snapshot.Codec) {
	n := c.Field(1, "values").Size(e.Len(), 1)
	last, total := uint64(0), 0.
	value := func(x float64) float64 {
		step := math.Float64bits(x) - last
		if c.Uint(&step); step > math.Float64bits(MaxSample)-last {
			c.Check(false, fmt.Sprintf("holds a value beyond %g", float64(MaxSample)))
			step = 0
		}
		last += step
		x = math.Float64frombits(last)
		total += x
		return x
	}
	if c.Writes() {
		e.values.each(func(x float64) { value(x) })
	} else {
		e.values.build(n, func() float64 { return value(0) })
	}
	c.Field(2, "sum").Sum(&e.sum)
	c.Check(plausible(e.sum.High, total), "holds a sum that differs from the sum of its values")
}

// plausible reports whether a stored sum is equal to total, the sum of its terms computed again, except for a
// rounding error. Values that were inserted and deleted may have left a small rounding error in the stored sum.
func plausible(sum, total float64) bool {
	return math.Abs(sum-total) <= float64(1e-6*total)+1e-3 // the conversion prevents a fused multiply-add
}

// MarshalBinary and AppendBinary return the values and their exact sum as bytes. The two calls never fail. They
// take O(n) for n values, and a million values need about 5 bytes each.
//
// UnmarshalBinary reads such bytes. Afterwards e answers exactly as the Empirical from which the bytes were made.
// If data is not a snapshot of an Empirical, UnmarshalBinary returns an error and leaves e unchanged.
// UnmarshalBinary takes O(n), and its memory is bounded by a multiple of the length of data.
func (e *Empirical) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }
func (e *Empirical) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, e.state)
}
func (e *Empirical) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, e, (*Empirical).state)
}

func (p *Progress) state(c *snapshot.Codec) {
	c.Field(1, "progress").Span(&p.at)
	c.Amount(&p.done)
	c.Amount(&p.read)
	c.Amount(&p.passed)
}

// The two methods below do the same as snapshot.Append and snapshot.Restore, but do not allocate: a phase may have a
// million attempts.

// AppendBinary appends a snapshot of the attempt's progress to dst. AppendBinary never fails and takes O(1).
// UnmarshalBinary reads such a snapshot into p. If data is not a snapshot of a Progress, UnmarshalBinary returns an
// error and leaves p unchanged. UnmarshalBinary takes O(1).
func (p *Progress) AppendBinary(dst []byte) ([]byte, error) {
	c := snapshot.Codec{Dst: append(dst, snapshot.Version)}
	p.state(&c)
	return c.Sealed(len(dst)), nil
}

func (p *Progress) UnmarshalBinary(data []byte) error {
	c, read := snapshot.Codec{In: snapshot.NewReader("estimate: Progress", snapshot.Version, data)}, Progress{}
	read.state(&c)
	err := c.In.Close()
	if err == nil {
		*p = read
	}
	return err
}

func (w *WrapUp) state(c *snapshot.Codec) {
	counter(c.Field(1, "ends"), &w.n)
	c.Field(2, "seconds").Amount(&w.seconds)
	c.Check(w.n > 0 || w.seconds == 0, "holds a mean without observations")
}

// AppendBinary appends a snapshot of the wrap-up times to dst. AppendBinary never fails. UnmarshalBinary reads such
// a snapshot into w. If data is not a snapshot of a WrapUp, UnmarshalBinary returns an error and leaves w
// unchanged.
func (w *WrapUp) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, w.state)
}
func (w *WrapUp) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, w, (*WrapUp).state)
}

// counter writes a number of events to a snapshot, or reads it. The number is not negative and has no upper bound
// except the range of int.
func counter(c *snapshot.Codec, v *int) {
	n := uint64(*v)
	c.Uint(&n)
	*v = int(min(n, math.MaxInt))
}

func (u *UnitTimes) state(c *snapshot.Codec) {
	c.Field(1, "config").Fields(func() {
		c.Field(1, "min-samples").Number(&u.config.MinSamples, 0, math.MaxInt)
		c.Field(2, "floor").Amount(&u.config.Floor)
		c.Field(3, "fixed-overhead").Bool(&u.config.FixedOverhead)
		c.Field(4, "keep-first-wave").Bool(&u.config.KeepFirstWave)
	})
	c.Field(2, "overhead").Amount(&u.overhead)
	c.Field(3, "largest").Amount(&u.largest)
	counter(c.Field(4, "stale"), &u.stale)
	counter(c.Field(5, "fitted"), &u.fitted)
	snapshot.List(c.Field(6, "samples"), &u.samples, func(s *unitSample) { u.sample(c, s) })
	places(c.Field(7, "free"), &u.free, len(u.samples))
	places(c.Field(8, "first-wave"), &u.first, len(u.samples))
	c.Field(9, "sum").Sum(&u.all.sum)
	c.Check(!c.Reading() || u.placesFit(), "lists free places or first-wave samples that do not match the samples")
	if c.Reading() {
		c.Check(plausible(u.all.sum.High, u.sort()), "holds a sum that differs from the sum of its samples")
	}
	c.Field(10, "origin").Fields(func() { u.origin.state(c, u) })
}

// In a snapshot, the first byte of each sample says which fields follow.
const (
	sampleFree     = iota // no field follows: this index of the list of samples is not in use
	sampleDerived         // the seconds and the work follow; the unit time is their quotient and is computed
	sampleStored          // the seconds, the work and the unit time follow
	sampleCensored        // the seconds and the work follow; the attempt was killed without progress
)

func (u *UnitTimes) sample(c *snapshot.Codec, s *unitSample) {
	kind := uint64(sampleStored)
	switch s.unitTime {
	case notInUse:
		kind = sampleFree
	case censored:
		kind = sampleCensored
	case s.seconds / u.Work(s.work):
		kind = sampleDerived
	}
	c.Uint(&kind)
	c.Check(kind <= sampleCensored, "holds a sample of an unknown kind")
	if kind == sampleFree {
		s.unitTime = notInUse
		return
	}
	c.Amount(&s.seconds)
	c.Amount(&s.work)
	switch kind {
	case sampleCensored:
		s.unitTime = censored
		return
	case sampleDerived:
		s.unitTime = s.seconds / u.Work(s.work)
	default:
		c.Amount(&s.unitTime)
	}
	c.Check(s.unitTime >= 0 && s.unitTime <= MaxSample, "holds a sample that is out of range")
}

// places writes a list of indexes to a snapshot, or reads it. Each index must be less than n.
func places(c *snapshot.Codec, list *[]int32, n int) {
	snapshot.List(c, list, func(at *int32) {
		place := uint64(*at)
		c.Uint(&place)
		c.Check(place < uint64(n), "names an index beyond the last")
		*at = int32(place)
	})
}

// placesFit checks the two lists of indexes of a snapshot against its samples. The list of free indexes must
// contain exactly the indexes without a sample, each of them once. The list of the first wave must contain only
// indexes with a sample, each at most once.
func (u *UnitTimes) placesFit() bool {
	seen, free := make([]bool, len(u.samples)), 0
	for i := range u.samples {
		if u.samples[i].unitTime == notInUse {
			free++
		}
	}
	ok := free == len(u.free)
	for _, at := range u.free {
		ok = ok && u.samples[at].unitTime == notInUse && !seen[at]
		seen[at] = true
	}
	for _, at := range u.first {
		ok = ok && u.samples[at].unitTime >= 0 && !seen[at]
		seen[at] = true
	}
	return ok
}

// sort builds the distribution of the unit times from the samples, and returns the sum of the unit times.
func (u *UnitTimes) sort() (total float64) {
	sorted := make([]float64, 0, len(u.samples)-len(u.free))
	for i := range u.samples {
		if x := u.samples[i].unitTime; x >= 0 {
			sorted = append(sorted, x)
			total += x
		}
	}
	slices.Sort(sorted)
	i := -1
	u.all.values.build(len(sorted), func() float64 { i++; return sorted[i] })
	return total
}

// state writes the machines of the samples of u to a snapshot or reads them from it. After reading, state counts
// again how many samples each machine has.
func (o *origins) state(c *snapshot.Codec, u *UnitTimes) {
	snapshot.List(c.Field(1, "machines"), &o.machines, func(m *origin) {
		c.Number(&m.number, math.MinInt, math.MaxInt)
		c.Amount(&m.factor)
		c.Amount(&m.divisor)
		c.Check(m.factor > 0 && m.divisor > 0, "holds a machine without a factor")
	})
	places(c.Field(2, "machine of each sample"), &o.machine, len(o.machines))
	c.Field(3, "drift").Real(&o.drift)
	c.Check(o.drift >= 0, "holds a negative drift")
	counter(c.Field(4, "updates"), &o.updates)
	c.Check(len(o.machine) <= len(u.samples), "holds more origins than samples")
	known := u.config.Factors == nil || len(o.machine) == len(u.samples)
	c.Check(known, "holds samples without a machine, and UnitTimes has Factors")
	if !c.Reading() {
		return
	}
	if len(o.machines) > 0 {
		o.places = make(map[int]int32, len(o.machines))
	}
	for i, m := range o.machines {
		_, twice := o.places[m.number]
		c.Check(!twice, "holds a machine twice")
		o.places[m.number] = int32(i)
	}
	for i, at := range o.machine {
		if u.samples[i].unitTime != notInUse {
			o.machines[at].samples++
		}
	}
	for i := range o.machines {
		m := &o.machines[i]
		m.off = m.shift()
	}
}

// MarshalBinary and AppendBinary return the numbers of the configuration, and all samples with their ids, as bytes.
// The Prior and the Factors belong to the host and are not in the bytes. The calls never fail. They take O(n) for n
// samples, and a sample needs 17 to 25 bytes.
//
// UnmarshalBinary reads such bytes into u, including the ids of the samples. Afterwards u answers and learns
// exactly as the UnitTimes from which the bytes were made. u keeps its own Prior and its own Factors.
// UnmarshalBinary returns an error and leaves u unchanged in two cases:
//
//   - data is not a snapshot of a UnitTimes
//   - the samples in data were recorded without Factors, and u has Factors
//
// UnmarshalBinary takes O(n log n), a fifth of a second for a million samples. Its memory is bounded by a multiple
// of the length of data.
func (u *UnitTimes) MarshalBinary() ([]byte, error) { return u.AppendBinary(nil) }
func (u *UnitTimes) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, u.state)
}
func (u *UnitTimes) UnmarshalBinary(data []byte) error {
	own := u.config
	fresh := UnitTimes{config: UnitTimesConfig{Prior: own.Prior, Factors: own.Factors}}
	return snapshot.RestoreTo(fresh, data, snapshot.Version, u, (*UnitTimes).state)
}
