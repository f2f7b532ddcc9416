// Package merge is the common part of types that share observations between processes. The package records which
// observations each process has, encodes them for other processes, and decides which observations of another
// process are accepted.
//
// For example, process b asks process a for evidence about machines. To do so, b sends its version, which says what
// b knows. Process a answers with a delta, which contains the observations that b does not have:
//
//	version := b.AppendVersion(nil)           // b knows all of a until 10:00
//	delta, err := a.AppendDelta(nil, version) // the observations of a after 10:00
//	err = b.Merge(now, delta)                 // b knows all of a until 10:05
//
// A process has a set of observations. An observation is a fact with the instant at which it was seen and its
// origin, which is the process that saw it. Equal observations are a single element of the set. So the union of two
// sets is idempotent, commutative and associative. The answers of a type depend only on the set, and are computed
// from it in the same order in each process.
//
// A process keeps only the newest observations, and a single origin has at most a limited share. Both rules give
// the same set whether they are applied before a union or after it.
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

// Origin is the number that this process gives to an origin. Other processes give other numbers to the same origin.
type Origin uint16

// Nobody is the origin of observations that are not shared.
const Nobody Origin = 0

// MostName is the largest length of a name, in bytes.
const MostName = 255

// Choices are the parts of a configuration that are about sharing.
type Choices struct {
	Origin string        // the name of this process; "" if this process shares nothing
	Skew   time.Duration // how far the clock of another process may be ahead of the clock of this process
	Keep   time.Duration // the age at which observations and origins are removed
}

// Validate returns an error that names the first choice that is out of range, or nil. In the error the fields have
// their names in a configuration, Origin and MaxSkew.
func (c Choices) Validate(place string) error {
	var name error
	if len(c.Origin) > MostName {
		name = check.Badf(place, "Origin", c.Origin, "at most %d bytes", MostName)
	}
	return cmp.Or(name, check.Length(place, "MaxSkew", c.Skew))
}

// Origins records for each origin up to which instant this process has all its observations. The zero value knows
// no origin.
type Origins struct {
	list []origin // list[0] is Nobody
	own  Origin   // the origin of this process; Nobody until the process has seen something after its start or its restore
	full int      // entries of list with an index below full are in use
	// newest is the instant of the latest known observation of all origins, in microseconds since 1970.
	newest int64
}

// origin is a process from one start to the next start. A process that is restored from a snapshot is a new origin.
// So other processes can send back the observations that the process made after the snapshot.
type origin struct {
	name  string
	begun int64 // instant of the start, in microseconds since 1970
	// All observations of the origin at or before the instant until are known. latest is the instant of its latest
	// known observation. Both are in microseconds since 1970.
	until, latest int64
}

// At converts an instant of the host to a duration, in which this package measures time. If the process shares
// observations, the result is the time since 1970, and the clock may be set back. If the process does not share,
// the result is the time since its first instant.
func (c Choices) At(k *clock.Clock, now time.Time) time.Duration {
	at := k.At(now)
	if c.Origin != "" && !now.IsZero() {
		at = max(now.Sub(time.Unix(0, 0)), 0).Truncate(time.Microsecond)
		k.Since = at
	}
	return at
}

// Latest returns the latest instant that a snapshot of a process may contain. If the process shares, there is no
// such instant, because its clock may have been set back; Latest then returns the largest duration.
func (c Choices) Latest(k clock.Clock) time.Duration {
	if c.Origin != "" {
		return math.MaxInt64
	}
	return k.Since
}

// micros converts a duration to whole microseconds.
func micros(at time.Duration) int64 { return int64(at / time.Microsecond) }

// Stamp returns the origin of this process, and the instant for a new observation. Each instant is used only a
// single time: it is now, or slightly later. If the clock of the process was set back by more than the skew, the
// process continues as a new origin.
func (o *Origins) Stamp(c Choices, now time.Duration) (Origin, time.Duration) {
	// begun must differ from begun of all other origins with this name. The upper limit leaves room to increase it.
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
	o.newest = max(o.newest, own.latest)
	return o.own, time.Duration(own.until) * time.Microsecond
}

