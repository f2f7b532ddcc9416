package merge

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Count is a number of things, and the number of hits among them: tasks and stragglers, or outputs and losses.
type Count struct{ Of, Hits int64 }

// Counts counts things by name and by slot of time. Each count belongs to a name, such as the name of a machine.
// Slots are equally long. In a slot, the count of one process is limited to the counts of all other processes
// together. The zero value has counted nothing.
type Counts struct {
	origins   Origins
	by        map[counter]counted // the count of each origin for each name and slot
	sums      map[cell]sum        // sums of by; see cell for the three kinds
	firstKept int64               // the first slot that is kept
}

const (
	Slots       = 16      // slots kept of each name
	maxCount    = 1e9     // largest number of a counter, so that no product of two numbers overflows
	maxCounters = 1 << 22 // largest number of counters; further counters are not stored
)

// cell is the key of a sum. A slot has three kinds of sums. The sum of a name is over all processes. The sum of all
// names has an empty name. The sum of a process is over all its origins for a name, and has oneProcess set.
type cell struct {
	name, process string
	slot          int64
	oneProcess    bool // the sum is of one process
}

// counter is the key of a count: a name, a slot and the origin that counted.
type counter struct {
	cell
	by Origin
}

// counted is the count of an origin up to an instant. The count only grows.
type counted struct {
	Count
	at time.Duration
}

// sum is the count of all processes, and the largest count of a single process.
type sum struct{ all, most Count }

// size is the larger of the two numbers. Hits may exceed Of, because a hit may belong to a thing that was counted
// by another process or in another slot.
func (n Count) size() int64 { return max(n.Of, n.Hits) }

func (n Count) compare(m Count) int {
	return cmp.Or(cmp.Compare(n.size(), m.size()), cmp.Compare(n.Of, m.Of), cmp.Compare(n.Hits, m.Hits))
}

// limited returns the sum with the largest process limited to the size of all others together. For example, if a
// process has counted 100 of 120 things, its 100 things count as 20, and the sum is 40. If a single process
// has counted, its count is not limited.
func (s sum) limited() Count {
	others := Count{s.all.Of - s.most.Of, s.all.Hits - s.most.Hits}
	most, least := s.most.size(), others.size()
	if least == 0 || most <= least {
		return s.all
	}
	part := func(n int64) int64 { // n*least/most
		high, low := bits.Mul64(uint64(n), uint64(least))
		part, _ := bits.Div64(high, low, uint64(most))
		return int64(part)
	}
	return Count{others.Of + part(s.most.Of), others.Hits + part(s.most.Hits)}
}

// Fact is a counter in a delta.
type Fact struct {
	name string
	Count
}

// CountsForm returns the form of the counts of a type in a delta. If among is set, hits are among the things
// counted, and a delta with more hits than things is refused.
func CountsForm(place string, kind byte, among bool) Form[Fact] {
	return Form[Fact]{
		Place: place, Kind: kind, Grows: true,
		Fact: func(c *snapshot.Codec, v *Fact) {
			c.Number64(&v.Of, 0, maxCount)
			c.Number64(&v.Hits, 0, maxCount)
			c.Check(!among || v.Hits <= v.Of, "counts more hits than things")
		},
		Name: func(v *Fact) *string { return &v.name },
	}
}

// Add adds the count of things that this process has just seen. A slot is the Slots-th part of the time that the
// choices keep.
func (k *Counts) Add(c Choices, now time.Duration, name string, n Count) {
	by, at := k.origins.Stamp(c, now)
	if c.Slot(at)-Slots+1 > k.firstKept {
		k.Forget(c, at)
	}
	key := counter{cell{name: name, slot: c.Slot(at)}, by}
	was := k.by[key].Count
	k.put(key, counted{Count{min(was.Of+n.Of, maxCount), min(was.Hits+n.Hits, maxCount)}, at})
}

// Slot returns the number of the slot of an instant.
func (c Choices) Slot(at time.Duration) int64 { return int64(at) / int64(c.Keep/Slots) }

// put stores the count of an origin. Each number only grows, so a count that is older than the stored count changes
// nothing.
func (k *Counts) put(key counter, v counted) {
	if k.by == nil {
		k.by, k.sums = map[counter]counted{}, map[cell]sum{}
	}
	was, known := k.by[key]
	if !known && len(k.by) >= maxCounters {
		return
	}
	v = counted{Count{max(v.Of, was.Of), max(v.Hits, was.Hits)}, max(v.at, was.at)}
	k.by[key] = v
	more := Count{v.Of - was.Of, v.Hits - was.Hits}
	process := "" // of origins without a number; no process has this name
	if key.by != Nobody {
		process = k.origins.list[key.by].name
	}
	// Two sums change first: the sum of the process, and the sum over all processes. The sum over all names changes
	// by the difference of the limited sum. A larger count of others also raises the limit of the largest process.
	own := k.add(cell{key.name, process, key.slot, true}, more)
	before := k.sums[key.cell].limited()
	s := k.add(key.cell, more)
	if own.all.compare(s.most) > 0 {
		s.most = own.all
		k.sums[key.cell] = s
	}
	after := s.limited()
	k.add(cell{slot: key.slot}, Count{after.Of - before.Of, after.Hits - before.Hits})
}

