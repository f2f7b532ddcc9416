// Package merge is the common part of types that share their knowledge between processes. The package records which
// observations each process knows, encodes deltas, and decides which observations in a delta are accepted.
//
// For example, process b asks process a for evidence about machines:
//
//	version := b.AppendVersion(nil)           // b knows all of a until 10:00
//	delta, err := a.AppendDelta(nil, version) // the observations of a after 10:00
//	err = b.Merge(now, delta)                 // b knows all of a until 10:05
//
// The knowledge of a process is a set of observations. An observation has an instant, a fact and an origin, the
// process that saw it. Equal observations are one element of the set. So the union of two sets is idempotent,
// commutative and associative. The conclusions of a type are a function of the set, computed in one order.
//
// A process keeps only the newest observations, and only a limited share from one origin. Both rules give the same
// set if they are applied before or after a union.
package merge

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// Origin is the number of an origin in this process. Other processes use other numbers.
type Origin uint16

// Nobody is the origin of observations that are not shared.
const Nobody Origin = 0

// MostName is the largest length of a name, in bytes.
const MostName = 255

// Choices are the choices of a process about sharing.
type Choices struct {
	Origin string        // the name of this process; "" if it shares nothing
	Skew   time.Duration // how far the clock of another process may be ahead
	Keep   time.Duration // the age at which observations and origins are forgotten
}

// Validate returns an error that names the first choice out of range. The fields are called Origin and MaxSkew in
// the error.
func (c Choices) Validate(place string) error {
	var name error
	if len(c.Origin) > MostName {
		name = check.Badf(place, "Origin", c.Origin, "at most %d bytes", MostName)
	}
	return cmp.Or(name, check.Length(place, "MaxSkew", c.Skew))
}

// Origins records the known observations of each origin: the instant until which they are known without a gap. The
// zero value knows no origin.
type Origins struct {
	list []origin // list[0] is Nobody
	own  Origin   // Nobody until this process has seen something since its start or its restore
	full int      // the places below full are in use
}

// origin is a process from one start to the next. A restored process is a new origin: other processes return the
// observations that it made after its snapshot.
type origin struct {
	name  string
	begun int64 // instant of the start, in microseconds since 1970
	// All observations up to until are known; latest is the instant of the latest known observation.
	until, latest int64
}

// At converts an instant to the time of a process. A process that shares counts from 1970, and its clock may step
// back freely. A process that does not share counts from its first instant.
func (c Choices) At(k *clock.Clock, now time.Time) time.Duration {
	at := k.At(now)
	if c.Origin != "" && !now.IsZero() {
		at = max(now.Sub(time.Unix(0, 0)), 0).Truncate(time.Microsecond)
		k.Since = at
	}
	return at
}

// Latest returns the latest possible instant by a clock. If the process shares, Latest returns no bound, because
// clocks may step back.
func (c Choices) Latest(k clock.Clock) time.Duration {
	if c.Origin != "" {
		return math.MaxInt64
	}
	return k.Since
}

// micros converts to whole microseconds.
func micros(at time.Duration) int64 { return int64(at / time.Microsecond) }

// Stamp returns this process's origin, and a unique instant for a new observation: now, or
// slightly later. If the clock has stepped back by more than the skew, the process continues as another origin.
func (o *Origins) Stamp(c Choices, now time.Duration) (Origin, time.Duration) {
	// begun must be unique for the name, and leaves room for all other origins with the name.
	at := micros(now)
	if o.own == Nobody || o.list[o.own].until > at+micros(c.Skew) {
		begun := min(at, maxMicros-math.MaxUint16)
		for o.find(c.Origin, begun) != Nobody {
			begun++
		}
		o.own = o.add(origin{name: c.Origin, begun: begun})
	}
	if o.own == Nobody {
		return Nobody, now
	}
	own := &o.list[o.own]
	own.until = min(max(at, own.until+1), maxMicros)
	own.latest = own.until
	return o.own, time.Duration(own.until) * time.Microsecond
}

// lastStamp returns the last instant that Stamp returned. The last stamp may be slightly ahead of the clock.
func (o *Origins) lastStamp() time.Duration {
	if o.own == Nobody {
		return 0
	}
	return time.Duration(o.list[o.own].until) * time.Microsecond
}

