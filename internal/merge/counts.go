package merge

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// Count is how many things there were, and how many of them were hits.
type Count struct{ Of, Hits int64 }

// Counts counts things by the names of what they belong to, and by slots of time of equal length. Of a slot, what one
// origin has counted is at most as much as what all others have. The zero value has counted nothing.
type Counts struct {
	origins Origins
	by      map[counter]counted
	sums    map[cell]sum
}

const (
	Slots     = 16      // that are kept, of each name
	mostCount = 1e9     // of one counter; so no product of two overflows
	mostCells = 1 << 22 // counters: what is beyond is not taken
)

// cell is a slot of a name, or for no name, of all of them.
type cell struct {
	name string
	slot int64
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

// sum is of all origins, and the most of one of them.
type sum struct{ all, most Count }

// weighed is what counts of a sum.
func (s sum) weighed() Count {
	others := s.all.Of - s.most.Of
	if others == 0 || s.most.Of <= others {
		return s.all
	}
	return Count{2 * others, s.all.Hits - s.most.Hits + s.most.Hits*others/s.most.Of}
}

// Fact is a counter as it is passed on.
type Fact struct {
	name string
	Count
}

// CountsForm is how the counts of a type are passed on.
func CountsForm(place string, kind byte) Form[Fact] {
	return Form[Fact]{
		Place: place, Kind: kind,
		Fact: func(c *snapshot.Codec, v *Fact) {
			c.Number64(&v.Of, 0, mostCount)
			c.Number64(&v.Hits, 0, mostCount)
		},
		Name: func(v *Fact) *string { return &v.name },
	}
}

// Add counts what this process has just seen. Slots are of the Slots-th part of what the choices keep.
func (k *Counts) Add(c Choices, now time.Duration, name string, n Count) {
	by, at := k.origins.Stamp(c, now)
	key := counter{cell{name, c.Slot(at)}, by}
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
	s := k.sums[key.cell]
	before := s.weighed()
	s.all.Of += v.Of - was.Of
	s.all.Hits += v.Hits - was.Hits
	if v.Of > s.most.Of || v.Of == s.most.Of && v.Hits > s.most.Hits {
		s.most = v.Count
	}
	k.sums[key.cell] = s
	after, all := s.weighed(), cell{slot: key.slot}
	s = k.sums[all]
	s.all.Of += after.Of - before.Of
	s.all.Hits += after.Hits - before.Hits
	k.sums[all] = s
}

// Of returns what counts of a name in the slot that ended so many slots ago, or for 0 goes on; or for no name, of all.
func (k *Counts) Of(c Choices, now time.Duration, name string, ago int64) Count {
	if name == "" {
		return k.sums[cell{"", c.Slot(now) - ago}].all
	}
	return k.sums[cell{name, c.Slot(now) - ago}].weighed()
}

// Kept returns what counts of a name, or for no name of all, in all that is kept.
func (k *Counts) Kept(c Choices, now time.Duration, name string) (n Count) {
	for ago := range int64(Slots) {
		of := k.Of(c, now, name, ago)
		n = Count{n.Of + of.Of, n.Hits + of.Hits}
	}
	return n
}

// Forget forgets what is too old to count. O(counters).
func (k *Counts) Forget(c Choices, now time.Duration) {
	for key := range k.by {
		if key.slot <= c.Slot(now)-Slots {
			delete(k.by, key)
		}
	}
	for key := range k.sums {
		if key.slot <= c.Slot(now)-Slots {
			delete(k.sums, key)
		}
	}
	k.origins.Forget(max(now-2*c.Keep, 0))
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
			k.put(counter{cell{v.Fact.name, c.Slot(v.At)}, v.Origin}, counted{v.Fact.Count, v.At})
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
	snapshot.List(c, &seen, 6, func(v *Observation[Fact]) {
		c.Span(&v.At)
		snapshot.Small(c, &v.Origin, 0, math.MaxUint16)
		c.Text(&v.Fact.name)
		f.Fact(c, &v.Fact)
		c.Check(k.origins.Holds(v.Origin), "counts for an origin that there is not")
		if c.Reading() {
			k.put(counter{cell{v.Fact.name, choices.Slot(v.At)}, v.Origin}, counted{v.Fact.Count, v.At})
		}
	})
}