// add adds a count to a sum and returns the sum.
func (k *Counts) add(to cell, n Count) sum {
	s := k.sums[to]
	s.all = Count{s.all.Of + n.Of, s.all.Hits + n.Hits}
	k.sums[to] = s
	return s
}

// Of returns the limited count of a name in a slot. ago is 0 for the present slot, and 1 for the slot before it. An
// empty name stands for the sum of all names.
func (k *Counts) Of(c Choices, now time.Duration, name string, ago int64) Count {
	if name == "" {
		return k.sums[cell{slot: c.Slot(now) - ago}].all
	}
	return k.sums[cell{name: name, slot: c.Slot(now) - ago}].limited()
}

// Kept returns the sum of Of over all slots that are kept.
func (k *Counts) Kept(c Choices, now time.Duration, name string) (n Count) {
	for ago := range int64(Slots) {
		of := k.Of(c, now, name, ago)
		n = Count{n.Of + of.Of, n.Hits + of.Hits}
	}
	return n
}

// Forget drops counts that are too old, and counts from the future. O(counters).
func (k *Counts) Forget(c Choices, now time.Duration) {
	first := c.Slot(now) - Slots + 1
	k.firstKept = first
	by, future := c.By(now), false
	for key, v := range k.by {
		if future = future || v.at > by; key.slot < first || v.at > by {
			delete(k.by, key)
		}
	}
	if future { // the sums contain the dropped counts, so they are computed again
		kept := k.by
		k.by, k.sums = nil, nil
		for key, v := range kept {
			k.put(key, v)
		}
	}
	for key := range k.sums {
		if key.slot < first {
			delete(k.sums, key)
		}
	}
	k.origins.Forget(max(now-2*c.Keep, 0), by)
}

// AppendVersion implements the method of the type that holds the counts, and so do AppendDelta and Merge.
func (k *Counts) AppendVersion(f Form[Fact], dst []byte) []byte {
	return f.AppendVersion(dst, &k.origins)
}

func (k *Counts) AppendDelta(
	f Form[Fact], c Choices, now time.Duration, dst, since []byte, of []string,
) ([]byte, error) {
	return f.AppendDelta(dst, since, &k.origins, c, now, of, k.all())
}

// all yields all counters, in any order.
func (k *Counts) all() iter.Seq[Observation[Fact]] {
	return func(yield func(Observation[Fact]) bool) {
		for key, v := range k.by { // in any order: AppendDelta and State sort them
			if !yield(Observation[Fact]{v.at, Fact{key.name, v.Count}, key.by}) {
				return
			}
		}
	}
}

func (k *Counts) Merge(f Form[Fact], c Choices, now time.Duration, delta []byte) error {
	seen, err := f.Read(&k.origins, c, now, delta)
	if err != nil {
		return err
	}
	for _, v := range seen {
		if v.Fact.name != "" {
			k.put(counter{cell{name: v.Fact.name, slot: c.Slot(v.At)}, v.Origin}, counted{v.Fact.Count, v.At})
		}
	}
	k.Forget(c, now)
	return nil
}

// State codes the counts. Counters are sorted, so equal counts give equal bytes.
func (k *Counts) State(f Form[Fact], c *snapshot.Codec, choices Choices) {
	k.origins.State(c)
	var seen []Observation[Fact]
	for v := range k.all() {
		seen = append(seen, v)
	}
	slices.SortFunc(seen, func(a, b Observation[Fact]) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Fact.name, b.Fact.name))
	})
	snapshot.List(c, &seen, func(v *Observation[Fact]) {
		c.Span(&v.At)
		snapshot.Small(c, &v.Origin, 0, math.MaxUint16)
		c.Text(&v.Fact.name)
		f.Fact(c, &v.Fact)
		c.Check(k.origins.Holds(v.Origin), "holds a count of an unknown origin")
		if c.Reading() {
			k.put(counter{cell{name: v.Fact.name, slot: choices.Slot(v.At)}, v.Origin}, counted{v.Fact.Count, v.At})
		}
	})
}
