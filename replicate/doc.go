// Package replicate says which outputs of a job to copy before they are lost, and which lost outputs to compute again
// before anyone asks for them.
//
// An intermediate output lies on the machine that made it. When it is lost, everything that needs it waits until its
// task has run again, and that task may first have to wait for lost inputs of its own. Copying every output would avoid
// that and slow all jobs; copying none makes a few jobs wait for very long.
//
// # The rules
//
// With r the probability that an output is lost, t the time its task runs and t_rep the time to copy it to another
// machine of its rack, an output is replicated iff
//
//	r t_redo > t_rep,  t_redo = t + E(the longest t_redo of its inputs that are lost)
//
// and the job has as many tokens as the output has bytes; a job is granted tokens for a tenth of what its tasks
// process. [Graph] works out the costs over the whole graph of a job, [Decide] and [Choose] compare, [DecideTarget]
// looks for the machine, [ByteBudget] keeps the tokens, [Losses] learns r, and [AllLost] is the r of an output with
// copies. What lies on one machine is lost together: [Output.Domain] says so.
//
// So what is copied is what is small, what lies on flaky machines, and what ends a long run of tasks whose outputs
// nobody copied: the cost accumulates along a chain, and falls back where a copy was made.
//
// Losses cluster by machine. [LossBursts] tells when a machine has begun to lose outputs, and how many more it then
// loses; what else it holds, and what is known to be lost, is recomputed ahead of need if no copy is left and tasks
// still wait for it ([DecideRecompute], [ChooseRecompute]), within a budget of cluster time ([TimeBudget]).
//
// # Symbols
//
//	r        Output.Loss           probability; of all copies together
//	t        Output.Run            duration
//	t_redo   Cost.Redo             duration; without the factor r of its own output
//	r t_redo Cost.Expected         duration; what the paper calls the cost to recompute
//	t_rep    Candidate.CopyTime    duration
//	tokens   ByteBudget            bytes
//
// # When it is wrong
//
// Losses in different domains are taken as independent given their probabilities, and the stall as that of the inputs'
// mean times. An input that is also an ancestor of another input breaks both; [Graph] says by how much. A probability
// is as good as its record: a new cluster has none, and what is assumed then is in [LossesConfig]. The time to redo
// leaves out waiting for a free slot. And an output is judged when its task ends, by what is known then; the host may
// ask again when a machine turns bad.
//
// # Cost and concurrency
//
// A Graph is linear in its edges, and sorts each task's inputs; the other calls are O(1) or O(n log n) in the
// candidates. Nothing recurses, so a chain may be of any length. Functions are safe for concurrent use; the types with
// a state are not. Times come from the host; what is learned over days can be saved and restored
// ([Losses.MarshalBinary]).
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/replicate.go.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §4.2, §5.3
// and §6.5.
package replicate
