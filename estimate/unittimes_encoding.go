package estimate

import (
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/snapshot"
)

const unitTimesVersion, wrapUpVersion = 2, 2

// AppendBinary appends a snapshot to dst: version, the numbers of the configuration, and all samples with their ids.
// The Prior and the Factors are the host's and are not in it. It never fails. O(n); 17 to 25 bytes a sample.
func (u *UnitTimes) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = snapshot.AppendInt(append(dst, unitTimesVersion), int64(u.config.MinSamples))
	dst = snapshot.AppendFloat(dst, u.config.Floor)
	dst = snapshot.AppendBool(snapshot.AppendBool(dst, u.config.FixedOverhead), u.config.KeepFirstWave)
	dst = snapshot.AppendFloat(dst, u.overhead)
	for _, n := range [...]int{u.stale, u.fitted} {
		dst = snapshot.AppendUint(dst, uint64(n))
	}
	dst = snapshot.AppendUint(dst, uint64(len(u.samples)))
	for i := range u.samples {
		s := &u.samples[i]
		if s.unitTime < 0 {
			dst = append(dst, sampleFree)
			continue
		}
		derived := s.unitTime == s.seconds/u.Work(s.work)
		if derived {
			dst = append(dst, sampleDerived)
		} else {
			dst = append(dst, sampleStored)
		}
		dst = snapshot.AppendFloat(snapshot.AppendFloat(dst, s.seconds), s.work)
		if !derived {
			dst = snapshot.AppendFloat(dst, s.unitTime)
		}
	}
	dst = appendPlaces(appendPlaces(dst, u.free), u.first)
	return snapshot.Seal(u.origin.append(snapshot.AppendSum(dst, u.all.sum)), from), nil
}

// What a sample's first byte says.
const (
	sampleFree    = iota
	sampleDerived // seconds and work follow, of which the unit time is the quotient
	sampleStored  // seconds, work and unit time follow
)

func appendPlaces(dst []byte, places []int32) []byte {
	dst = snapshot.AppendUint(dst, uint64(len(places)))
	for _, at := range places {
		dst = snapshot.AppendUint(dst, uint64(at))
	}
	return dst
}

// MarshalBinary returns a snapshot; see [UnitTimes.AppendBinary].
func (u *UnitTimes) MarshalBinary() ([]byte, error) { return u.AppendBinary(nil) }

// UnmarshalBinary sets u to what was written, ids included: it answers, and learns, as if it had never stopped. Its
// Prior and its Factors stay. It is an error if only one of u and the snapshot has Factors, or if data is not a
// snapshot, and leaves u as it was. O(n log n), a fifth of a second for a million samples; memory is bounded by a
// multiple of the length of data.
func (u *UnitTimes) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate: UnitTimes", unitTimesVersion, data)
	restored := UnitTimes{config: u.config}
	restored.config.MinSamples = r.Number(0, math.MaxInt)
	restored.config.Floor = r.Amount()
	restored.config.FixedOverhead, restored.config.KeepFirstWave = r.Bool(), r.Bool()
	restored.overhead = r.Amount()
	for _, n := range [...]*int{&restored.stale, &restored.fitted} {
		*n = int(min(r.Uint(), math.MaxInt))
	}
	restored.readSamples(r)
	restored.free = readPlaces(r, len(restored.samples))
	restored.first = readPlaces(r, len(restored.samples))
	restored.checkPlaces(r)
	restored.sortSamples(r)
	restored.origin.read(r, &restored)
	if err := r.Close(); err != nil {
		return err
	}
	*u = restored
	return nil
}

func (u *UnitTimes) readSamples(r *snapshot.Reader) {
	n := r.Count(1)
	if n == 0 {
		return
	}
	u.samples = make([]unitSample, 0, n)
	for range n {
		s := unitSample{unitTime: -1}
		kind := int(r.Uint())
		r.Check(kind <= sampleStored && kind >= 0, "holds a sample of no kind")
		if kind != sampleFree {
			s.seconds, s.work = r.Amount(), r.Amount()
			s.unitTime = s.seconds / u.Work(s.work)
		}
		if kind == sampleStored {
			s.unitTime = r.Amount()
		}
		r.Check(kind == sampleFree || s.unitTime >= 0 && s.unitTime <= MaxSample, "holds a sample that is out of range")
		if !r.OK() {
			return
		}
		u.samples = append(u.samples, s)
	}
}

