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

// Count is a number of things, and the number of hits among them. For example, the things are tasks and the hits
// are slow tasks, or the things are outputs and the hits are lost outputs.
type Count struct{ Of, Hits int64 }

// Counts counts things by name and by slot, which is a range of time. All slots have the same length. Each count
// belongs to a name, such as the name of a machine. In each slot, the count of one process is limited to the counts
// of all other processes together, so that a faulty process cannot dominate. The zero value has counted nothing.
type Counts struct {
	origins   Origins
	by        map[counter]counted // the count of each origin, for each name and slot
	sums      map[cell]sum        // sums of the counts in by; the comment of cell says which sums there are
	firstKept int64               // the number of the oldest slot that is kept
}

const (
	Slots       = 16      // number of slots that are kept of each name
	maxCount    = 1e9     // the largest number of a counter, so that no product of two such numbers overflows
	maxCounters = 1 << 22 // the largest number of counters; further counters are not stored
)

// cell is the key of a sum of counts in one slot. There are three kinds of sums:
//
//   - The sum of a name over all processes has the name.
//   - The sum over all names has an empty name.
//   - The sum of a name for one process, over all starts of the process, has the name, the process, and oneProcess.
type cell struct {
	name, process string
	slot          int64
	oneProcess    bool // the sum is of one process
}

// counter is the key of a count: a name, a slot, and the origin that made the count.
type counter struct {
	cell
	by Origin
}

// counted is how many observations an origin had made by a certain instant (field at). A later number of the same origin is never
// smaller.
type counted struct {
	Count
	at time.Duration
}

// sum is the count of all processes together, and the largest count of a single process.
type sum struct{ all, most Count }

// size is the larger of the two numbers of a count. Hits may be larger than Of: a thing and its hit may be counted
// by different processes or in different slots.
func (n Count) size() int64 { return max(n.Of, n.Hits) }

func (n Count) compare(m Count) int {
	return cmp.Or(cmp.Compare(n.size(), m.size()), cmp.Compare(n.Of, m.Of), cmp.Compare(n.Hits, m.Hits))
}

// limited returns the sum, in which the count of the largest process is limited to the size of all other counts
// together. For example, if a process has counted 100 of 120 things, the others have counted 20. Then the 100
// things are included as 20, and the sum is 40. If there are no other counts, the count of the process is not
// limited.
func (s sum) limited() Count {
	others := Count{s.all.Of - s.most.Of, s.all.Hits - s.most.Hits}
	most, least := s.most.size(), others.size()
	if least == 0 || most <= least {
		return s.all
	}
	part := func(n int64) int64 { // returns n*least/most
		high, low := bits.Mul64(uint64(n), uint64(least))
		part, _ := bits.Div64(high, low, uint64(most))
		return int64(part)
	}
	return Count{others.Of + part(s.most.Of), others.Hits + part(s.most.Hits)}
}

// Fact is a count in a delta, with its name.
type Fact struct {
	name string
	Count
}

// CountsForm returns the form in which the counts of a type are encoded. Set among if only counted things can be
// hits: then a delta with more hits than things is refused.
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

// Add adds a number of things that this process has just seen to the counts of a name.
func (k *Counts) Add(c Choices, now time.Duration, name string, n Count) {
	by, at := k.origins.Stamp(c, now)
	if c.Slot(at)-Slots+1 > k.firstKept {
		k.Forget(c, at)
	}
	key := counter{cell{name: name, slot: c.Slot(at)}, by}
	was := k.by[key].Count
	k.put(key, counted{Count{min(was.Of+n.Of, maxCount), min(was.Hits+n.Hits, maxCount)}, at})
}

// Slot returns the number of the slot that contains an instant. The time c.Keep is divided into Slots equal slots.
func (c Choices) Slot(at time.Duration) int64 { return int64(at) / int64(c.Keep/Slots) }

// put stores the count of an origin. Both numbers of a count only grow. So a count that is older than the stored
// count changes nothing.
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
	process := "" // the origin Nobody has no process; no process has this empty name
	if key.by != Nobody {
		process = k.origins.list[key.by].name
	}
	// Two sums change first: the sum of the process, and the sum over all processes. Both are for one name. Then
	// the sum over all names changes by the difference of the limited sum of this name. A larger count of the other
	// processes also raises the limit of the largest process.
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

// add adds a count to a sum and returns the new sum.
func (k *Counts) add(to cell, n Count) sum {
	s := k.sums[to]
	s.all = Count{s.all.Of + n.Of, s.all.Hits + n.Hits}
	k.sums[to] = s
	return s
}

// Of returns the limited count of a name in a slot. ago is the age of the slot in slots: 0 for the present slot, 1
// for the slot before it. If name is empty, Of returns the sum over all names.
func (k *Counts) Of(c Choices, now time.Duration, name string, ago int64) Count {
	if name == "" {
		return k.sums[cell{slot: c.Slot(now) - ago}].all
	}
	return k.sums[cell{name: name, slot: c.Slot(now) - ago}].limited()
}

// Kept returns the sum of the results of Of over all slots that are kept.
func (k *Counts) Kept(c Choices, now time.Duration, name string) (n Count) {
	for ago := range int64(Slots) {
		of := k.Of(c, now, name, ago)
		n = Count{n.Of + of.Of, n.Hits + of.Hits}
	}
	return n
}

// Forget removes counts that are too old, and counts from the future. O(n) for n counters.
func (k *Counts) Forget(c Choices, now time.Duration) {
	first := c.Slot(now) - Slots + 1
	k.firstKept = first
	by, future := c.By(now), false
	for key, v := range k.by {
		if future = future || v.at > by; key.slot < first || v.at > by {
			delete(k.by, key)
		}
	}
	if future { // the sums include the removed counts, so they are computed again
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

// AppendVersion, AppendDelta and Merge do the work of the methods with these names of the type that contains the
// counts.
func (k *Counts) AppendVersion(f Form[Fact], dst []byte) []byte {
	return f.AppendVersion(dst, &k.origins)
}

func (k *Counts) AppendDelta(
	f Form[Fact], c Choices, now time.Duration, dst, since []byte, of []string,
) ([]byte, error) {
	return f.AppendDelta(dst, since, &k.origins, c, now, of, k.all())
}

// all returns an iterator over all counters.
func (k *Counts) all() iter.Seq[Observation[Fact]] {
	return func(yield func(Observation[Fact]) bool) {
		for key, v := range k.by { // the order is random; AppendDelta and State sort the counters
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

// State writes the counts to a snapshot or reads them from it. It sorts the counters, so equal counts give equal
// bytes.
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
