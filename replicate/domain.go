package replicate

import (
	"cmp"
	"slices"
)

// refreshGrouped is refresh where inputs, or the output itself, share a failure domain. Of the inputs of a domain, one
// is missing whenever one of a smaller loss is: it adds to the stall only by how much its loss exceeds that of the
// longer ones before it.
func (g *Graph) refreshGrouped(n *node) {
	for i := range g.stalls {
		s := &g.stalls[i]
		if n.domain != 0 && g.nodes[s.input].domain == n.domain && n.loss > 0 {
			s.loss = min(1, s.loss/n.loss) // given that n is lost
		}
	}
	slices.SortFunc(g.stalls, func(a, b stall) int {
		return cmp.Or(cmp.Compare(b.redo, a.redo), cmp.Compare(b.loss, a.loss),
			cmp.Compare(g.nodes[a.input].domain, g.nodes[b.input].domain), cmp.Compare(a.input, b.input))
	})
	g.group()
	n.redo, n.work = n.run, n.run
	there := 1.0 // the probability that all inputs so far are there
	for i, s := range g.stalls {
		if s.loss == 0 || i > 0 && s.input == g.stalls[i-1].input {
			continue // not lost, or the same input once more
		}
		n.work += float64(s.loss * g.nodes[s.input].work)
		before := g.before[i]
		if s.loss <= before {
			continue // lost only together with a longer one
		}
		if before > 0 {
			there /= 1 - before // the other domains
		}
		n.redo += float64(there * (s.loss - before) * s.redo)
		there *= 1 - s.loss
	}
}

// group finds for each stall the largest loss before it in its domain.
func (g *Graph) group() {
	domain := func(i int) int { return g.nodes[g.stalls[i].input].domain }
	g.groups, g.before = g.groups[:0], g.before[:0]
	for i := range g.stalls {
		g.before = append(g.before, 0)
		if domain(i) != 0 {
			g.groups = append(g.groups, i)
		}
	}
	slices.SortFunc(g.groups, func(a, b int) int {
		return cmp.Or(cmp.Compare(domain(a), domain(b)), cmp.Compare(a, b))
	})
	for i := 1; i < len(g.groups); i++ {
		last, at := g.groups[i-1], g.groups[i]
		if domain(last) == domain(at) {
			g.before[at] = max(g.before[last], g.stalls[last].loss)
		}
	}
}
