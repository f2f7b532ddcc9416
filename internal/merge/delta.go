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

// Observation is what an origin saw at an instant.
type Observation[T any] struct {
	At     time.Duration // since 1970, in whole microseconds
	Fact   T
	Origin Origin
}

// Form is how observations of a type are written.
type Form[T any] struct {
	Place string // of errors: "estimate/machines"
	Kind  byte   // the first byte of versions and deltas, which no other type has
	Fact  func(*snapshot.Codec, *T)
	Name  func(*T) *string // of what all processes know by a name; nil if facts have none
	Grows bool             // an observation takes the place of earlier ones, as a count does
}

// AppendVersion appends until when the observations of each origin are known.
func (f Form[T]) AppendVersion(dst []byte, o *Origins) []byte {
	dst, _ = snapshot.Append(dst, f.Kind, func(c *snapshot.Codec) {
		known := slices.DeleteFunc(slices.Clone(o.list), func(v origin) bool { return v.name == "" })
		versions(c, &known)
	})
	return dst
}

func versions(c *snapshot.Codec, list *[]origin) {
	snapshot.List(c, list, func(v *origin) {
		c.Text(&v.name)
		c.Number64(&v.begun, 0, mostMicros)
		gap := v.until - v.begun
		c.Number64(&gap, -mostMicros, mostMicros)
		v.until = v.begun + gap
	})
}

// section is what a delta holds of one origin: what it saw after an instant, and until when that is all.
type section[T any] struct {
	origin
	from int64
	seen []Observation[T]
	held bool // some of it is not said yet
}

// delta codes the names, each as what differs from the one before, and the sections.
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
		c.Check(same <= uint64(len(last)), "holds a name that goes on from none")
		if c.Reading() {
			*name = last[:same] + rest
		}
		c.Check(len(*name) <= MostName && *name > last, "holds names that are empty, too long or out of order")
		last = *name
	})
	snapshot.List(c, sections, func(s *section[T]) {
		c.Text(&s.name)
		c.Check(s.name != "" && len(s.name) <= MostName, "holds an origin of no name")
		for _, at := range [...]*int64{&s.begun, &s.from, &s.until} {
			c.Number64(at, 0, mostMicros)
		}
		s.latest = s.from
		snapshot.List(c, &s.seen, func(v *Observation[T]) { f.observation(c, s, *names, v) })
		s.latest = max(s.latest, s.until)
	})
}

// observation codes one of a section, whose latest is the instant of the one before it.
func (f Form[T]) observation(c *snapshot.Codec, s *section[T], names []string, v *Observation[T]) {
	gap := uint64(micros(v.At) - s.latest)
	c.Uint(&gap)
	c.Check(gap <= uint64(mostMicros-s.latest), "holds a time out of range")
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

// AppendDelta appends what is known at an instant beyond a version, nil for none, of the origins of the given names, or
// of all if there are none. What others have seen in the future waits until it is past.
func (f Form[T]) AppendDelta(
	dst, since []byte, o *Origins, c Choices, now time.Duration, of []string, known iter.Seq[Observation[T]],
) ([]byte, error) {
	if own := o.lastStamp(); own <= num.Add(now, c.Skew) {
		now = max(now, own)
	}
	from := make([]int64, max(len(o.list), 1))
	if since != nil {
		var list []origin
		in := snapshot.Codec{In: snapshot.NewReader(f.Place+": version", f.Kind, since)}
		if versions(&in, &list); in.In.Close() != nil {
			return dst, in.In.Close()
		}
		at := o.index(len(list))
		for _, v := range list {
			from[at.find(o, v.name, v.begun)] = v.until
		}
	}
	for i := range from { // what is not wanted is taken to be known
		if i == int(Nobody) || len(of) > 0 && !slices.Contains(of, o.list[i].name) {
			from[i] = math.MaxInt64
		}
	}
	sections := make([]section[T], len(from))
	var names []string
	for v := range known {
		// What is held back may hold what was seen before now: then that is not claimed to be all.
		if s := &sections[v.Origin]; v.At > now {
			s.held = s.held || f.Grows
		} else if micros(v.At) > from[v.Origin] {
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
		if s.until = min(s.until, micros(now)); s.held {
			s.until = s.from
		}
		slices.SortFunc(s.seen, func(a, b Observation[T]) int { return cmp.Compare(a.At, b.At) })
	}
	sections = slices.DeleteFunc(sections, func(s section[T]) bool {
		return s.name == "" || s.latest <= s.from
	})
	return snapshot.Append(dst, f.Kind, func(c *snapshot.Codec) { f.delta(c, &names, &sections) })
}

// Read returns the observations of a delta that are to be taken, and notes what is known from now on. It is an error,
// and changes nothing, if it is no delta, or one from the future.
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
	all, known, fresh := 0, o.index(len(sections)), 0
	for i := range sections {
		s := &sections[i]
		if late := time.Duration(s.latest)*time.Microsecond - now; late > choices.Skew {
			return nil, check.Badf(f.Place, "delta of "+s.name, late, "at most %v ahead of this clock", choices.Skew)
		}
		if all += len(s.seen); known.find(o, s.name, s.begun) == Nobody {
			fresh++
		}
	}
	if fresh > 0 && o.count()+fresh > math.MaxUint16 {
		return nil, check.Badf(f.Place, "delta", fresh, "at most %d origins in all", math.MaxUint16)
	}
	seen := make([]Observation[T], 0, all)
	for i := range sections {
		s := &sections[i]
		number := o.hear(known, s.origin, s.from)
		for _, v := range s.seen {
			if v.Origin = number; v.At >= choices.Since(now) {
				seen = append(seen, v)
			}
		}
	}
	return seen, nil
}

// hear notes that all is known that an origin saw from an instant on until another, and returns its number.
func (o *Origins) hear(at index, v origin, from int64) Origin {
	number := at.find(o, v.name, v.begun)
	if number == Nobody {
		if number = o.add(origin{name: v.name, begun: v.begun}); at != nil {
			at[start{v.name, v.begun}] = number
		}
	}
	known := &o.list[number]
	if known.latest = max(known.latest, v.latest); from <= known.until {
		known.until = max(known.until, v.until)
	}
	return number
}
