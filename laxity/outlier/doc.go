// Package outlier says which workers stand apart: which of those that run tasks of one job are so overloaded that their
// laxity is far below that of the others. It works on any times, or numbers, of which a few may be much too low.
//
// The tasks of one job have about the same laxity on all workers. [LOF] measures how far each value stands apart from
// its nearest neighbours, by the local outlier factor over the l nearest:
//
//	reach_l(A, B) = max(l-distance(B), |A-B|)
//	lrd_l(A)      = |N_l(A)| / sum of reach_l(A, B) over B in N_l(A)    (equation 4)
//	LOF_l(A)      = mean of lrd_l(B)/lrd_l(A) over B in N_l(A)          (equation 5)
//
// [Detector] names the workers whose laxity is low and stands apart. The laxities come from laxity.PerWorker, and
// laxity.Offload says which of an overloaded worker's tasks to run elsewhere.
//
// # Symbols
//
//	l             Config.Neighbours, LOF's l   number of values
//	LOF > 1       Config.Threshold             2 here, see below
//	-             Config.Spread                median absolute deviations
//	-             Config.Resolution            duration
//
// # When it is wrong
//
// The factor compares densities, so it finds few workers among many: if half of all workers are overloaded, none
// stands apart, and with fewer neighbours than workers that are slow together, these are each other's neighbours and
// look normal.
//
// The paper marks each worker whose factor exceeds 1. Factors scatter around 1, so that marks most workers of a
// healthy cluster, those with the most time to spare included. The [Detector] looks at laxities far below the median
// only and asks for 2 by default, which is a choice; [Config] says how often it errs. [PaperThreshold] and Spread [Off]
// are there to compare.
//
// # Cost and concurrency
//
// O(n log n + n l); [Scorer] and [Detector] keep their memory and are not safe for concurrent use. Configurations are.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/overload.go.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §3.3; Breunig et al., "LOF: Identifying Density-Based Local Outliers", SIGMOD 2000.
package outlier
