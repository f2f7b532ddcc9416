package replicate

import (
	"cmp"
	"slices"
)

// refreshDomains is refresh for an output if the output or an input has a failure domain. Within a domain, an input
// is lost whenever an input with a smaller loss is lost. So an input adds to the stall only the part of its loss that
// exceeds the losses of the longer inputs of its domain.
func (g *Graph) refreshDomains(n *node) {
	for i := range g.stalls {
		s := &g.stalls[i]
		if n.domain != 0 && g.nodes[s.input].domain == n.domain && n.loss > 0 {
			s.loss = min(1, s.loss/n.loss) // the probability if n itself is lost
		}
	}
	slices.SortFunc(g.stalls, func(a, b stall) int {
		return cmp.Or(cmp.Compare(b.redo, a.redo), cmp.Compare(b.loss, a.loss),
			cmp.Compare(g.nodes[a.input].domain, g.nodes[b.input].domain), cmp.Compare(a.input, b.input))
	})
	g.group()
	n.redo, n.work = n.run, n.run
	present := 1.0 // the probability that no input so far is lost
	for i, s := range g.stalls {
		if s.loss == 0 || i > 0 && s.input == g.stalls[i-1].input {
			continue // the input is never lost, or was counted before
		}
		n.work += float64(s.loss * g.nodes[s.input].work)
		before := g.before[i]
		if s.loss <= before {
			continue // a longer input of the domain is always lost with it
		}
		if before > 0 {
			present /= 1 - before // only the inputs of other domains
		}
		n.redo += float64(present * (s.loss - before) * s.redo)
		present *= 1 - s.loss
	}
}

// group sets before for each stall: the largest loss among the longer inputs of the same domain.
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
