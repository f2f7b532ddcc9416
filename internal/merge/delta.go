package merge

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// Observation is a fact with the instant at which it was seen and the origin that saw it.
type Observation[T any] struct {
	At     time.Duration // time since 1970, in whole microseconds
	Fact   T
	Origin Origin
}

// Form describes how the observations of a type are encoded.
type Form[T any] struct {
	Place string // the place in errors, for example "estimate/machines"
	Kind  byte   // the first byte of versions and deltas; each type has its own
	Fact  func(*snapshot.Codec, *T)
	// Name returns a pointer to the name of the machine in a fact. Name is nil if facts have no name.
	Name func(*T) *string
}

// AppendVersion appends a version to dst. For each origin, the version has the instant up to which all observations
// of the origin are known.
func (f Form[T]) AppendVersion(dst []byte, o *Origins) []byte {
	dst, _ = snapshot.Append(dst, f.Kind, func(c *snapshot.Codec) {
		known := slices.DeleteFunc(slices.Clone(o.list), func(v origin) bool { return v.name == "" })
		versions(c, &known)
	})
	return dst
}

// versions writes or reads the name of each origin, its start, and the instant up to which all its observations are
// known.
func versions(c *snapshot.Codec, list *[]origin) {
	snapshot.List(c, list, func(v *origin) {
		c.Text(&v.name)
		c.Number64(&v.begun, 0, maxMicros)
		gap := v.until - v.begun
		c.Number64(&gap, -maxMicros, maxMicros)
		v.until = v.begun + gap
	})
}

// section is the part of a delta about one origin. It has all observations of the origin after the instant from,
// and up to the instant until of the origin. The section may have some later observations as well.
type section[T any] struct {
	origin
	from int64
	seen []Observation[T]
}

// delta writes or reads the names and the sections of a delta. The names are sorted. For each name, the delta has
// the length of the longest common prefix with the name before, and the rest of the name.
func (f Form[T]) delta(c *snapshot.Codec, names *[]string, sections *[]section[T]) {
	last := ""
	snapshot.List(c, names, func(name *string) {
		var same uint64
		for same < uint64(min(len(last), len(*name))) && last[same] == (*name)[same] {
			same++
		}
		rest := (*name)[same:]
		c.Uint(&same)
		c.Text(&rest)
		c.Check(same <= uint64(len(last)), "holds a name that shares more than the name before")
		if c.Reading() {
			*name = last[:same] + rest
		}
		c.Check(len(*name) <= MostName && *name > last, "holds names that are empty, too long or out of order")
		last = *name
	})
	snapshot.List(c, sections, func(s *section[T]) {
		c.Text(&s.name)
		c.Check(s.name != "" && len(s.name) <= MostName, "holds an origin without a name")
		for _, at := range [...]*int64{&s.begun, &s.from, &s.until} {
			c.Number64(at, 0, maxMicros)
		}
		s.latest = s.from
		snapshot.List(c, &s.seen, func(v *Observation[T]) { f.observation(c, s, *names, v) })
		s.latest = max(s.latest, s.until)
	})
}

// observation writes or reads an observation of a section. Its instant is stored as the difference from s.latest,
// the instant of the observation before.
func (f Form[T]) observation(c *snapshot.Codec, s *section[T], names []string, v *Observation[T]) {
	gap := uint64(micros(v.At) - s.latest)
	c.Uint(&gap)
	c.Check(gap <= uint64(maxMicros-s.latest), "holds a time out of range")
	f.Fact(c, &v.Fact)
	if f.Name != nil {
		name := f.Name(&v.Fact)
		i, _ := slices.BinarySearch(names, *name)
		if c.Number(&i, 0, len(names)-1); c.OK() {
			*name = names[i]
		}
	}
	if c.OK() {
		s.latest += int64(gap)
		v.At = time.Duration(s.latest) * time.Microsecond
	}
}