func readPlaces(r *snapshot.Reader, samples int) []int32 {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	places := make([]int32, 0, n)
	for range n {
		at := r.Uint()
		r.Check(at < uint64(samples), "names a place beyond the last")
		places = append(places, int32(at))
	}
	return places
}

// checkPlaces checks that the free places are those without a sample, and that those of the first wave are not free.
func (u *UnitTimes) checkPlaces(r *snapshot.Reader) {
	if !r.OK() {
		return
	}
	seen := make([]bool, len(u.samples))
	free := 0
	for i := range u.samples {
		if u.samples[i].unitTime < 0 {
			free++
		}
	}
	ok := free == len(u.free)
	for _, at := range u.free {
		ok = ok && u.samples[at].unitTime < 0 && !seen[at]
		seen[at] = true
	}
	for _, at := range u.first {
		ok = ok && u.samples[at].unitTime >= 0 && !seen[at]
		seen[at] = true
	}
	r.Check(ok, "lists free or first samples that are not")
}

// sortSamples makes the distribution of the samples.
func (u *UnitTimes) sortSamples(r *snapshot.Reader) {
	sum := r.Sum()
	if !r.OK() {
		return
	}
	sorted := make([]float64, 0, len(u.samples)-len(u.free))
	total := 0.
	for i := range u.samples {
		if x := u.samples[i].unitTime; x >= 0 {
			sorted = append(sorted, x)
			total += x
		}
	}
	r.Check(plausible(sum.High, total), "holds a sum that is not that of its samples")
	slices.Sort(sorted)
	i := -1
	u.all.tree.build(len(sorted), func() float64 { i++; return sorted[i] })
	u.all.sum = sum
}

// append appends where samples were taken.
func (o *origins) append(dst []byte) []byte {
	dst = snapshot.AppendUint(dst, uint64(len(o.machines)))
	for _, m := range o.machines {
		dst = snapshot.AppendFloat(snapshot.AppendInt(dst, int64(m.number)), m.factor)
	}
	dst = appendPlaces(dst, o.machine)
	return snapshot.AppendUint(snapshot.AppendFloat(dst, o.drift), uint64(o.updates))
}

// read reads what append wrote, and counts the samples of each machine.
func (o *origins) read(r *snapshot.Reader, u *UnitTimes) {
	if n := r.Count(9); n > 0 {
		o.places = make(map[int]int32, n)
		o.machines = make([]origin, n)
	}
	for i := range o.machines {
		m := &o.machines[i]
		m.number, m.factor = r.Number(math.MinInt, math.MaxInt), r.Amount()
		_, twice := o.places[m.number]
		r.Check(!twice && m.factor > 0, "holds a machine twice, or without a factor")
		o.places[m.number] = int32(i)
	}
	o.machine = readPlaces(r, len(o.machines))
	r.Check(len(o.machine) <= len(u.samples), "holds more origins than samples")
	known := u.config.Factors == nil || len(o.machine) == len(u.samples)
	r.Check(known, "holds samples of unknown origin, and there are Factors")
	if !r.OK() {
		return
	}
	for i, at := range o.machine {
		if u.samples[i].unitTime >= 0 {
			o.machines[at].samples++
		}
	}
	o.drift = r.Float()
	r.Check(o.drift >= 0, "holds a negative drift")
	o.updates = int(min(r.Uint(), math.MaxInt))
}

// AppendBinary appends a snapshot to dst. It never fails.
func (w *WrapUp) AppendBinary(dst []byte) ([]byte, error) {
	from := len(dst)
	dst = snapshot.AppendFloat(snapshot.AppendUint(append(dst, wrapUpVersion), uint64(w.n)), w.seconds)
	return snapshot.Seal(dst, from), nil
}

// UnmarshalBinary sets w to what was written. What is not a snapshot is an error, and leaves w as it was.
func (w *WrapUp) UnmarshalBinary(data []byte) error {
	r := snapshot.NewReader("estimate: WrapUp", wrapUpVersion, data)
	restored := WrapUp{n: int(min(r.Uint(), math.MaxInt)), seconds: r.Amount()}
	r.Check(restored.n > 0 || restored.seconds == 0, "holds a mean of nothing")
	if err := r.Close(); err != nil {
		return err
	}
	*w = restored
	return nil
}
