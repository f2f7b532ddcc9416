// Package assign is delay assignment: which copy of an upstream output a clone of a downstream task reads, and how long
// it waits for one of its own before it shares one [Dolly §4].
//
// With c clones of an upstream task and c of a downstream one, each downstream clone would like an upstream output to
// itself. If it takes whatever is there (contention cloning, CC), the clones share a bandwidth; if it waits until it
// has its own (contention-avoidance cloning, CAC), it waits for stragglers. Delay assignment waits up to a window ω,
// and then shares. [Decide] tells one clone what to read now, [ChooseWindow] picks ω, [WindowTable] keeps the samples for
// several sizes of jobs, and [Pattern] says which outputs a task reads.
//
// # The window
//
// For an output of size r, a bandwidth B of one reader and αB of each of those that share, with x = min(ω, r/B) and c =
// 2:
//
//	                      gets its own, T_E    shares, T_C
//	the first to read     r/B                  x + (r-Bx)/(αB)
//	the other             r/B + x              2x + (r-Bx)/(αB)
//
//	read of one output    p_c(ω) T_C(ω) + (1 - p_c(ω)) T_E(ω)              step 1
//	T_i of clone i        the sum over its inputs, and its computation     step 2
//	the task              E(min over i of T_i)
//
// [ChooseWindow] returns the ω that minimises the last line, exactly, from samples of lags (of which p_c is the share above
// ω) and of computation times. [Model.At] gives all of these numbers for a window of one's own.
//
// # Symbols
//
//	ω         Outcome.Window          how long a clone waits for an output of its own
//	r, B, α   Model.Size, .Bandwidth, .Contention
//	p_c       Outcome.Sharing         from Model.Lags, or κ/ω with Model.InverseLag
//	T_E, T_C  Outcome.First, .Other   time of a read with one's own output, and with a shared one
//	c         Model.Clones            copies of each task
//
// # When it is wrong
//
// The model knows one bandwidth and two kinds of readers, and is as good as its samples: a clone that is killed, or
// told to share, has shown no lag ([WindowTable.ObserveLag]). It takes each clone's read times at their mean, as the
// paper's step 1 does, and computation times as independent.
//
// # Cost and concurrency
//
// A decision costs tens of nanoseconds and does not allocate. A window takes O(n log n) with n lags, and O(n m) with m
// computation times. Functions are safe for concurrent use; a [WindowTable] is not, and belongs to one cluster.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/assign.go.
//
// Sources: Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013 (Dolly), §4;
// Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958.
package assign
