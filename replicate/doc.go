// Package replicate is for an engine with tasks that leave intermediate outputs on local disks. It answers two
// questions. Which outputs should be copied to another machine before a loss? Which lost outputs should be computed
// again before a task asks for them?
//
// An intermediate output lies on the machine that made it. If the output is lost, every task that reads it waits
// until the output's own task has run again. This task may first have to wait for lost inputs. If every output is
// copied, no task waits, but all jobs are slow. If no output is copied, a few jobs wait for a very long time.
//
// # An example
//
// A task of 40 s has finished on a machine that loses every fourth output. Its input may be lost, too. A copy takes 6
// s. [Decide] prints
//
//	replicate saves-time saves=12.5s takes=6s bytes=60000000 tokens=80000000
//
// The output is expected to cost 12.5 s: a quarter of 40 s, plus a quarter of the 10 s that its lost input is
// expected to cost. The copy takes 6 s, and the budget covers the 60 MB of the output, so the output is copied.
//
// # The rules
//
// Let r be the probability that an output is lost, and let t be the run time of its task. A copy to another machine
// of the rack takes the time t_rep. An output is replicated if
//
//	r t_redo > t_rep,  t_redo = t + E(the longest t_redo of its inputs that are lost)
//
// and if the job has at least one token for each byte of the output. A job gets tokens for a tenth of the bytes that
// its tasks process.
//
//   - [Graph] computes the costs over the whole graph of a job.
//   - [Decide] and [Choose] compare costs with copy times and tokens.
//   - [DecideTarget] chooses the machine for the copy.
//   - [ByteBudget] counts the tokens.
//   - [Losses] learns r, and [AllLost] returns r for an output with copies.
//   - [Output.Domain] says which outputs lie on one machine and are lost together.
//
// So three kinds of outputs are copied: small outputs, outputs on unreliable machines, and outputs at the end of a
// long chain of outputs without copies. The cost grows along a chain. After a copy it falls.
//
// Losses cluster by machine. [LossBursts] says when a machine has begun to lose outputs, and how probable further
// losses are. An output that is lost, or that lies on such a machine, may be recomputed ahead of need. No other copy
// may exist, and tasks must still wait for the output ([DecideRecompute], [ChooseRecompute]). A budget limits the
// cluster time ([TimeBudget]).
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
//   - Losses in different domains count as independent. The stall uses the mean times of the inputs. Both assumptions
//     are wrong if an input is also an ancestor of another input; [Graph] says by how much.
//   - A probability is only as good as its record. For a new cluster [LossesConfig] holds the assumptions.
//   - The time to redo an output does not include the wait for a free slot.
//   - The host decides about an output when its task ends, from the facts of that moment. Decide again if the machine
//     becomes unreliable later.
//
// # Cost and concurrency
//
// A Graph takes linear time in its edges, and sorts the inputs of each task. The other calls take O(1), or O(n log n)
// for n candidates. No function is recursive, so a chain may have any length. Functions are safe for concurrent use.
// Types with state are not. Times come from the host. [Losses.MarshalBinary] saves the record of many days.
//
// The simulated cluster is a host to copy from: examples/internal/cluster/replicate.go.
//
// Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §4.2,
// §5.3 and §6.5.
package replicate
