// Package merge is what types share that pass on what they have learned: who has seen what and until when, the form of
// a delta, and what of it is taken.
//
// What is known is a set of observations. Each has an instant and an origin, the process that saw it, and two that
// agree in all are one. So to unite what two processes know is idempotent, commutative and associative, and what a type
// concludes is a function of the set, made in one order. Of a set only the newest are kept, and of these only a share
// of one origin: both leave the same, whether before or after sets are united.
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

// Origin is the number of an origin in a process; others number it otherwise.
type Origin uint16

// Nobody is the origin of what is not passed on.
const Nobody Origin = 0

// MostName is how many bytes a name may have.
const MostName = 255

// Choices are how a process takes part.
type Choices struct {
	Origin string        // its name; "" if it does not
	Skew   time.Duration // how far another's clock may be ahead
	Keep   time.Duration // the age from which on observations and origins are forgotten
}

// Validate reports the first choice that is out of range; Origin and MaxSkew are the names of the fields.
func (c Choices) Validate(place string) error {
	var name error
	if len(c.Origin) > MostName {
		name = check.Badf(place, "Origin", c.Origin, "at most %d bytes", MostName)
	}
	return cmp.Or(name, check.Length(place, "MaxSkew", c.Skew))
}

// Origins is until when the observations of each origin are known without a gap. The zero value knows of none.
type Origins struct {
	list []origin // of which the first is Nobody
	own  Origin   // Nobody until this process has seen something since it began, or was restored
	full int      // so many of the first are in use
}

// origin is a process from a start to the next: what it saw before it was restored from a snapshot, and the snapshot
// does not hold, comes back from others.
type origin struct {
	name          string
	begun         int64 // in microseconds since 1970
	until, latest int64 // known without a gap until; and the latest of all that is known
}

// At takes an instant by a process's clock. One that shares what it knows counts from 1970, as all do, and its clock
// may step back as it likes.
func (c Choices) At(k *clock.Clock, now time.Time) time.Duration {
	at := k.At(now)
	if c.Origin != "" && !now.IsZero() {
		at = max(now.Sub(time.Unix(0, 0)), 0).Truncate(time.Microsecond)
		k.Since = at
	}
	return at
}

// Latest is the latest instant that there can be by a clock: none, where clocks may step back.
func (c Choices) Latest(k clock.Clock) time.Duration {
	if c.Origin != "" {
		return math.MaxInt64
	}
	return k.Since
}

func micros(at time.Duration) int64 { return int64(at / time.Microsecond) }

// Stamp returns this process's origin, and the instant of what it has just seen: now, or a moment later, as no two have
// the same. A process whose clock has stepped back by more than the skew goes on as another origin.
func (o *Origins) Stamp(c Choices, now time.Duration) (Origin, time.Duration) {
	at := micros(now)
	if o.own == Nobody || o.list[o.own].until > at+micros(c.Skew) {
		begun := min(at, mostMicros-math.MaxUint16)
		for o.find(c.Origin, begun) != Nobody {
			begun++
		}
		o.own = o.add(origin{name: c.Origin, begun: begun})
	}
	if o.own == Nobody {
		return Nobody, now
	}
	own := &o.list[o.own]
	own.until = min(max(at, own.until+1), mostMicros)
	own.latest = own.until
	return o.own, time.Duration(own.until) * time.Microsecond
}

// lastStamp is that of what this process has seen last; stamps may be a moment ahead of its clock.
func (o *Origins) lastStamp() time.Duration {
	if o.own == Nobody {
		return 0
	}
	return time.Duration(o.list[o.own].until) * time.Microsecond
}

// find returns the number of an origin; Nobody if it is not known. O(origins).
func (o *Origins) find(name string, begun int64) Origin {
	for i := 1; i < len(o.list); i++ {
		if o.list[i].begun == begun && o.list[i].name == name {
			return Origin(i)
		}
	}
	return Nobody
}

// add takes an origin in, in a free place if there is one; Nobody if all numbers are taken.
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

// Same reports whether two origins are one process, however often it began.
func (o *Origins) Same(a, b Origin) bool { return a == b || o.list[a].name == o.list[b].name }

// Compare orders origins as all processes do.
func (o *Origins) Compare(a, b Origin) int {
	if a == b {
		return 0
	}
	return cmp.Or(cmp.Compare(o.list[a].name, o.list[b].name), cmp.Compare(o.list[a].begun, o.list[b].begun))
}

// Since returns the instant from which on observations are kept.
func (c Choices) Since(now time.Duration) time.Duration { return max(now-c.Keep, 0) }

// By returns the instant beyond which none are: what was seen later was seen by a clock that has stepped back since.
func (c Choices) By(now time.Duration) time.Duration {
	if c.Origin == "" {
		return math.MaxInt64
	}
	return num.Add(now, c.Skew)
}

// Forget forgets the origins that have seen nothing since an instant, of which nothing may be left, and that anything
// is known beyond another: of that nothing may be left either.
func (o *Origins) Forget(since, by time.Duration) {
	gap := slices.ContainsFunc(o.list, func(v origin) bool { return v.latest > micros(by) })
	if gap {
		o.own = Nobody
	}
	for i := range o.list {
		v := &o.list[i]
		if gap { // what made room for them is to be told again, whoever saw it
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
	o.full = 0
	for n := len(o.list); n > 1 && o.list[n-1].name == ""; n-- {
		o.list = o.list[:n-1]
	}
}

// count is how many there are.
func (o *Origins) count() (n int) {
	for _, v := range o.list {
		if v.name != "" {
			n++
		}
	}
	return n
}

// index is where each origin stands, to find so many; nil if a look at all of them for each is no more.
func (o *Origins) index(many int) index {
	if many <= 8 {
		return nil
	}
	at := make(index, len(o.list))
	for i, v := range o.list {
		if v.name != "" {
			at[start{v.name, v.begun}] = Origin(i)
		}
	}
	return at
}

// start is what tells an origin from all others.
type start struct {
	name  string
	begun int64
}

type index map[start]Origin

func (at index) find(o *Origins, name string, begun int64) Origin {
	if at == nil {
		return o.find(name, begun)
	}
	return at[start{name, begun}]
}

// State codes the origins. Restored, this process goes on as another one: it may have seen more before it ended.
func (o *Origins) State(c *snapshot.Codec) {
	snapshot.List(c, &o.list, func(v *origin) {
		c.Text(&v.name)
		for _, at := range [...]*int64{&v.begun, &v.until, &v.latest} {
			c.Number64(at, 0, mostMicros)
		}
		c.Check(len(v.name) <= MostName, "holds a name that is too long")
	})
	c.Check(len(o.list) <= math.MaxUint16+1, "holds too many origins")
	c.Check(len(o.list) == 0 || o.list[0] == origin{}, "holds an origin that is none")
}

// Holds reports whether there is an origin of a number that was read.
func (o *Origins) Holds(v Origin) bool {
	return v == Nobody || int(v) < len(o.list) && o.list[v].name != ""
}

const mostMicros = math.MaxInt64 / int64(time.Microsecond)
