package fairshare

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// update recomputes the standing of the pool at position i, replays its matches, and does both for each ancestor. It
// stops as soon as nothing changes further up.
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

// enter computes the entry of a pool: from the pool's own usage, or from the final of its children's tournament.
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
		// Usage above the upper bound raises most to the usage. Otherwise the surplus of this pool would hide the
		// demand of its siblings in their sum.
		*x.sumOf(match) = sum{usage: e.usage, least: e.least, most: max(e.most, e.usage)}
	}
}

// sumOf returns the sum of a match below the top level. The top level has no sums.
func (x *Index) sumOf(match int32) *sum { return &x.sums[match-2*x.groups[0].end] }

// standing returns the key of a pool that is not held. d is the discipline of the pool's group.
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

// play decides match m of a group after a change of the pool at position i. It returns false if later matches cannot
// change: the pool does not win the match now and did not win it before, and the sum of the match is unchanged.
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

// rebuild computes the entries of all pools and plays all matches, children before parents. Cost: O(n).
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
