package machines

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const version = 3

// AppendBinary appends a snapshot to dst: version, configuration, clock, and the machines, from the one that was
// heard of longest ago. It never fails. O(m); up to 350 bytes a machine.
func (r *Record) AppendBinary(dst []byte) ([]byte, error) {
	c := r.Config()
	from := len(dst)
	dst = snapshot.AppendInt(append(dst, version), int64(c.HalfLife))
	for _, x := range [...]float64{c.Trust, c.Limit, c.SlowFactor, c.MaxShare} {
		dst = snapshot.AppendFloat(dst, x)
	}
	dst = snapshot.AppendClock(snapshot.AppendInt(dst, int64(c.MaxMachines)), r.clock)
	dst = snapshot.AppendUint(dst, uint64(len(r.classes)))
	for i := range r.classes {
		dst = snapshot.AppendFloat(dst, r.classes[i].base)
	}
	dst = snapshot.AppendUint(dst, uint64(len(r.places)))
	for i, left := r.oldest, len(r.places); left > 0; i, left = r.machines[i].newer, left-1 {
		dst = r.machines[i].append(dst)
	}
	dst = snapshot.AppendSum(snapshot.AppendSum(dst, r.ended), r.failed)
	dst = snapshot.AppendBool(snapshot.AppendUint(dst, uint64(r.members)), r.progress.used)
	return snapshot.Seal(snapshot.AppendInt(dst, int64(r.progress.halved)), from), nil
}

func (m *machine) append(dst []byte) []byte {
	dst = snapshot.AppendUint(snapshot.AppendUint(dst, uint64(m.number)), uint64(m.class))
	dst = snapshot.AppendUint(snapshot.AppendBool(dst, m.known), uint64(m.flag+1))
	for _, x := range [...]float64{m.location, m.weight, m.ended, m.failed} {
		dst = snapshot.AppendFloat(dst, x)
	}
	dst = snapshot.AppendUint(snapshot.AppendInt(dst, int64(m.found)), uint64(m.total))
	dst = append(dst, m.pasts, m.next, m.presents)
	for _, e := range m.past[:m.pasts] {
		dst = e.append(dst)
	}
	for j := range m.present[:m.presents] {
		dst = m.present[j].append(snapshot.AppendUint(dst, m.present[j].key))
	}
	return dst
}

func (e evidence) append(dst []byte) []byte {
	dst = snapshot.AppendUint(snapshot.AppendInt(dst, int64(e.at)), uint64(math.Float32bits(e.ratio)))
	return snapshot.AppendBool(append(snapshot.AppendUint(dst, uint64(e.seen)), byte(e.kind)), e.failed)
}

// MarshalBinary returns a snapshot; see [Record.AppendBinary].
func (r *Record) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// UnmarshalBinary sets r to what was written, configuration included: it answers, and learns, as if it had never
// stopped. What is not a snapshot is an error, and leaves r as it was. O(m log m); memory is bounded by a multiple of
// the length of data.
func (r *Record) UnmarshalBinary(data []byte) error {
	in := snapshot.NewReader("estimate/machines: Record", version, data)
	c := Config{
		HalfLife: in.Duration(), Trust: in.Amount(), Limit: in.Amount(), SlowFactor: in.Amount(), MaxShare: in.Amount(),
		MaxMachines: in.Number(1, maxMachines),
	}
	restored, err := New(c)
	if err != nil {
		in.Fail(err)
		return in.Close()
	}
	restored.clock = in.Clock()
	classes := in.Uint()
	in.Check(classes >= 1 && classes <= maxClasses, "holds a number of classes out of range")
	if !in.OK() {
		return in.Close()
	}
	restored.classes = make([]classRecord, classes)
	for i := range restored.classes {
		restored.classes[i].base = in.Amount()
	}
	restored.read(in)
	if err := in.Close(); err != nil {
		return err
	}
	*r = *restored
	return nil
}

