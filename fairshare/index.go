package fairshare

import (
	"log/slog"
	"strconv"
)

// Index answers who should get the next free unit, in O(depth), after O(log k) at each level with k siblings for each
// change of one pool: O(log n) in a flat tree. It starts from the usage 0 and the demands of the pools.
//
// Not safe for concurrent use; one per scheduler.
type Index struct {
	forest
	entries []entry // by position
	// matches holds one knock-out tournament a group: that of nodes[first:end] is matches[2*first:2*end], with the final
	// at 1, the matches that feed match m at 2m and 2m+1, and the pools themselves from end-first on.
	matches []match
}

// entry is the state of one pool.
type entry struct {
	standing
	usage, most int64 // most is the demand, bounded by the maximum
	demand      int64 // leaves
	held        bool
}

// match is the outcome of one match, with sums over the pools that took part, which saturate.
type match struct {
	winner      int32 // position
	usage, most int64
}

// Reason is why a pool is next.
type Reason uint8

const (
	// NobodyWants means that no pool is next: all have what they want or may have, or are held.
	NobodyWants Reason = iota
	// BelowMinimum means the pool has less of its minimum than its siblings.
	BelowMinimum
	// LeastServed means the pool has the smallest usage per weight among its siblings.
	LeastServed
	// Leftover means the pool has weight zero and its weighted siblings want no more.
	Leftover
	// InTurn means the pool is first in rank or in line.
	InTurn
)

var reasonNames = [...]string{
	NobodyWants: "nobody wants it", BelowMinimum: "below minimum", LeastServed: "least served", Leftover: "leftover", InTurn: "in turn",
}

// String returns the reason in words.
func (r Reason) String() string { return nameOf(reasonNames[:], uint8(r)) }

// Pick is who is next, and why, as compared with its siblings. It is comparable.
//
// Safe for concurrent use.
type Pick struct {
	Pool   int // a pool without children; -1 if nobody wants the unit
	Reason Reason
	// Usage and Per are what was compared, as a ratio: the pool's usage, and the minimum or the weight. Per is 1 where
	// neither counts.
	Usage, Per int64
}

// String returns the pick as one line.
func (p Pick) String() string {
	if p.Pool < 0 {
		return p.Reason.String()
	}
	return "pool " + strconv.Itoa(p.Pool) + ": " + p.Reason.String() +
		", " + strconv.FormatInt(p.Usage, 10) + "/" + strconv.FormatInt(p.Per, 10)
}

// LogValue implements [slog.LogValuer].
func (p Pick) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("pool", p.Pool), slog.String("reason", p.Reason.String()),
		slog.Int64("usage", p.Usage), slog.Int64("per", p.Per))
}

// Index returns an index over the pools of the tree, which it does not change.
//
// Cost: O(n) time and memory.
func (t *Tree) Index() *Index {
	x := &Index{forest: t.forest, entries: make([]entry, t.Len()), matches: make([]match, 2*t.Len())}
	for g := len(x.groups) - 1; g >= 0; g-- {
		group := x.groups[g]
		for i := group.first; i < group.end; i++ {
			x.entries[i].demand = x.nodes[i].demand
			x.enter(i)
		}
		for m := group.end - group.first - 1; m > 0; m-- {
			x.play(group, m)
		}
	}
	return x
}

// Next returns the pool that should get the next free unit: from the top level down, the one that stands first by the
// discipline of the group; see [Compare]. It changes nothing: tell the index what was done with [Index.Add].
//
// Cost: O(depth), no allocation.
func (x *Index) Next() Pick {
	if len(x.nodes) == 0 {
		return Pick{Pool: -1}
	}
	g := x.groups[0]
	for {
		i := x.matches[2*g.first+1].winner
		n := &x.nodes[i]
		if x.entries[i].turn == turnNone {
			return Pick{Pool: -1}
		}
		if n.leaf() {
			at := x.entries[i].standing
			return Pick{Pool: int(n.pool), Reason: g.discipline.reason(at.turn), Usage: at.usage, Per: at.per}
		}
		g = x.groups[n.children]
	}
}

