package replicate

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/wire"
)

// Output is what a task left for others to read, as the host knows it.
type Output struct {
	// Run is t, how long the task takes when its inputs are at hand. It must not be negative.
	Run time.Duration
	// Loss is r, the probability in [0, 1] that no copy of the output is left when it is wanted. [Losses] learns it for
	// one machine; [AllLost] combines the copies.
	Loss float64
	// Domain is the failure domain: outputs of the same one are lost together, the least safe first, and those of
	// different ones independently. Outputs whose only copy is on one machine are of one domain: pass the machine's
	// number plus 1, or that of its rack if racks fail as a whole. 0, the paper's rule, is a domain of its own.
	Domain int
	// Inputs are the outputs that the task reads, by their indices. One that is named twice counts once.
	Inputs []int
}

// Cost is what it takes to have an output again, in expectation.
type Cost struct {
	// Redo is t_redo, the time from the output's loss being noticed until it is there again: Run, and the Stall before
	// it while lost inputs are recomputed.
	Redo, Stall time.Duration
	// Expected is Loss times Redo, what the next phase must expect to wait: the cost to recompute of the paper.
	Expected time.Duration
	// ClusterTime is what a recomputation takes, that of lost inputs included, which run in parallel. An
	// output that several lost inputs need counts for each of them, so this errs on the high side.
	ClusterTime time.Duration
}

func (k *Cost) wire(c *wire.Codec) {
	c.When(true).Duration("redo", &k.Redo)
	c.When(true).Duration("stall", &k.Stall)
	c.When(true).Duration("expected", &k.Expected)
	c.When(true).Duration("cluster-time", &k.ClusterTime)
}

// String returns the cost as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (k Cost) String() string                   { return wire.Line(k.wire) }
func (k Cost) LogValue() slog.Value             { return wire.Log(k.wire) }
func (k Cost) MarshalJSON() ([]byte, error)     { return wire.JSON(k.wire) }
func (k *Cost) UnmarshalJSON(data []byte) error { return wire.Read(data, k, (*Cost).wire) }
func (k *Cost) UnmarshalText(line []byte) error { return wire.Scan(line, k, (*Cost).wire) }

// AllLost returns the probability that all copies of an output are lost: the product of their machines' probabilities,
// taking machines to fail independently [Mantri §5.3, Figure 11b]. Without a copy it is 1.
func AllLost(losses ...float64) float64 {
	all := 1.0
	for _, loss := range losses {
		all *= loss
	}
	return all
}

// Redo returns the cost of every output of a job's graph, in whatever order the outputs are listed
// [Mantri §5.3, Figure 11]:
//
//	Redo_k = Run_k + Stall_k
//	Stall_k = sum over inputs j, longest Redo_j first, of Redo_j Loss_j (product of 1 - Loss_i over i before j)
//	Expected_k = Loss_k Redo_k
//
// The stall is the expected maximum over the lost inputs: they are recomputed in parallel and the longest stalls
// (footnote 7). For one input it is Loss_j Redo_j, the chain of the figure; the formula for several is derived from the
// prose, since the figure gives none. It takes every Redo_j at its mean and losses as independent, as the paper does.
// That is exact for chains and for inputs that never stall themselves. Elsewhere it errs, mostly upwards where inputs
// have ancestors in common: in random graphs of up to eight outputs by at most 3 % if no Loss is above 0.02, 18 % for
// 0.2, and 81 % for any Loss.
//
// Losses cluster by machine [Mantri §4.2]: outputs of one [Output.Domain] are lost together. Of the inputs of a domain,
// j then adds to the stall only by how much its Loss exceeds that of those before j, since it is missing whenever one
// of a smaller Loss is. And an input of the domain of the lost output itself is lost with the probability Loss_j /
// Loss_k, or for sure if that is above 1: what was read from one's own disk is gone with it. The paper leaves this out.
// It is exact for one level of inputs. A graph that comes back to a machine by way of another is off by half at most in
// random graphs of up to six outputs, and by 0.4 % in the mean, where losses taken as independent are off by 1 to 7 %.
//
// An error names the output and what is wrong with it: a negative Run, a Loss outside [0, 1], an input that does not
// exist, or a cycle. O(E log d) for E edges and at most d inputs a task, no recursion;
// it allocates. A host that learns of
// outputs as tasks finish keeps a [Graph] instead.
func Redo(outputs []Output) ([]Cost, error) {
	order, err := topological(outputs)
	if err != nil {
		return nil, err
	}
	edges := 0
	for k := range outputs {
		edges += len(outputs[k].Inputs)
	}
	g := Graph{nodes: make([]node, 0, len(outputs)), inputs: make([]int, 0, edges)}
	at := make([]int, len(outputs)) // where an output is in the graph
	var inputs []int
	for _, k := range order {
		inputs = inputs[:0]
		for _, j := range outputs[k].Inputs {
			inputs = append(inputs, at[j])
		}
		at[k] = g.Len()
		if _, err := g.Add(Output{
			Run: outputs[k].Run, Loss: outputs[k].Loss, Domain: outputs[k].Domain, Inputs: inputs,
		}); err != nil {
			return nil, err
		}
	}
	costs := make([]Cost, len(outputs))
	for k := range costs {
		costs[k] = g.Cost(at[k])
	}
	return costs, nil
}