// read reads the machines and what is summed over them.
func (r *Record) read(in *snapshot.Reader) {
	const least = 40 // bytes of a machine that has shown nothing
	n := in.Count(least)
	in.Check(n <= r.config.MaxMachines, "holds more machines than MaxMachines")
	var ended, failed float64
	flags := make([]int32, n) // places, by when they were flagged
	for ; n > 0 && in.OK(); n-- {
		var m machine
		m.read(in, r)
		if _, twice := r.places[m.number]; twice || !in.OK() {
			in.Check(false, "holds a machine twice")
			return
		}
		i := r.touch(m.number)
		m.newer, m.older = r.machines[i].newer, r.machines[i].older
		r.machines[i] = m
		r.classes[m.class].spread.countAll(&m, 1)
		if m.known {
			r.all.Insert(m.location)
			r.classes[m.class].locations.Insert(m.location)
		}
		if m.flag != none {
			if in.Check(int(m.flag) < len(flags) && flags[m.flag] == 0, "holds a flag twice"); !in.OK() {
				return
			}
			flags[m.flag] = i + 1
			r.flagged = append(r.flagged, none)
		}
		ended += m.ended
		failed += m.failed
	}
	for j := range r.flagged {
		in.Check(flags[j] > 0, "leaves a flag out")
		r.flagged[j] = flags[j] - 1
	}
	r.ended, r.failed = in.Sum(), in.Sum()
	in.Check(math.Abs(r.ended.High-ended) < 1e-3, "holds a sum that is not one")
	in.Check(math.Abs(r.failed.High-failed) < 1e-3, "holds a sum that is not one")
	members := in.Uint()
	in.Check(members <= math.MaxUint16, "holds a member out of range")
	r.members = Member(members)
	r.progress.used, r.progress.halved = in.Bool(), in.Duration()
	in.Check(r.progress.halved <= r.clock.Since, "holds a time to come")
	for i := r.newest; i != none && r.progress.used; i = r.machines[i].older {
		r.progress.totals.Insert(float64(r.machines[i].total) / step)
	}
}

func (m *machine) read(in *snapshot.Reader, r *Record) {
	m.number = int(min(in.Uint(), math.MaxInt))
	class := in.Uint()
	in.Check(class < uint64(len(r.classes)), "holds a machine of a class that there is not")
	m.known = in.Bool()
	m.flag = int32(min(in.Uint(), maxMachines)) - 1
	m.location, m.weight, m.ended, m.failed = in.Amount(), in.Amount(), in.Amount(), in.Amount()
	in.Check(m.location > 0 && m.location <= estimate.MaxSample || !m.known, "holds a machine of no location")
	in.Check(m.ended <= recent && m.failed <= m.ended && m.weight <= recent+running, "holds more evidence than fits")
	m.found = in.Duration()
	total := in.Uint()
	in.Check(m.found <= r.clock.Since && total <= math.MaxInt64/4, "holds a machine that is out of range")
	pasts, next, presents := in.Uint(), in.Uint(), in.Uint()
	in.Check(pasts <= recent && next < recent && presents <= running, "holds more attempts than fit")
	in.Check(next == pasts || pasts == recent, "holds attempts with a gap")
	if !in.OK() {
		return
	}
	m.class, m.total = int32(class), int64(total)
	m.pasts, m.next, m.presents = uint8(pasts), uint8(next), uint8(presents)
	for j := range m.past[:m.pasts] {
		m.past[j] = r.readEvidence(in)
	}
	for j := range m.present[:m.presents] {
		m.present[j].key = in.Uint()
		m.present[j].evidence = r.readEvidence(in)
	}
}

func (r *Record) readEvidence(in *snapshot.Reader) evidence {
	at, ratio, seen, shown, failed := in.Duration(), in.Uint(), in.Uint(), in.Uint(), in.Bool()
	in.Check(at <= r.clock.Since && ratio <= math.MaxUint32, "holds evidence out of range")
	in.Check(seen <= full && shown <= uint64(bound), "holds evidence of no kind")
	if !in.OK() {
		return evidence{}
	}
	e := evidence{at, math.Float32frombits(uint32(ratio)), uint16(seen), kind(shown), failed}
	least, most := float32(1/r.config.Limit), float32(r.config.Limit)
	in.Check(e.kind == silent && e.ratio == 0 || e.ratio >= least && e.ratio <= most, "holds a ratio out of range")
	return e
}
