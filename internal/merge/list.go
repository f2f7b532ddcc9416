package merge

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// List is a set of observations. Only the newest observations are kept. If processes share observations, at most
// half of the kept observations come from a single process. The zero value is empty. A type may have several lists,
// which share its [Origins].
type List[T any] struct {
	seen     []Observation[T]
	unsorted bool // seen is not in order, or may have duplicates
}

// Code writes or reads a fact.
type Code[T any] func(*snapshot.Codec, *T)

// Add adds a fact that this process has just seen.
func (l *List[T]) Add(o *Origins, c Choices, now time.Duration, fact T) {
	by := Nobody
	if c.Origin != "" {
		by, now = o.Stamp(c, now)
	}
	n := len(l.seen)
	l.unsorted = l.unsorted || n > 0 && l.seen[n-1].At > now
	l.seen = append(l.seen, Observation[T]{now, fact, by})
}

// Put adds an observation of another process.
func (l *List[T]) Put(v Observation[T]) {
	l.unsorted = true
	l.seen = append(l.seen, v)
}

// All returns all observations. Newest has removed those that are not kept, as of its last call.
func (l *List[T]) All() []Observation[T] { return l.seen }

// Newest returns the newest observations, at most the number most, in the order that all processes use. It leaves
// out observations that are older than c.Keep, and observations from the future. Newest removes all observations
// that it does not return. Before [Origins.Forget], call Newest of each list.
func (l *List[T]) Newest(o *Origins, code Code[T], c Choices, now time.Duration, most int) []Observation[T] {
	l.sort(o, code)
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
			name := o.list[v.Origin].name
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
	return l.seen
}

// sort sorts the observations by the order that all processes use, and removes duplicates.
func (l *List[T]) sort(o *Origins, code Code[T]) {
	if !l.unsorted {
		return
	}
	l.unsorted = false
	// Two observations with the origin Nobody are never the same observation, because a process may see the same fact
	// twice at the same instant.
	compare := func(a, b Observation[T]) int {
		order := cmp.Or(cmp.Compare(a.At, b.At), o.Compare(a.Origin, b.Origin))
		if order != 0 || a.Origin == Nobody {
			return order
		}
		return bytes.Compare(code.bytes(a.Fact), code.bytes(b.Fact))
	}
	slices.SortStableFunc(l.seen, compare)
	l.seen = slices.CompactFunc(l.seen, func(a, b Observation[T]) bool { return a.Origin != Nobody && compare(a, b) == 0 })
}

// bytes returns the encoding of a fact.
func (code Code[T]) bytes(fact T) []byte {
	var c snapshot.Codec
	code(&c, &fact)
	return c.Dst
}

// State writes the list to a snapshot, or reads the list from a snapshot. The argument by is the latest instant that an
// observation may have.
func (l *List[T]) State(o *Origins, code Code[T], c *snapshot.Codec, by time.Duration) {
	l.sort(o, code)
	last := time.Duration(0)
	snapshot.List(c, &l.seen, func(v *Observation[T]) {
		c.Duration(&v.At)
		c.Check(v.At >= last && v.At <= by, "holds an observation that is out of order or in the future")
		last = v.At
		snapshot.Small(c, &v.Origin, 0, 1<<16-1)
		c.Check(o.Holds(v.Origin), "holds an observation of an unknown origin")
		code(c, &v.Fact)
	})
}
