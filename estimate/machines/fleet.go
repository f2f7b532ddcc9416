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

// fleet is the state that a record needs to share evidence.
type fleet struct {
	origins merge.Origins
	names   map[string]int32 // the index of each machine with a name
	order   []int32          // indexes of machines by name; nil if it must be built again
	merged  bool             // evidence was merged after the factors were last computed
}

// keep is in half-lives: older evidence is not shared. Older evidence counts a thousandth by then.
const keep = 32

func (c Config) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.HalfLife, keep)}
}

// named is evidence with the name of its machine.
type named struct {
	name string
	evidence
}

// form describes how evidence is encoded for other processes.
func form() merge.Form[named] {
	return merge.Form[named]{
		Place: "estimate/machines", Kind: 'm',
		Fact: func(c *snapshot.Codec, n *named) { n.code(c) },
		Name: func(n *named) *string { return &n.name },
	}
}

// Two bits of the first byte of a piece of evidence, above its kind.
const fullBit, failedBit = 4, 8

// bits returns the first byte of the code: the kind, full weight and failure.
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

// code codes evidence without its instant.
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
	c.Check(ratio <= math.MaxUint32 && e.ratio > 0 && e.ratio <= math.MaxFloat32, "holds a ratio out of range")
	if bits&fullBit > 0 {
		e.seen = full
	} else {
		snapshot.Small(c, &e.seen, 0, full-1)
	}
}

// within returns the evidence with its ratio moved into a record's limit.
func (e evidence) within(limit float64) evidence {
	if e.kind != silent {
		e.ratio = float32(min(max(float64(e.ratio), 1/limit), limit))
	}
	return e
}

// at converts a host's instant to the time of the record. If the clock has stepped back, it drops evidence of the future.
func (r *Record) at(now time.Time) time.Duration {
	r.begin()
	c, before := r.config.choices(), r.clock.Since
	at := c.At(&r.clock, now)
	if before > c.By(at) {
		r.forgetOld()
		r.fleet.merged = true
	}
	return at
}

// SetName sets the name by which the processes of a fleet know a machine. Call it before the machine's first
// attempt, because earlier attempts may not reach processes that have already asked. After SetName the machine has
// all evidence that was merged under its name. SetName reports false and changes nothing in these cases:
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

// indexNames stores the index of a machine under its number and its name.
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

// AppendVersion appends a summary of the record's knowledge: the latest instant known of each process. Another
// process passes this version to AppendDelta. Some 25 bytes a process.
func (r *Record) AppendVersion(dst []byte) []byte {
	return form().AppendVersion(dst, &r.fleet.origins)
}

// AppendDelta appends the ended attempts that the reader does not know. The argument since is the version of the
// reader, by its AppendVersion; nil stands for a reader that knows nothing. With origins, the delta has only
// evidence of these processes, for a carrier on which each process sends its own evidence. AppendDelta returns an
// error if since is not a version. Some 10 bytes an attempt, and a name for each machine. O(m + d log d) for d
// attempts.
func (r *Record) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return form().AppendDelta(dst, since, &r.fleet.origins, r.config.choices(), r.clock.Since, origins, r.evidence())
}

// evidence yields all evidence of the machines that have a name.
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

// Merge adds the evidence of a delta that another process has made by AppendDelta. Deltas may come in any order,
// repeatedly, in parts, and through a third process. After a Merge, records give equal answers at equal instants,
// to the last bit, if:
//
//   - they know the same evidence
//   - they have equal choices and classes
//   - no attempt runs, and no more than MaxMachines are known
//
// At most 8 of the latest 16 attempts on a machine come from one process. Evidence older than 32 half-lives is left
// out.
//
// Merge returns an error and changes nothing if the record has no Origin, if delta is damaged, or if delta is no
// delta. Merge returns a FieldError if delta comes from more than MaxSkew ahead of now; either clock may be the
// cause. O(1) an attempt; the next question computes all factors again, in O(m log m).
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
