package machines

import (
	"iter"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// What many processes see of the same machines, and pass on to each other.

// fleet is what a record needs to know for that.
type fleet struct {
	origins merge.Origins
	names   map[string]int32 // the places of the machines that have a name
	order   []int32          // places by name; nil if it is to be made again
	merged  bool             // since the machines' factors were found
}

// keep is for how many half-lives evidence is passed on; it counts a thousandth by then.
const keep = 32

func (c Config) choices() merge.Choices {
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: num.Times(c.HalfLife, keep)}
}

// named is evidence of a machine that has a name.
type named struct {
	name string
	evidence
}

// form is how evidence is passed on.
func form() merge.Form[named] {
	return merge.Form[named]{
		Place: "estimate/machines", Kind: 'm',
		Fact: func(c *snapshot.Codec, n *named) { n.code(c) },
		Name: func(n *named) *string { return &n.name },
	}
}

// Two bits of what evidence says, beside its kind.
const saysFull, saysFailed = 4, 8

// says returns what evidence says except its numbers.
func (e evidence) says() uint8 {
	says := uint8(e.kind)
	if e.seen == full {
		says |= saysFull
	}
	if e.failed {
		says |= saysFailed
	}
	return says
}

// code codes evidence without its time.
func (e *evidence) code(c *snapshot.Codec) {
	says, ratio := e.says(), uint64(math.Float32bits(e.ratio))
	snapshot.Small(c, &says, 0, saysFull|saysFailed|3)
	c.Check(kind(says&3) <= bound, "holds evidence of no kind")
	e.kind, e.failed = kind(says&3), says&saysFailed > 0
	if e.kind == silent {
		c.Check(says&saysFull == 0, "holds silent evidence that counts")
		return
	}
	c.Uint(&ratio)
	e.ratio = math.Float32frombits(uint32(ratio))
	c.Check(ratio <= math.MaxUint32 && e.ratio > 0 && e.ratio <= math.MaxFloat32, "holds a ratio out of range")
	if says&saysFull > 0 {
		e.seen = full
	} else {
		snapshot.Small(c, &e.seen, 0, full-1)
	}
}

// within returns evidence whose ratio is within a record's limit.
func (e evidence) within(limit float64) evidence {
	if e.kind != silent {
		e.ratio = float32(min(max(float64(e.ratio), 1/limit), limit))
	}
	return e
}

// at takes an instant.
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

// SetName says by which name the processes of a fleet know a machine. Say it before the machine's first attempt: what
// was seen before it may not reach those who have asked already. It reports false, and changes nothing, for a negative
// machine, for a name that is empty or longer than 255 bytes, and where the machine has another name or the name
// another machine. What was merged of the name is known of the machine from then on.
func (r *Record) SetName(machine int, name string) bool {
	if machine < 0 || name == "" || len(name) > merge.MostName {
		return false
	}
	r.begin()
	i, numbered := r.places.get(machine)
	j, named := r.fleet.names[name]
	switch {
	case numbered && (named || r.machines[i].name != ""):
		return numbered && named && i == j
	case named && r.machines[j].number != none:
		return false
	case named:
		r.machines[j].number = machine
		r.call(j)
	case numbered:
		r.machines[i].name = name
		r.call(i)
	default:
		r.place(machine, name)
	}
	return true
}

// call notes how a machine is called.
func (r *Record) call(i int32) {
	m := &r.machines[i]
	if m.number != none {
		r.places.set(m.number, i, len(r.machines))
	}
	if m.name != "" {
		r.fleet.names[m.name] = i
	}
	r.fleet.order = nil
}

// AppendVersion appends what the record knows, as far as a process that knows more must know that to say the rest: of
// each process, until when. Some 25 bytes a process.
func (r *Record) AppendVersion(dst []byte) []byte {
	return form().AppendVersion(dst, &r.fleet.origins)
}

// AppendDelta appends what the record knows of the attempts that have ended beyond a version, that of the reader by its
// AppendVersion; nil stands for one that knows nothing. With origins it says only what these have seen, for a carrier
// on which each process says its own. It is an error if since is no version. Some 10 bytes an attempt, and a name for
// each machine. O(m + d log d) for d attempts.
func (r *Record) AppendDelta(dst, since []byte, origins ...string) ([]byte, error) {
	return form().AppendDelta(dst, since, &r.fleet.origins, r.config.choices(), r.clock.Since, origins, r.evidence())
}

// evidence is what the record has of machines that have a name.
func (r *Record) evidence() iter.Seq[merge.Observation[named]] {
	return func(yield func(merge.Observation[named]) bool) {
		for i := r.newest; i != none && r.places.many != nil; i = r.machines[i].older {
			m := &r.machines[i]
			for j, e := range m.past[:m.pasts] {
				if m.name != "" && !yield(merge.Observation[named]{At: e.at, Fact: named{m.name, e}, Origin: m.by[j]}) {
					return
				}
			}
		}
	}
}

// Merge takes in what another process has seen, by its AppendDelta. The order of deltas does not matter, nor does it
// whether one comes twice, in parts, or by way of a third: records that know the same, and have the same choices and
// classes, give the same answers at the same instant after a Merge, to the last bit, as far as nothing runs and no more
// than MaxMachines are known. Of the latest 16 attempts on a machine, at most 8 are those of one process. What is older
// than 32 half-lives is left out.
//
// It is an error, and nothing is taken, if the record has no Origin, or delta is damaged or none; and, a FieldError, if
// it comes from more than MaxSkew ahead of now, which the clock of either may be the reason for. O(1) an attempt; all
// factors are found again when one is asked for, in O(m log m).
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
		r.heard(i)
		s.Fact.at = s.At
		r.put(&r.machines[i], s.Fact.within(r.config.Limit), s.Origin)
	}
	r.fleet.merged = true
	return nil
}