// lastStamp returns the last instant that Stamp returned. This instant may be slightly ahead of the clock.
func (o *Origins) lastStamp() time.Duration {
	if o.own == Nobody {
		return 0
	}
	return time.Duration(o.list[o.own].until) * time.Microsecond
}

// find returns the number of an origin, or Nobody if the origin is not known. O(n) for n origins.
func (o *Origins) find(name string, begun int64) Origin {
	for i := 1; i < len(o.list); i++ {
		if o.list[i].begun == begun && o.list[i].name == name {
			return Origin(i)
		}
	}
	return Nobody
}

// add adds an origin and returns its number. It uses a free number if there is one. If all numbers are in use, add
// returns Nobody.
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

// Compare compares two origins by the order that all processes use: by name, then by start.
func (o *Origins) Compare(a, b Origin) int {
	if a == b {
		return 0
	}
	return cmp.Or(cmp.Compare(o.list[a].name, o.list[b].name), cmp.Compare(o.list[a].begun, o.list[b].begun))
}

// Since returns the oldest instant whose observations are kept.
func (c Choices) Since(now time.Duration) time.Duration { return max(now-c.Keep, 0) }

// By returns the latest instant that an observation may have. A later observation was made before the clock of its
// process was set back.
func (c Choices) By(now time.Duration) time.Duration {
	if c.Origin == "" {
		return math.MaxInt64
	}
	return num.Add(now, c.Skew)
}

// Forget removes origins that have no observation at or after the instant since. The caller must have removed all
// observations that are later than the instant by. Forget records that this process does not have them any more.
func (o *Origins) Forget(since, by time.Duration) {
	gap := slices.ContainsFunc(o.list, func(v origin) bool { return v.latest > micros(by) })
	if gap {
		o.own = Nobody
	}
	for i := range o.list {
		v := &o.list[i]
		// Observations from the future may have replaced others. So the other processes must send all observations
		// again.
		if gap {
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
	o.setNewest()
	// Free entries at the end of the list are removed. Free entries between others are used again later.
	o.full = 0
	for n := len(o.list); n > 1 && o.list[n-1].name == ""; n-- {
		o.list = o.list[:n-1]
	}
}

// Ahead reports whether an observation is known that is later than the instant by. Then the caller must remove it and
// call Forget, before a list removes it alone. O(1).
func (o *Origins) Ahead(by time.Duration) bool { return o.newest > micros(by) }

// setNewest finds the latest observation of all origins.
func (o *Origins) setNewest() {
	o.newest = 0
	for _, v := range o.list {
		o.newest = max(o.newest, v.latest)
	}
}

// Clone returns a copy, for a change that may fail.
func (o *Origins) Clone() Origins {
	c := *o
	c.list = slices.Clone(o.list)
	return c
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

// index returns a map from origins to their numbers. An origin that is not known is Nobody.
func (o *Origins) index() index {
	at := make(index, len(o.list))
	for i, v := range o.list {
		if v.name != "" {
			at[originKey{v.name, v.begun}] = Origin(i)
		}
	}
	return at
}

// originKey identifies an origin among all origins of all processes: the name of the process, and the instant of
// its start.
type originKey struct {
	name  string
	begun int64
}

// index maps an origin to its number.
type index map[originKey]Origin

// State writes the origins to a snapshot or reads them from it. A restored process continues as a new origin,
// because the process may have seen more after the snapshot.
func (o *Origins) State(c *snapshot.Codec) {
	snapshot.List(c, &o.list, func(v *origin) {
		c.Text(&v.name)
		for _, at := range [...]*int64{&v.begun, &v.until, &v.latest} {
			c.Number64(at, 0, maxMicros)
		}
		c.Check(len(v.name) <= MostName, "holds a name that is too long")
	})
	o.setNewest()
	c.Check(len(o.list) <= math.MaxUint16+1, "holds too many origins")
	c.Check(len(o.list) == 0 || o.list[0] == origin{}, "holds an origin at index 0, which stands for Nobody")
}

// Holds reports whether there is an origin with this number.
func (o *Origins) Holds(v Origin) bool {
	return v == Nobody || int(v) < len(o.list) && o.list[v].name != ""
}

const maxMicros = math.MaxInt64 / int64(time.Microsecond)