// AppendDelta appends a delta to dst: the observations that the reader does not have. since is the version of the
// reader; if it is nil, the delta has all observations. The argument named of has the names of the processes whose
// observations are included; if it is empty, all processes are included. Observations whose instant is in the
// future are left out. They will be in a later delta, after their instant has passed.
func (f Form[T]) AppendDelta(
	dst, since []byte, o *Origins, c Choices, now time.Duration, of []string, known iter.Seq[Observation[T]],
) ([]byte, error) {
	// The instants of this process's own observations may be slightly ahead of its clock, but they are not from the
	// future.
	if own := o.lastStamp(); own <= num.Add(now, c.Skew) {
		now = max(now, own)
	}
	// from[i] is the instant up to which the reader has all observations of origin i.
	from := make([]int64, max(len(o.list), 1))
	if since != nil {
		var list []origin
		in := snapshot.Codec{In: snapshot.NewReader(f.Place+": version", f.Kind, since)}
		if versions(&in, &list); in.In.Close() != nil {
			return dst, in.In.Close()
		}
		at := o.index()
		for _, v := range list {
			from[at[originKey{v.name, v.begun}]] = v.until
		}
	}
	for i := range from { // an origin that is not wanted is treated as if the reader had everything from it
		if i == int(Nobody) || len(of) > 0 && !slices.Contains(of, o.list[i].name) {
			from[i] = math.MaxInt64
		}
	}
	sections := make([]section[T], len(from))
	var names []string
	for v := range known {
		if s := &sections[v.Origin]; v.At <= now && micros(v.At) > from[v.Origin] {
			s.seen = append(s.seen, v)
			if f.Name != nil {
				names = append(names, *f.Name(&v.Fact))
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i := range o.list {
		s := &sections[i]
		s.origin, s.from = o.list[i], from[i]
		s.until = min(s.until, micros(now))
		slices.SortFunc(s.seen, func(a, b Observation[T]) int { return cmp.Compare(a.At, b.At) })
	}
	sections = slices.DeleteFunc(sections, func(s section[T]) bool {
		return s.name == "" || s.latest <= s.from
	})
	return snapshot.Append(dst, f.Kind, func(c *snapshot.Codec) { f.delta(c, &names, &sections) })
}

// Read returns the observations of a delta that are not too old, and records up to which instant the observations
// of each origin are now known. If the bytes are no delta, or if the delta is too far in the future, Read returns
// an error and changes nothing.
func (f Form[T]) Read(o *Origins, choices Choices, now time.Duration, delta []byte) ([]Observation[T], error) {
	if choices.Origin == "" {
		return nil, check.Bad(f.Place, "Config.Origin", "", "a name: without one nothing is passed on")
	}
	var names []string
	var sections []section[T]
	c := snapshot.Codec{In: snapshot.NewReader(f.Place+": delta", f.Kind, delta)}
	f.delta(&c, &names, &sections)
	if err := c.In.Close(); err != nil {
		return nil, err
	}
	// All sections are checked before the first section is used, so that an error changes nothing.
	all, known, fresh := 0, o.index(), 0
	for i := range sections {
		s := &sections[i]
		if late := time.Duration(s.latest)*time.Microsecond - now; late > choices.Skew {
			return nil, check.Badf(f.Place, "delta of "+s.name, late, "at most %v ahead of this clock", choices.Skew)
		}
		if all += len(s.seen); known[originKey{s.name, s.begun}] == Nobody {
			fresh++
		}
	}
	if fresh > 0 && o.count()+fresh > math.MaxUint16 {
		return nil, check.Badf(f.Place, "delta", fresh, "at most %d origins in all", math.MaxUint16)
	}
	seen := make([]Observation[T], 0, all)
	for i := range sections {
		s := &sections[i]
		number := o.noteKnown(known, s.origin, s.from)
		for _, v := range s.seen {
			if v.Origin = number; v.At >= choices.Since(now) {
				seen = append(seen, v)
			}
		}
	}
	return seen, nil
}

// noteKnown records that the observations of an origin after the instant from and up to v.until are known, and
// returns the number of the origin. If observations before from are missing, the instant up to which all
// observations are known stays the same.
func (o *Origins) noteKnown(at index, v origin, from int64) Origin {
	key := originKey{v.name, v.begun}
	number := at[key]
	if number == Nobody {
		number = o.add(origin{name: v.name, begun: v.begun})
		at[key] = number
	}
	known := &o.list[number]
	if known.latest = max(known.latest, v.latest); from <= known.until {
		known.until = max(known.until, v.until)
	}
	o.newest = max(o.newest, known.latest)
	return number
}
