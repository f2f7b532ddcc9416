package replicate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
)

// Graph keeps the outputs of a running job and what it costs to redo them: outputs are added as tasks finish, inputs
// before what reads them. The zero value is empty and ready for use. See [Redo] for the formula.
//
// Not safe for concurrent use; one per job.
type Graph struct {
	nodes  []node
	inputs []int // of all outputs, one after the other
	fresh  int   // the redo and work of nodes[:fresh] are up to date
	stalls []stall
	groups []int     // of the stalls, those of one domain together
	before []float64 // by stall: the largest loss of a longer one of the same domain
}

type node struct {
	run, loss  float64
	domain     int
	redo, work float64 // seconds
	first, end int     // its part of inputs
}

// stall is an input as the recomputation of its reader sees it.
type stall struct {
	redo, loss float64
	input      int
}

// Len returns how many outputs there are.
func (g *Graph) Len() int { return len(g.nodes) }

// Add adds the output of a task and returns its index, the number of outputs before it. The inputs are indices of
// outputs added before. An error names what is wrong with the output, and nothing is added. O(d) for d inputs; it
// allocates only as the graph grows.
func (g *Graph) Add(o Output) (int, error) {
	k := len(g.nodes)
	if err := o.validate(k); err != nil {
		return 0, err
	}
	for i, j := range o.Inputs {
		if j < 0 || j >= k {
			return 0, check.Bad("replicate", fmt.Sprintf("outputs[%d].Inputs[%d]", k, i), j, "an output added before")
		}
	}
	n := node{run: o.Run.Seconds(), loss: o.Loss, domain: o.Domain, first: len(g.inputs)}
	g.inputs = append(g.inputs, o.Inputs...)
	n.end = len(g.inputs)
	g.nodes = append(g.nodes, n)
	return k, nil
}

// SetLoss changes the probability that an output is lost, because it was replicated, because a copy is gone, or because
// its machine is trusted less. It reports whether it could: not if there is no such output or the loss is not in [0,
// 1]. The costs of outputs added later change too; the next call of Cost works them out again. O(1), no allocation.
func (g *Graph) SetLoss(k int, loss float64) bool {
	if k < 0 || k >= len(g.nodes) || !(loss >= 0 && loss <= 1) {
		return false
	}
	g.nodes[k].loss = loss
	g.fresh = min(g.fresh, k+1) // its own redo does not depend on its loss
	if g.nodes[k].domain != 0 {
		g.fresh = min(g.fresh, k) // except where it says which inputs are lost as well
	}
	return true
}

// Cost returns the cost of an output; the zero Cost if there is no such output. O(1) if nothing before it was added or
// changed since the last call, else linear in the edges from the first change on, and the inputs of each task are
// sorted. It allocates only when a task has more inputs than any before.
func (g *Graph) Cost(k int) Cost {
	if k < 0 || k >= len(g.nodes) {
		return Cost{}
	}
	for ; g.fresh <= k; g.fresh++ {
		g.refresh(&g.nodes[g.fresh])
	}
	n := &g.nodes[k]
	return Cost{
		Redo: duration(n.redo), Stall: duration(n.redo - n.run),
		Expected: duration(n.loss * n.redo), ClusterTime: duration(n.work),
	}
}

func (g *Graph) refresh(n *node) {
	g.stalls = g.stalls[:0]
	grouped := n.domain // not 0 if there are domains
	for _, j := range g.inputs[n.first:n.end] {
		g.stalls = append(g.stalls, stall{g.nodes[j].redo, g.nodes[j].loss, j})
		grouped |= g.nodes[j].domain
	}
	if grouped != 0 {
		g.refreshGrouped(n)
		return
	}
	if len(g.stalls) > 1 {
		slices.SortFunc(g.stalls, longestFirst)
	}
	n.redo, n.work = n.run, n.run
	there := 1.0 // the probability that all inputs so far are there
	for i, s := range g.stalls {
		if s.loss == 0 || i > 0 && s.input == g.stalls[i-1].input {
			continue // not lost, or the same input once more
		}
		n.redo += float64(there * s.loss * s.redo)
		n.work += float64(s.loss * g.nodes[s.input].work)
		there *= 1 - s.loss
	}
}

// longestFirst orders inputs so that the sums do not depend on how the outputs are numbered.
func longestFirst(a, b stall) int {
	return cmp.Or(cmp.Compare(b.redo, a.redo), cmp.Compare(b.loss, a.loss), cmp.Compare(a.input, b.input))
}

// duration converts seconds, which must be a number. It saturates.
func duration(seconds float64) time.Duration {
	d, _ := num.Duration(seconds)
	return d
}