// find returns the number of an origin, or Nobody for an unknown origin. O(origins).
func (o *Origins) find(name string, begun int64) Origin {
	for i := 1; i < len(o.list); i++ {
		if o.list[i].begun == begun && o.list[i].name == name {
			return Origin(i)
		}
	}
	return Nobody
}

// add adds an origin, in a free place if there is one, and returns its number. add returns Nobody if all numbers are
// in use.
func (o *Origins) add(v origin) Origin {
	if len(o.list) == 0 {
		o.list = make([]origin, 1)
	}
	i := max(o.full, 1)
	for i < len(o.list) && o.list[i].name != "" {
		i++
	}
	o.full = i
	switch {
	case i > math.MaxUint16:
		return Nobody
	case i == len(o.list):
		o.list = append(o.list, origin{})
	}
	o.list[i] = v
	return Origin(i)
}

// Same reports whether two origins are the same process, possibly after different starts.
func (o *Origins) Same(a, b Origin) bool { return a == b || o.list[a].name == o.list[b].name }

// Compare orders origins in the order that all processes share.
func (o *Origins) Compare(a, b Origin) int {
	if a == b {
		return 0
	}
	return cmp.Or(cmp.Compare(o.list[a].name, o.list[b].name), cmp.Compare(o.list[a].begun, o.list[b].begun))
}

// Since returns the instant from which observations are kept.
func (c Choices) Since(now time.Duration) time.Duration { return max(now-c.Keep, 0) }

// By returns the latest instant of a valid observation. A later observation was made by a clock that has stepped
// back since.
func (c Choices) By(now time.Duration) time.Duration {
	if c.Origin == "" {
		return math.MaxInt64
	}
	return num.Add(now, c.Skew)
}

// Forget drops origins with no observation from since on. Forget also drops the knowledge of observations after by,
// because these observations are dropped by the caller.
func (o *Origins) Forget(since, by time.Duration) {
	gap := slices.ContainsFunc(o.list, func(v origin) bool { return v.latest > micros(by) })
	if gap {
		o.own = Nobody
	}
	for i := range o.list {
		v := &o.list[i]
		if gap { // future observations may have replaced others, which must be sent again by all
			v.until = min(v.until, max(micros(since)-1, 0))
		}
		if before, all := v.latest < micros(since), micros(by); before || v.latest > all {
			if o.own == Origin(i) {
				o.own = Nobody
			}
			if v.until, v.latest = min(v.until, all), all; before {
				*v = origin{}
			}
		}
	}
	// Empty places at the end are removed; the others are used again.
	o.full = 0
	for n := len(o.list); n > 1 && o.list[n-1].name == ""; n-- {
		o.list = o.list[:n-1]
	}
}

// count returns the number of origins.
func (o *Origins) count() (n int) {
	for _, v := range o.list {
		if v.name != "" {
			n++
		}
	}
	return n
}

// index returns a map of the origins for the given number of look-ups, or nil if a scan for each is as fast.
func (o *Origins) index(many int) index {
	if many <= 8 {
		return nil
	}
	at := make(index, len(o.list))
	for i, v := range o.list {
		if v.name != "" {
			at[originKey{v.name, v.begun}] = Origin(i)
		}
	}
	return at
}

// originKey identifies an origin among all origins of all processes.
type originKey struct {
	name  string
	begun int64
}

// index maps an origin to its number; nil stands for a scan.
type index map[originKey]Origin

func (at index) find(o *Origins, name string, begun int64) Origin {
	if at == nil {
		return o.find(name, begun)
	}
	return at[originKey{name, begun}]
}

// State codes the origins. A restored process continues as another origin, because it may have seen more before it
// ended.
func (o *Origins) State(c *snapshot.Codec) {
	snapshot.List(c, &o.list, func(v *origin) {
		c.Text(&v.name)
		for _, at := range [...]*int64{&v.begun, &v.until, &v.latest} {
			c.Number64(at, 0, maxMicros)
		}
		c.Check(len(v.name) <= MostName, "holds a name that is too long")
	})
	c.Check(len(o.list) <= math.MaxUint16+1, "holds too many origins")
	c.Check(len(o.list) == 0 || o.list[0] == origin{}, "holds an origin at index 0, which stands for Nobody")
}

// Holds reports whether an origin with this number exists.
func (o *Origins) Holds(v Origin) bool {
	return v == Nobody || int(v) < len(o.list) && o.list[v].name != ""
}

const maxMicros = math.MaxInt64 / int64(time.Microsecond)
