// Package assign is for a scheduler that clones tasks (see package clone) in jobs of several phases. The package
// decides which output a clone of a task should read, and how long it should wait for an output that no other
// clone of its task reads. The method is Dolly's delay assignment [Dolly §4].
//
// An upstream task is a task whose output other tasks read, and a downstream task is a task that reads it. Each
// upstream task and each downstream task has c clones. All clones of an upstream task have the same output. A
// downstream clone has an output of its own if no other clone of its task reads this output. A clone has two
// choices. It may read any finished output immediately, and share the bandwidth with other clones; the paper calls
// this contention cloning, CC. Or it may wait for an output of its own, and so for slow upstream clones; the paper
// calls this contention-avoidance cloning, CAC. With delay assignment the clone waits for at most a time ω, the
// window, and then shares an output.
//
// # Example
//
// A downstream clone reads one upstream task with two clones. The first upstream clone has finished, and another
// clone of the downstream task reads its output. The second upstream clone still runs. The clone that asks has
// waited for 1 s:
//
//	in := assign.Input{
//		Clones: []assign.Clone{{State: assign.Finished, Readers: 1}, {}},
//		Waited: time.Second,
//	}
//	fmt.Println(assign.Decide([]assign.Input{in}, 3*time.Second))
//	// wait window-open wait=2s
//
// The window of 3 s is not over, so the clone waits. The host asks again in 2 s, or when the second upstream clone
// finishes.
//
// # The window
//
// An output has r bytes. A clone that reads an output alone has the bandwidth B. Clones that read the same output
// have the bandwidth αB each. Let x = min(ω, r/B), and let each task have two clones. From the instant at which
// the first output is finished, a read takes this time:
//
//	                      with its own output, T_E    with a shared output, T_C
//	the first reader      r/B                         x + (r-Bx)/(αB)
//	the other reader      r/B + x                     2x + (r-Bx)/(αB)
//
// p_c(ω) is the probability that a clone gets no output of its own within the window ω. [ChooseWindow] computes
// the best window in three steps:
//
//  1. The expected time of a read is p_c(ω) T_C(ω) + (1 - p_c(ω)) T_E(ω).
//  2. The time T_i of clone i is the time of its reads plus the time of its computation. The task takes
//     E(min over i of T_i), the expected time of its fastest clone.
//  3. The best window is the ω with the smallest expected time of the task.
//
// ChooseWindow solves step 3 exactly, from samples of lags and of computation times. A lag is the time that a
// clone waited for an output of its own, and p_c(ω) is the share of lags that are longer than ω. [Model.At]
// returns all these numbers for any window. [WindowTable] collects samples for jobs of several sizes. [Pattern]
// says which upstream tasks a downstream task reads.
//
// # Symbols
//
//	ω         Outcome.Window          how long a clone waits for an output of its own
//	r, B, α   Model.Size, .Bandwidth, .Contention
//	p_c       Outcome.Sharing         from Model.Lags, or κ/ω with Model.InverseLag
//	T_E, T_C  Outcome.First, .Other   time of a read with its own output, and with a shared output
//	c         Model.Clones            clones of each task
//
// # Limits
//
// The model has one bandwidth and two kinds of readers. It is only as good as its samples. If a clone is killed or
// must share, its lag is known only to be longer than the time that it waited ([WindowTable.ObserveCut]). Like
// step 1 of the paper, the model uses the mean time of a clone's reads. It assumes that computation times are
// independent.
//
// # Cost and concurrency
//
// A decision takes tens of nanoseconds and does not allocate. To choose a window takes O(n log n) for n lags, and
// O(n m) for m computation times. Functions are safe for concurrent use. A [WindowTable] is not safe for
// concurrent use; each cluster needs its own.
//
// The simulated cluster in examples/internal/cluster/assign.go is a scheduler that you can copy from.
//
// Sources: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §4;
// Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958.
package assign
