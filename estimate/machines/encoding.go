package machines

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// AppendBinary appends a snapshot of the record to dst: the version of the format, the configuration, the clock,
// and the machines. The machines are in the order of their latest event, oldest first. AppendBinary never fails. It
// takes O(m) for m machines, and a machine needs up to 400 bytes.
func (r *Record) AppendBinary(dst []byte) ([]byte, error) {
	r.begin()
	r.settle()
	return snapshot.Append(dst, snapshot.Version, r.state)
}

// MarshalBinary returns a snapshot; see [Record.AppendBinary].
func (r *Record) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// UnmarshalBinary reads a snapshot, including the configuration, into r. Afterwards r answers and learns exactly as
// the record from which the snapshot was made. If data is not a snapshot of a Record, UnmarshalBinary returns an
// error and leaves r unchanged. UnmarshalBinary takes O(m log m) for m machines. Its memory is bounded by a
// multiple of the length of data.
func (r *Record) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, r, (*Record).state)
}

func (r *Record) state(c *snapshot.Codec) {
	c.Field(1, "config").Fields(func() { r.config.state(c) })
	if c.Reading() {
		r.begin()
	}
	if !c.OK() {
		return
	}
	c.Field(2, "clock").Clock(&r.clock)
	r.fleet.origins.State(c.Field(3, "origins"))
	snapshot.List(c.Field(4, "classes"), &r.classes, func(class *classRecord) { c.Amount(&class.base) })
	if c.Check(len(r.classes) >= 1 && len(r.classes) <= maxClasses, "holds a number of classes out of range"); !c.OK() {
		return
	}
	r.stateMachines(c)
	c.Field(6, "ended").Sum(&r.ended)
	c.Field(7, "failed").Sum(&r.failed)
	snapshot.Small(c.Field(8, "members"), &r.members, 0, math.MaxUint16)
	c.Field(9, "progress-used").Bool(&r.progress.used)
	c.Field(10, "progress-halved").Span(&r.progress.halved)
	inTime(c, r, r.progress.halved)
	if !c.Reading() {
		return
	}
	ended, failed := r.ended.High, r.failed.High
	for i := r.newest; i != none; i = r.machines[i].older {
		m := &r.machines[i]
		if ended, failed = ended-m.ended, failed-m.failed; r.progress.used {
			r.progress.totals.Insert(float64(m.total) / step)
		}
	}
	c.Check(math.Abs(ended) < 1e-3 && math.Abs(failed) < 1e-3, "holds a sum that differs from the sum over its machines")
}

func (c *Config) state(to *snapshot.Codec) {
	to.Field(1, "half-life").Duration(&c.HalfLife)
	to.Field(2, "trust").Amount(&c.Trust)
	to.Field(3, "limit").Amount(&c.Limit)
	to.Field(4, "slow-factor").Amount(&c.SlowFactor)
	to.Field(5, "max-share").Amount(&c.MaxShare)
	to.Field(6, "max-machines").Number(&c.MaxMachines, 1, maxMachines)
	to.Field(7, "origin").Text(&c.Origin)
	to.Field(8, "max-skew").Duration(&c.MaxSkew)
	to.Valid(*c == c.Effective(), c)
}

// inTime makes the reading of a snapshot fail if an instant in the snapshot is in the future.
func inTime(c *snapshot.Codec, r *Record, at time.Duration) {
	c.Check(at <= r.config.choices().Latest(r.clock), "holds a time in the future")
}

// stateMachines writes the machines to a snapshot or reads them from it, in the order of their latest event. For
// each machine the snapshot also says whether it is in the list of flagged machines, and where.
func (r *Record) stateMachines(c *snapshot.Codec) {
	n := c.Field(5, "machines").Size(r.Len(), 1)
	c.Check(n <= r.config.MaxMachines, "holds more machines than MaxMachines")
	if c.Writes() {
		for i := r.oldest; i != none; i = r.machines[i].newer {
			r.machines[i].state(c, r)
		}
		return
	}
	// Entry k is 1 plus the index of the machine that is at position k of the list of flagged machines; 0 if that
	// machine was not yet read.
	flags := make([]int32, n)
	for ; n > 0 && c.OK(); n-- {
		m := machine{newer: none, older: none}
		if m.state(c, r); !c.OK() {
			return
		}
		_, numbered := r.places[m.number]
		_, named := r.fleet.names[m.name]
		c.Check(!numbered && !named && (m.number != none || m.name != ""),
			"holds a machine twice, or a machine without number and name")
		i := r.place(m.number, m.name)
		m.newer, m.older = r.machines[i].newer, r.machines[i].older
		r.machines[i] = m
		class := &r.classes[m.class]
		if class.spread.countAll(&m, 1); m.known {
			r.all.Insert(m.location)
			class.locations.Insert(m.location)
		}
		if m.flag != none {
			if c.Check(int(m.flag) < len(flags) && flags[m.flag] == 0, "holds a flag twice"); !c.OK() {
				return
			}
			flags[m.flag] = i + 1
			r.flagged = append(r.flagged, none)
		}
	}
	for j := range r.flagged {
		c.Check(flags[j] > 0, "leaves out the number of a flagged machine")
		r.flagged[j] = flags[j] - 1
	}
}

func (m *machine) state(c *snapshot.Codec, r *Record) {
	c.Number(&m.number, none, math.MaxInt)
	c.Text(&m.name)
	c.Check(len(m.name) <= merge.MostName, "holds a name that is too long")
	c.Index(&m.class, len(r.classes))
	c.Bool(&m.known)
	c.Index(&m.flag, maxMachines)
	for _, x := range [...]*float64{&m.location, &m.weight, &m.ended, &m.failed} {
		c.Amount(x)
	}
	c.Check(m.class != none, "holds a machine without a class")
	c.Check(m.location > 0 && m.location <= estimate.MaxSample || !m.known, "holds a machine with a location out of range")
	c.Check(m.ended <= recent && m.failed <= m.ended && m.weight <= recent+MostRunning, "holds more evidence than fits")
	c.Span(&m.found)
	inTime(c, r, m.found)
	c.Number64(&m.total, 0, math.MaxInt64/4)
	snapshot.Small(c, &m.pasts, 0, recent)
	snapshot.Small(c, &m.presents, 0, MostRunning)
	for j := range m.past[:m.pasts] {
		snapshot.Small(c, &m.by[j], 0, math.MaxUint16)
		c.Check(r.fleet.origins.Holds(m.by[j]), "holds evidence of an unknown origin")
		m.past[j].state(c, r)
	}
	for j := range m.present[:m.presents] {
		c.Uint(&m.present[j].key)
		m.present[j].state(c, r)
	}
}

func (e *evidence) state(c *snapshot.Codec, r *Record) {
	c.Span(&e.at)
	inTime(c, r, e.at)
	e.code(c)
	c.Check(e.ratio == e.within(r.config.Limit).ratio, "holds a ratio out of range")
}
