package merge

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// List is a set of observations. Only the newest observations are kept. If processes share observations, at most
// half of the kept observations come from a single process. The zero value is empty.
type List[T any] struct {
	origins  Origins
	seen     []Observation[T]
	unsorted bool // seen is not in order, or may have duplicates
}

// Len returns the number of observations. The number may include duplicates that are not yet removed.
func (l *List[T]) Len() int { return len(l.seen) }

// Add adds a fact that this process has just seen.
func (l *List[T]) Add(c Choices, now time.Duration, fact T) {
	by := Nobody
	if c.Origin != "" {
		by, now = l.origins.Stamp(c, now)
	}
	n := len(l.seen)
	l.unsorted = l.unsorted || n > 0 && l.seen[n-1].At > now
	l.seen = append(l.seen, Observation[T]{now, fact, by})
}

// AppendVersion, AppendDelta and Merge do the work of the methods with these names of the type that contains the
// list.
func (l *List[T]) AppendVersion(f Form[T], dst []byte) []byte {
	return f.AppendVersion(dst, &l.origins)
}

func (l *List[T]) AppendDelta(f Form[T], c Choices, now time.Duration, dst, since []byte, of []string) ([]byte, error) {
	return f.AppendDelta(dst, since, &l.origins, c, now, of, iter.Seq[Observation[T]](slices.Values(l.seen)))
}

func (l *List[T]) Merge(f Form[T], c Choices, now time.Duration, delta []byte) error {
	seen, err := f.Read(&l.origins, c, now, delta)
	l.unsorted = l.unsorted || len(seen) > 0
	l.seen = append(l.seen, seen...)
	return err
}

// Newest returns the newest observations, at most the number most, in the order that all processes use. It leaves
// out observations that are older than c.Keep, and observations from the future. Newest removes all observations
// that it does not return.
func (l *List[T]) Newest(f Form[T], c Choices, now time.Duration, most int) []Observation[T] {
	l.sort(f)
	// The newest observations are at the end of the list. This code goes through the list from the end, and moves
	// each observation that is kept to the end.
	since, by := c.Since(now), c.By(now)
	for n := len(l.seen); n > 0 && l.seen[n-1].At > by; n-- {
		l.seen = l.seen[:n-1]
	}
	kept := len(l.seen)
	var from map[string]int // number of kept observations of each process
	for i := len(l.seen) - 1; i >= 0 && l.seen[i].At >= since && len(l.seen)-kept < most; i-- {
		if v := l.seen[i]; v.Origin != Nobody {
			name := l.origins.list[v.Origin].name
			if from[name] == most/2 {
				continue
			}
			if from == nil {
				from = map[string]int{}
			}
			from[name]++
		}
		kept--
		l.seen[kept] = l.seen[i]
	}
	l.seen = l.seen[:copy(l.seen, l.seen[kept:])]
	l.origins.Forget(since, by)
	return l.seen
}

// sort sorts the observations by the order that all processes use, and removes duplicates.
func (l *List[T]) sort(f Form[T]) {
	if !l.unsorted {
		return
	}
	l.unsorted = false
	// Two observations with the origin Nobody are never the same observation, because a process may see the same fact
	// twice at the same instant.
	compare := func(a, b Observation[T]) int {
		order := cmp.Or(cmp.Compare(a.At, b.At), l.origins.Compare(a.Origin, b.Origin))
		if order != 0 || a.Origin == Nobody {
			return order
		}
		return bytes.Compare(f.bytes(a.Fact), f.bytes(b.Fact))
	}
	slices.SortStableFunc(l.seen, compare)
	l.seen = slices.CompactFunc(l.seen, func(a, b Observation[T]) bool { return a.Origin != Nobody && compare(a, b) == 0 })
}

// bytes returns the encoding of a fact.
func (f Form[T]) bytes(fact T) []byte {
	var c snapshot.Codec
	f.Fact(&c, &fact)
	return c.Dst
}

// State writes the list to a snapshot, or reads the list from a snapshot. The argument by is the latest instant that an
// observation may have.
func (l *List[T]) State(f Form[T], c *snapshot.Codec, by time.Duration) {
	l.sort(f)
	l.origins.State(c.Field(1, "origins"))
	last := time.Duration(0)
	snapshot.List(c.Field(2, "observations"), &l.seen, func(v *Observation[T]) {
		c.Duration(&v.At)
		c.Check(v.At >= last && v.At <= by, "holds an observation that is out of order or in the future")
		last = v.At
		snapshot.Small(c, &v.Origin, 0, 1<<16-1)
		c.Check(l.origins.Holds(v.Origin), "holds an observation of an unknown origin")
		f.Fact(c, &v.Fact)
	})
}