// check reports the first output that cannot be used; cycles are found later.
func validate(outputs []Output) error {
	for k, o := range outputs {
		if err := o.validate(k); err != nil {
			return err
		}
		for i, j := range o.Inputs {
			if j < 0 || j >= len(outputs) {
				return check.Badf("replicate", fmt.Sprintf("outputs[%d].Inputs[%d]", k, i), j, "an index below %d", len(outputs))
			}
		}
	}
	return nil
}

func (o *Output) validate(k int) error {
	if o.Run < 0 {
		return check.Bad("replicate", check.At("outputs", k, "Run"), o.Run, "0 or more")
	}
	if !(o.Loss >= 0 && o.Loss <= 1) {
		return check.Bad("replicate", check.At("outputs", k, "Loss"), o.Loss, "a probability in [0, 1]")
	}
	return nil
}

// topological returns the outputs in an order in which inputs come before what reads them.
func topological(outputs []Output) ([]int, error) {
	if err := validate(outputs); err != nil {
		return nil, err
	}
	missing := make([]int, len(outputs)) // inputs that are not in the order yet
	first := make([]int, len(outputs)+1) // readers of output j are readers[first[j]:first[j+1]]
	for k := range outputs {
		missing[k] = len(outputs[k].Inputs)
		for _, j := range outputs[k].Inputs {
			first[j+1]++
		}
	}
	for j := range outputs {
		first[j+1] += first[j]
	}
	readers, next := make([]int, first[len(outputs)]), make([]int, len(outputs))
	copy(next, first)
	order := make([]int, 0, len(outputs))
	for k := range outputs {
		for _, j := range outputs[k].Inputs {
			readers[next[j]] = k
			next[j]++
		}
		if missing[k] == 0 {
			order = append(order, k)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, k := range readers[first[order[i]]:first[order[i]+1]] {
			if missing[k]--; missing[k] == 0 {
				order = append(order, k)
			}
		}
	}
	if len(order) < len(outputs) {
		return nil, cycle(outputs, missing)
	}
	return order, nil
}

// cycle names an edge of a cycle: every output with missing inputs has one among the others of its kind, so following
// those leads round in the end.
func cycle(outputs []Output, missing []int) error {
	k, seen := 0, make([]bool, len(outputs))
	for missing[k] == 0 {
		k++
	}
	for {
		seen[k] = true
		for i, j := range outputs[k].Inputs {
			if missing[j] == 0 {
				continue
			}
			if seen[j] {
				return check.Bad("replicate", fmt.Sprintf("outputs[%d].Inputs[%d]", k, i), j, "one that does not need it: a cycle")
			}
			k = j
			break
		}
	}
}
