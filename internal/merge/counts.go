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

// Count is how many things there were, and how many of them were hits.
type Count struct{ Of, Hits int64 }

// Counts counts things by the names of what they belong to, and by slots of time of equal length. Of a slot, what one
// process has counted is at most as much as what all others have. The zero value has counted nothing.
type Counts struct {
	origins Origins
	by      map[counter]counted
	sums    map[cell]sum
	swept   int64 // the first slot that is kept
}

const (
	Slots     = 16      // that are kept, of each name
	mostCount = 1e9     // of one counter; so no product of two overflows
	mostCells = 1 << 22 // counters: what is beyond is not taken
)

// cell is a slot of a name, or for no name, of all of them; or what one process has counted of it, however often it began.
type cell struct {
	name, process string
	slot          int64
	one           bool // of one process
}

type counter struct {
	cell
	by Origin
}

// counted is what an origin has counted until an instant. It only grows.
type counted struct {
	Count
	at time.Duration
}

// sum is of all processes, and the most of one of them.
type sum struct{ all, most Count }

// size is how much was counted. There may be hits of things that were counted elsewhere, or in another slot.
func (n Count) size() int64 { return max(n.Of, n.Hits) }

func (n Count) compare(m Count) int {
	return cmp.Or(cmp.Compare(n.size(), m.size()), cmp.Compare(n.Of, m.Of), cmp.Compare(n.Hits, m.Hits))
}

// weighed is what counts of a sum.
func (s sum) weighed() Count {
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

// Fact is a counter as it is passed on.
type Fact struct {
	name string
	Count
}

// CountsForm is how the counts of a type are passed on. Where hits are among the things counted, there are no more.
func CountsForm(place string, kind byte, among bool) Form[Fact] {
	return Form[Fact]{
		Place: place, Kind: kind, Grows: true,
		Fact: func(c *snapshot.Codec, v *Fact) {
			c.Number64(&v.Of, 0, mostCount)
			c.Number64(&v.Hits, 0, mostCount)
			c.Check(!among || v.Hits <= v.Of, "counts more hits than there was anything")
		},
		Name: func(v *Fact) *string { return &v.name },
	}
}

// Add counts what this process has just seen. Slots are of the Slots-th part of what the choices keep.
func (k *Counts) Add(c Choices, now time.Duration, name string, n Count) {
	by, at := k.origins.Stamp(c, now)
	if c.Slot(at)-Slots+1 > k.swept {
		k.Forget(c, at)
	}
	key := counter{cell{name: name, slot: c.Slot(at)}, by}
	was := k.by[key].Count
	k.put(key, counted{Count{min(was.Of+n.Of, mostCount), min(was.Hits+n.Hits, mostCount)}, at})
}

// Slot is the number of the slot of an instant.
func (c Choices) Slot(at time.Duration) int64 { return int64(at) / int64(c.Keep/Slots) }

// put notes what an origin has counted, unless more is known.
func (k *Counts) put(key counter, v counted) {
	if k.by == nil {
		k.by, k.sums = map[counter]counted{}, map[cell]sum{}
	}
	was, known := k.by[key]
	if !known && len(k.by) >= mostCells {
		return
	}
	v = counted{Count{max(v.Of, was.Of), max(v.Hits, was.Hits)}, max(v.at, was.at)}
	k.by[key] = v
	more := Count{v.Of - was.Of, v.Hits - was.Hits}
	process := "" // of origins that had no number left, none of which has this name
	if key.by != Nobody {
		process = k.origins.list[key.by].name
	}
	own := k.add(cell{key.name, process, key.slot, true}, more)
	before := k.sums[key.cell].weighed()
	s := k.add(key.cell, more)
	if own.all.compare(s.most) > 0 {
		s.most = own.all
		k.sums[key.cell] = s
	}
	after := s.weighed()
	k.add(cell{slot: key.slot}, Count{after.Of - before.Of, after.Hits - before.Hits})
}

func (k *Counts) add(to cell, n Count) sum {
	s := k.sums[to]
	s.all = Count{s.all.Of + n.Of, s.all.Hits + n.Hits}
	k.sums[to] = s
	return s
}

// Of returns what counts of a name in the slot that ended so many slots ago, or for 0 goes on; or for no name, of all.
func (k *Counts) Of(c Choices, now time.Duration, name string, ago int64) Count {
	if name == "" {
		return k.sums[cell{slot: c.Slot(now) - ago}].all
	}
	return k.sums[cell{name: name, slot: c.Slot(now) - ago}].weighed()
}

// Kept returns what counts of a name, or for no name of all, in all that is kept.
func (k *Counts) Kept(c Choices, now time.Duration, name string) (n Count) {
	for ago := range int64(Slots) {
		of := k.Of(c, now, name, ago)
		n = Count{n.Of + of.Of, n.Hits + of.Hits}
	}
	return n
}

// Forget forgets what is too old to count, and what is of a time to come. O(counters).
func (k *Counts) Forget(c Choices, now time.Duration) {
	first := c.Slot(now) - Slots + 1
	k.swept = first
	by, future := c.By(now), false
	for key, v := range k.by {
		if future = future || v.at > by; key.slot < first || v.at > by {
			delete(k.by, key)
		}
	}
	if future { // the sums hold it, too
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

// AppendVersion, AppendDelta and Merge are those of the type that has the counts.
func (k *Counts) AppendVersion(f Form[Fact], dst []byte) []byte {
	return f.AppendVersion(dst, &k.origins)
}

func (k *Counts) AppendDelta(
	f Form[Fact], c Choices, now time.Duration, dst, since []byte, of []string,
) ([]byte, error) {
	return f.AppendDelta(dst, since, &k.origins, c, now, of, k.all())
}

func (k *Counts) all() iter.Seq[Observation[Fact]] {
	return func(yield func(Observation[Fact]) bool) {
		for key, v := range k.by { // in any order: who writes them sorts them
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

// State codes the counts.
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
		c.Check(k.origins.Holds(v.Origin), "counts for an origin that there is not")
		if c.Reading() {
			k.put(counter{cell{name: v.Fact.name, slot: choices.Slot(v.At)}, v.Origin}, counted{v.Fact.Count, v.At})
		}
	})
}
