package replicate

import (
	"cmp"
	"slices"
)

// refreshDomains computes redo and work of an output, as refresh does, if the output or one of its inputs has a
// failure domain. Outputs of one failure domain are lost together: if an input is lost, every input of its domain
// with a larger probability of loss is lost as well. So an input makes the expected wait longer only by a part of
// its probability of loss. This part is the excess over the largest probability among the inputs of its domain that
// take longer to recompute.
func (g *Graph) refreshDomains(n *node) {
	for i := range g.stalls {
		s := &g.stalls[i]
		if n.domain != 0 && g.nodes[s.input].domain == n.domain && n.loss > 0 {
			s.loss = min(1, s.loss/n.loss) // the probability that the input is lost if n itself is lost
		}
	}
	slices.SortFunc(g.stalls, func(a, b stall) int {
		return cmp.Or(cmp.Compare(b.redo, a.redo), cmp.Compare(b.loss, a.loss),
			cmp.Compare(g.nodes[a.input].domain, g.nodes[b.input].domain), cmp.Compare(a.input, b.input))
	})
	g.group()
	n.redo, n.work = n.run, n.run
	present := 1.0 // the probability that none of the inputs so far is lost
	for i, s := range g.stalls {
		if s.loss == 0 || i > 0 && s.input == g.stalls[i-1].input {
			continue // the input is never lost, or is the same as the input before
		}
		n.work += float64(s.loss * g.nodes[s.input].work)
		before := g.before[i]
		if s.loss <= before {
			continue // whenever this input is lost, an input of its domain that takes longer is lost as well
		}
		if before > 0 {
			present /= 1 - before // now present is the probability for the inputs of other domains only
		}
		n.redo += float64(present * (s.loss - before) * s.redo)
		present *= 1 - s.loss
	}
}

// group computes Graph.before for each input that may be lost: the largest probability of loss among the inputs of
// the same domain that take longer to recompute.
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
