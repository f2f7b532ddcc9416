package fairshare

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// update recomputes the entry of the pool at position i and the matches of its tournament in which it takes part.
// Then update does the same for the parent of the pool, and so on up to the top level. It stops early if a match
// and its sum have not changed.
func (x *Index) update(i int32) {
	for ; i >= 0; i = x.nodes[i].parent {
		x.enter(i)
		g := x.groups[x.nodes[i].group]
		for m := (g.end - g.first + i - g.first) / 2; m > 0; m /= 2 {
			if !x.play(g, m, i) {
				return
			}
		}
	}
}

// enter recomputes the entry of the pool at position i. For a pool without children it reads the units that the
// pool uses. For a pool with children it reads the final of the tournament of the children.
func (x *Index) enter(i int32) {
	n, e := &x.nodes[i], &x.entries[i]
	starved := e.held
	if n.leaf() {
		e.most = min(e.demand, n.max)
		e.least = min(n.min, e.most)
	} else {
		match := 2*x.groups[n.children].first + 1
		final := x.sumOf(match)
		e.usage, e.most = final.usage, min(final.most, n.max)
		e.least = min(max(n.min, final.least), e.most)
		starved = starved || x.entries[x.winners[match]].turn == turnNone
	}
	g := x.groups[n.group]
	if e.standing = x.standing(g.discipline, i); starved {
		e.standing = standing{turn: turnNone, per: 1}
	}
	match := g.first + g.end + (i - g.first)
	if x.winners[match] = i; g.parent >= 0 {
		// If the pool uses more units than its upper bound, most is raised to the used units. Otherwise the units
		// above the bound would hide, in the sum, the demand of the pools with the same parent.
		*x.sumOf(match) = sum{usage: e.usage, least: e.least, most: max(e.most, e.usage)}
	}
}

// sumOf returns the sum of a match. The match must be below the top level, because the top level has no sums.
func (x *Index) sumOf(match int32) *sum { return &x.sums[match-2*x.groups[0].end] }

// standing returns the key by which the pool at position i is compared with the pools that have the same parent.
// The pool must not be held. d is the discipline of the parent.
func (x *Index) standing(d Discipline, i int32) standing {
	e := &x.entries[i]
	if o := x.policy.Order; o != LeastUsage && (d == Fair || e.usage >= e.least) {
		return o.byShare(e.usage, x.shares[i], e.most)
	}
	base := int64(0)
	if x.policy.Surplus == AboveMinimum {
		base = e.least
	}
	return newStanding(x.nodes[i].weight, e.least, base, e.most, e.usage)
}

// play recomputes the winner and the sum of match m of group g, after the pool at position i has changed. It returns
// false if later matches of the tournament cannot change. This is so if the pool has lost the match before and after
// the change, and the sum of the match has not changed.
func (x *Index) play(g group, m, i int32) (matters bool) {
	match, left, right := 2*g.first+m, 2*g.first+2*m, 2*g.first+2*m+1
	a, b := x.winners[left], x.winners[right]
	if g.discipline.before(&x.nodes[b], &x.nodes[a], x.entries[b].standing, x.entries[a].standing) {
		a = b
	}
	matters = a == i || x.winners[match] != a
	if x.winners[match] = a; g.parent >= 0 {
		l, r := x.sumOf(left), x.sumOf(right)
		s := sum{usage: exact.Add(l.usage, r.usage), least: l.least + r.least, most: exact.Add(l.most, r.most)}
		matters = matters || s != *x.sumOf(match)
		*x.sumOf(match) = s
	}
	return matters
}

// rebuild recomputes the entries of all pools and the winners of all matches, children before parents. Cost: O(n)
// for n pools.
func (x *Index) rebuild() {
	for _, g := range slices.Backward(x.groups) {
		for i := g.first; i < g.end; i++ {
			x.enter(i)
		}
		for m := g.end - g.first - 1; m > 0; m-- {
			x.play(g, m, g.first)
		}
	}
}