func (d Discipline) reason(t turn) Reason {
	switch {
	case t == turnNeedy:
		return BelowMinimum
	case d == FIFO:
		return InTurn
	case t == turnWeightless:
		return Leftover
	}
	return LeastServed
}

// Add changes the usage of a pool without children by delta: +1 for a unit given, -1 for one returned. Usage stops at 0
// and at the largest int64. It reports false, and does nothing, for an index that is not such a pool.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
func (x *Index) Add(pool int, delta int64) bool {
	i, ok := x.leaf(pool)
	if !ok {
		return false
	}
	if usage := x.entries[i].usage; delta < 0 {
		x.entries[i].usage = max(0, usage+delta)
	} else {
		x.entries[i].usage = addSaturating(usage, delta)
	}
	x.update(i)
	return true
}

// SetDemand changes what a pool without children wants, running and waiting together; less than 0 counts as 0. It reports
// false, and does nothing, for an index that is not such a pool.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
func (x *Index) SetDemand(pool int, demand int64) bool {
	i, ok := x.leaf(pool)
	if ok {
		x.entries[i].demand = max(0, demand)
		x.update(i)
	}
	return ok
}

// Hold passes a pool over, with its children if it has any, until it is held no longer: for one that cannot use the unit
// on offer, such as a job that waits for a machine with its data (section 4.2). It reports false for an unknown pool.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
func (x *Index) Hold(pool int, held bool) bool {
	if pool < 0 || pool >= len(x.at) {
		return false
	}
	i := x.at[pool]
	x.entries[i].held = held
	x.update(i)
	return true
}

// Usage returns what a pool has, its children's together; 0 for an unknown pool.
func (x *Index) Usage(pool int) int64 {
	if pool < 0 || pool >= len(x.at) {
		return 0
	}
	return x.entries[x.at[pool]].usage
}

func (x *Index) leaf(pool int) (position int32, ok bool) {
	if pool < 0 || pool >= len(x.at) || !x.nodes[x.at[pool]].leaf() {
		return 0, false
	}
	return x.at[pool], true
}

// update enters a pool anew and replays its matches, and then those of its ancestors.
func (x *Index) update(i int32) {
	for ; i >= 0; i = x.nodes[i].parent {
		x.enter(i)
		g := x.groups[x.nodes[i].group]
		for m := (g.end - g.first + i - g.first) / 2; m > 0; m /= 2 {
			x.play(g, m)
		}
	}
}

// enter works out where a pool stands from its own usage or from its children's tournament.
func (x *Index) enter(i int32) {
	n, e := &x.nodes[i], &x.entries[i]
	starved := e.held
	if n.leaf() {
		e.most = min(e.demand, n.max)
	} else {
		final := &x.matches[2*x.groups[n.children].first+1]
		e.usage, e.most = final.usage, min(final.most, n.max)
		starved = starved || x.entries[final.winner].turn == turnNone
	}
	if e.standing = newStanding(n.weight, n.min, e.most, e.usage); starved {
		e.standing = standing{turn: turnNone, per: 1}
	}
	g := x.groups[n.group]
	// What a pool has beyond its bounds is not to keep its siblings from what they want.
	x.matches[g.first+g.end+(i-g.first)] = match{winner: i, usage: e.usage, most: max(e.most, e.usage)}
}

// play decides match m of a group.
func (x *Index) play(g group, m int32) {
	a, b := x.matches[2*g.first+2*m], x.matches[2*g.first+2*m+1]
	winner := a.winner
	if g.discipline.before(&x.nodes[b.winner], &x.nodes[a.winner], x.entries[b.winner].standing, x.entries[a.winner].standing) {
		winner = b.winner
	}
	x.matches[2*g.first+m] = match{winner: winner, usage: addSaturating(a.usage, b.usage), most: addSaturating(a.most, b.most)}
}
