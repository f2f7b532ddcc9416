// Package assign is for a scheduler that clones tasks (package clone) in jobs of several phases. The package says
// which upstream output a clone of a downstream task should read, and how long the clone should wait for an output of
// its own. The method is Dolly's delay assignment [Dolly §4].
//
// Each upstream task has c clones, and each downstream task has c clones. Every upstream clone that finishes has the same
// output. A downstream clone has an output of its own if no other clone of its task reads that output. If the clone takes
// any finished output, the clones share its bandwidth; the paper calls this contention cloning, CC. If the clone waits for
// an output of its own, it waits for stragglers; the paper calls this contention-avoidance cloning, CAC. Delay assignment
// waits for at most a window ω and then shares.
//
// # Example
//
// A downstream clone reads one upstream task with two clones. The first upstream clone has finished, and another
// clone of the downstream task reads its output. The second upstream clone still runs. The clone that asks has waited
// for 1 s so far:
//
//	in := assign.Input{
//		Clones: []assign.Clone{{State: assign.Finished, Readers: 1}, {}},
//		Waited: time.Second,
//	}
//	fmt.Println(assign.Decide([]assign.Input{in}, 3*time.Second))
//	// wait window-open wait=2s
//
// The window of 3 s is still open, so the clone waits. The host asks again in 2 s, or when the second upstream clone
// finishes.
//
// # The window
//
// An output has r bytes. A single reader has the bandwidth B. Each of several readers has the bandwidth αB. With
// x = min(ω, r/B) and c = 2, a read takes this time from the first finished output on:
//
//	                      with its own output, T_E    with a shared output, T_C
//	the first reader      r/B                         x + (r-Bx)/(αB)
//	the other reader      r/B + x                     2x + (r-Bx)/(αB)
//
// The probability p_c(ω) says that a clone gets no output of its own within the window. [ChooseWindow] computes in three
// steps:
//
//  1. The expected time of a read is p_c(ω) T_C(ω) + (1 - p_c(ω)) T_E(ω).
//  2. The time T_i of clone i is the sum of its reads and its computation. The task takes E(min over i of T_i).
//  3. The best window is the ω with the smallest expected time of the task.
//
// ChooseWindow solves step 3 exactly, from samples of lags and of computation times. p_c(ω) is the share of lags above ω.
// [Model.At] returns all these numbers for any window. [WindowTable] keeps samples for several sizes of jobs. [Pattern]
// says which upstream outputs a task reads.
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
// The model has one bandwidth and two kinds of readers, and is only as good as its samples. A clone that is killed,
// or must share, shows only a lower bound of its lag ([WindowTable.ObserveCut]). The model uses the mean read time of
// each clone, as the paper's step 1 does. The model takes computation times as independent.
//
// # Cost and concurrency
//
// A decision costs tens of nanoseconds and does not allocate. A window costs O(n log n) for n lags, and O(n m) for m
// computation times. Functions are safe for concurrent use. A [WindowTable] is not safe; each cluster needs its own.
//
// A host to copy from is the simulated cluster: examples/internal/cluster/assign.go calls this package.
//
// Sources: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §4;
// Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958.
package assign
