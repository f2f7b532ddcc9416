package machines

import (
	"iter"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// This file shares evidence about the same machines between processes.

// fleet is the part of a record that is needed to share evidence with other processes.
type fleet struct {
	origins merge.Origins
	names   map[string]int32 // the index in Record.machines of each machine that has a name
	order   []int32          // indexes of the machines, sorted by name; nil if the list must be built again
	merged  bool             // evidence was merged, and the factors were not yet computed again
}

// keep is a number of half-lives. Evidence that is older is not shared. At this age an attempt has a thousandth of
// its weight.
const keep = 32

func (c Config) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.HalfLife, keep)}
}

// named is the evidence of one attempt, with the name of its machine.
type named struct {
	name string
	evidence
}

// form returns a description, for package merge, of how evidence is encoded for other processes.
func form() merge.Form[named] {
	return merge.Form[named]{
		Place: "estimate/machines", Kind: 'm',
		Fact: func(c *snapshot.Codec, n *named) { n.code(c) },
		Name: func(n *named) *string { return &n.name },
	}
}

// The first byte of encoded evidence has the kind in its two lowest bits. These two bits are above the kind:
// fullBit says that the attempt has its full weight, and failedBit that the attempt failed.
const fullBit, failedBit = 4, 8

// infinite has the bits of the float32 +Inf. The numbers above 0 and below it are the bits of the positive finite numbers.
const infinite = 0xff << num.Fraction32

// bits returns the first byte of encoded evidence: the kind, and the two bits for full weight and failure.
func (e evidence) bits() uint8 {
	bits := uint8(e.kind)
	if e.seen == full {
		bits |= fullBit
	}
	if e.failed {
		bits |= failedBit
	}
	return bits
}

// code encodes evidence or decodes it, except for its instant.
func (e *evidence) code(c *snapshot.Codec) {
	bits, ratio := e.bits(), uint64(math.Float32bits(e.ratio))
	snapshot.Small(c, &bits, 0, fullBit|failedBit|3)
	c.Check(kind(bits&3) <= bound, "holds evidence of an unknown kind")
	e.kind, e.failed = kind(bits&3), bits&failedBit > 0
	if e.kind == silent {
		c.Check(bits&fullBit == 0, "holds evidence that says nothing and yet has full weight")
		return
	}
	c.Uint(&ratio)
	e.ratio = math.Float32frombits(uint32(ratio))
	c.Check(0 < ratio && ratio < infinite, "holds a ratio out of range")
	if bits&fullBit > 0 {
		e.seen = full
	} else {
		snapshot.Small(c, &e.seen, 0, full-1)
	}
}

// within returns the evidence with its ratio moved into the range from 1/limit to limit.
func (e evidence) within(limit float64) evidence {
	if e.kind != silent {
		e.ratio = float32(min(max(float64(e.ratio), 1/limit), limit))
	}
	return e
}

// at converts an instant of the host to the time of the record. If the host's clock has stepped back, at once or little by
// little, at removes evidence that is then in the future.
func (r *Record) at(now time.Time) time.Duration {
	r.begin()
	c := r.config.choices()
	at := c.At(&r.clock, now)
	if r.fleet.origins.Ahead(c.By(at)) {
		r.forgetOld()
		r.fleet.merged = true
	}
	return at
}

// SetName sets the name of a machine, by which all processes refer to the same machine. Call it before the first
// attempt on the machine is reported. Otherwise another process that has already asked for this record's evidence
// may never get the earlier attempts. If evidence was merged under this name before, the machine has that evidence
// after SetName. SetName reports false and changes nothing in these cases:
//
//   - the machine is negative
//   - the name is empty or longer than 255 bytes
//   - the machine has another name
//   - another machine has the name
func (r *Record) SetName(machine int, name string) bool {
	if machine < 0 || name == "" || len(name) > merge.MostName {
		return false
	}
	r.begin()
	i, numbered := r.places[machine]
	j, named := r.fleet.names[name]
	switch {
	case numbered && (named || r.machines[i].name != ""):
		return numbered && named && i == j
	case named && r.machines[j].number != none:
		return false
	case named:
		r.machines[j].number = machine
		r.indexNames(j)
	case numbered:
		r.machines[i].name = name
		r.indexNames(i)
	default:
		r.place(machine, name)
	}
	return true
}

// indexNames makes a machine findable by its number and by its name.
func (r *Record) indexNames(i int32) {
	m := &r.machines[i]
	if m.number != none {
		r.places[m.number] = i
	}
	if m.name != "" {
		r.fleet.names[m.name] = i
	}
	r.fleet.order = nil
}

// AppendVersion appends a version to dst: a summary of the evidence that the record has. The version contains the
// latest known instant of each process. Another process passes the version to AppendDelta. A version has some 25
// bytes for each process.
func (r *Record) AppendVersion(dst []byte) []byte {
	return form().AppendVersion(dst, &r.fleet.origins)
}

// AppendDelta appends a delta to dst: the ended attempts that another process, the reader, does not know. The
// argument since is the version that the reader got from its AppendVersion. If since is nil, the delta contains all
// ended attempts. If origins are given, the delta contains only evidence of the processes with these names. Use
// this if each process distributes its own evidence. AppendDelta returns an error if since is not a version. A
// delta has some 10 bytes for each attempt, and a name for each machine. AppendDelta takes O(m + d log d) for m
// machines and d attempts.
func (r *Record) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return form().AppendDelta(dst, since, &r.fleet.origins, r.config.choices(), r.clock.Since, origins, r.evidence())
}

// evidence returns an iterator over all ended attempts on machines that have a name.
func (r *Record) evidence() iter.Seq[merge.Observation[named]] {
	return func(yield func(merge.Observation[named]) bool) {
		for i := r.newest; i != none && r.places != nil; i = r.machines[i].older {
			m := &r.machines[i]
			for j, e := range m.past[:m.pasts] {
				if m.name != "" && !yield(merge.Observation[named]{At: e.at, Fact: named{m.name, e}, Origin: m.by[j]}) {
					return
				}
			}
		}
	}
}

// Merge adds the evidence of a delta that another process has made by AppendDelta. Deltas may arrive in any order,
// more than once, in parts, and through a third process. After a Merge, two records give the same answers at the
// same instant, to the last bit, if three conditions are true:
//
//   - the records have the same evidence
//   - their configurations, except for the Origin, and their classes are equal
//   - no attempt runs, and there are at most MaxMachines machines
//
// At most 8 of the latest 16 attempts on a machine come from a single process. Evidence that is older than 32
// half-lives is left out.
//
// Merge returns an error and changes nothing if the record has no Origin, if delta is damaged, or if delta is no
// delta. Merge returns a FieldError if the time of delta is more than MaxSkew after now. Then the clock of this
// process or the clock of the other process is wrong. Merge takes O(1) for each attempt. The next call that asks
// for a factor or a verdict computes all factors again, in O(m log m) for m machines.
func (r *Record) Merge(now time.Time, delta []byte) error {
	at := r.at(now)
	seen, err := form().Read(&r.fleet.origins, r.config.choices(), at, delta)
	if err != nil {
		return err
	}
	for _, s := range seen {
		i, ok := r.fleet.names[s.Fact.name]
		if !ok {
			i = r.place(none, s.Fact.name)
		}
		r.makeNewest(i)
		s.Fact.at = s.At
		r.put(&r.machines[i], s.Fact.within(r.config.Limit), s.Origin)
	}
	r.fleet.merged = true
	return nil
}
