// Package replicate is for an engine with tasks that leave intermediate outputs on local disks. It answers two
// questions. Which outputs should be copied to another machine before they are lost? Which lost outputs should be
// computed again before a task asks for them?
//
// An intermediate output is stored on the machine that made it. If the output is lost, every task that reads it
// waits until the task that made the output has run again. This task may first have to wait for its own lost
// inputs. If every output is copied, no task waits, but all jobs are slow. If no output is copied, a few jobs wait
// for a very long time.
//
// # An example
//
// A task of 40 s has finished on a machine that loses every fourth output. The input of the task may be lost, too.
// A copy of the output takes 6 s. [Decide] prints
//
//	replicate saves-time saves=12.5s takes=6s bytes=60000000 tokens=80000000
//
// Without a copy, the output is expected to cost 12.5 s of waiting: a quarter of the 40 s, plus a quarter of the 10
// s that its lost input is expected to cost. The copy takes 6 s, and the budget of 80 million bytes covers the 60
// million bytes of the output. So the output is copied.
//
// # The rules
//
// Let r be the probability that an output is lost, and let t be the run time of its task. Let t_redo be the time to
// compute the output again, and let t_rep be the time of a copy to another machine of the rack. An output is
// replicated if
//
//	r t_redo > t_rep,  t_redo = t + E(the longest t_redo of its inputs that are lost)
//
// and if the job's budget has a token for each byte of the output. For each finished task, the budget receives
// tokens for a tenth of the bytes that the task has processed.
//
//   - [Graph] computes the costs over the whole graph of a job.
//   - [Decide] and [Choose] compare costs with copy times and tokens.
//   - [DecideTarget] chooses the machine for the copy.
//   - [ByteBudget] is the budget of tokens.
//   - [Losses] learns r, and [AllLost] computes r for an output with several copies.
//   - [Output.Domain] says which outputs are on one machine and are lost together.
//
// So three kinds of outputs are copied: small outputs, outputs on unreliable machines, and outputs at the end of a
// long chain of outputs without copies. Along such a chain, the cost of a loss grows from output to output. After
// an output that has a copy, the cost is low again.
//
// If a machine has lost one output, it often loses more. [LossBursts] says when a machine has begun to lose
// outputs, and how probable further losses are. An output that is lost, or that is stored on such a machine, may be
// recomputed before a task asks for it. [DecideRecompute] and [ChooseRecompute] do so only if no other copy exists
// and tasks still need the output. The budget [TimeBudget] limits the cluster time of recomputations.
//
// # Symbols
//
//	r        Output.Loss           probability that all copies are lost
//	t        Output.Run            duration
//	t_redo   Cost.Redo             duration, without the factor r of the output itself
//	r t_redo Cost.Expected         duration; the paper's cost to recompute
//	t_rep    Candidate.CopyTime    duration
//	tokens   ByteBudget            bytes
//
// # Limits of the method
//
//   - Losses in different domains are treated as independent. The computation of the wait for lost inputs uses the
//     mean time of each input. Both assumptions are wrong if an input is also an ancestor of another input; the
//     comment of [Graph] says by how much.
//   - A probability of loss is only as good as the record from which it is computed. For a new cluster, it is an
//     assumption of [LossesConfig].
//   - The time to recompute an output does not include the wait for a free slot.
//   - The host decides about an output when its task ends, from the facts at this moment. If the machine becomes
//     unreliable later, the host should decide again.
//
// # Cost and concurrency
//
// A Graph takes linear time in its edges, and sorts the inputs of each task. The other calls take O(1), or O(n log
// n) for n candidates. No function is recursive, so a chain may have any length. Functions are safe for concurrent
// use. Types with state are not. Times come from the host. [Losses.MarshalBinary] saves the record of many days.
//
// The simulated cluster is a host to copy from: examples/internal/cluster/replicate.go.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §4.2,
// §5.3 and §6.5.
package replicate
