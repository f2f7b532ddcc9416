package fairshare

import (
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// update enters a pool again and replays its matches, and then those of its ancestors.
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

// enter works out where a pool stands from its own usage or from its children's tournament.
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
		// What a pool has beyond its bounds is not to keep its siblings from what they want.
		*x.sumOf(match) = sum{usage: e.usage, least: e.least, most: max(e.most, e.usage)}
	}
}

func (x *Index) sumOf(match int32) *sum { return &x.sums[match-2*x.groups[0].end] }

// standing is where a pool that is not held stands among its siblings.
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

// play decides match m of a group. It reports whether that may matter to the matches that follow after a change of pool
// i alone: if it neither wins nor has won, and their sum stays, it does not.
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

// rebuild enters all pools and plays all matches.
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
