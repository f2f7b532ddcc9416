package dominant

import "github.com/straggler-go/straggler/internal/exact"

// update enters a pool anew and replays its matches, and then those of its ancestors.
func (x *Index) update(i int32) {
	for ; i >= 0; i = x.nodes[i].parent {
		x.enter(i)
		g := x.groups[x.nodes[i].group]
		for k := (g.end - g.first + i - g.first) / 2; k > 0; k /= 2 {
			x.play(g, k)
		}
	}
}

// enter works out where a pool stands, from what it has itself or from its children's tournament.
func (x *Index) enter(i int32) {
	n, e := &x.nodes[i], &x.entries[i]
	wants := !e.held
	if n.leaf() {
		wants = x.enterLeaf(i) && wants
	} else {
		final := 2*x.groups[n.children].first + 1
		wants = x.entries[x.winners[final]].turn != turnNone && wants
		x.enterParent(i, final)
	}
	if e.standing = (standing{turn: turnNone, resource: -1, unitLo: 1}); wants {
		e.standing = x.stand(n.weight, x.row(x.usage, i), x.row(x.least, i))
	}
	g := x.groups[n.group]
	match := g.first + g.end + (i - g.first)
	x.winners[match] = i
	if g.parent >= 0 {
		m := len(x.capacity)
		sums := x.sumsOf(match)
		copy(sums[:m], x.row(x.usage, i))
		copy(sums[m:2*m], x.row(x.least, i))
		copy(sums[2*m:], x.row(x.want, i))
	}
}

// enterLeaf works out what a pool without children wants. It reports whether its next task may run.
func (x *Index) enterLeaf(i int32) (wants bool) {
	e := &x.entries[i]
	waiting := max(0, e.demand-e.running)
	wants = waiting > 0
	usage, need, most := x.row(x.usage, i), x.row(x.needs, i), x.row(x.max, i)
	least, own, want := x.row(x.least, i), x.row(x.min, i), x.row(x.want, i)
	for r, used := range usage {
		want[r] = min(exact.Add(used, exact.Mul(waiting, need[r])), max(used, most[r]))
		least[r] = min(own[r], want[r])
		wants = wants && need[r] <= x.capacity[r] && (need[r] == 0 || exact.Add(used, need[r]) <= most[r])
	}
	return wants
}

// enterParent takes over what the children have, are guaranteed and want.
func (x *Index) enterParent(i, final int32) {
	m := len(x.capacity)
	sums := x.sumsOf(final)
	usage, least, own, want, most := x.row(x.usage, i), x.row(x.least, i), x.row(x.min, i), x.row(x.want,
		i), x.row(x.max, i)
	for r := range usage {
		usage[r] = sums[r]
		want[r] = min(sums[2*m+r], max(usage[r], most[r]))
		least[r] = min(max(own[r], sums[m+r]), want[r])
	}
}

// sumsOf returns the sums over the pools that took part in a match below the top level.
func (x *Index) sumsOf(match int32) []int64 {
	size := 3 * len(x.capacity)
	row := int(match-2*x.groups[0].end) * size
	return x.sums[row : row+size : row+size]
}

// play decides match k of a group.
func (x *Index) play(g group, k int32) {
	match := 2*g.first + k
	left, right := 2*g.first+2*k, 2*g.first+2*k+1
	a, b := x.winners[left], x.winners[right]
	if before(g.discipline, &x.nodes[b], &x.nodes[a], &x.entries[b].standing, &x.entries[a].standing) {
		a = b
	}
	x.winners[match] = a
	if g.parent >= 0 {
		sums, l, r := x.sumsOf(match), x.sumsOf(left), x.sumsOf(right)
		for i := range sums {
			sums[i] = exact.Add(l[i], r[i])
		}
	}
}
