// Package outlier is for a scheduler that wants to find overloaded workers. The package compares the laxities of one
// job's tasks on all workers. The package names each worker with an outlying laxity, far below the laxities of the
// other workers. The package works for any list of durations or numbers in which a few may be much too low.
//
// # Example
//
// Nine workers run tasks of a job. Most laxities are near 1.65 s, the laxity of worker 4 is 0.42 s, and the laxity of
// worker 8 is 2.4 s:
//
//	verdicts := detector.Detect(nil, laxities)
//	fmt.Println(verdicts[4])
//	// overloaded stands-apart laxity=0.42s bar=1.5835s lof=124.197 threshold=2
//	fmt.Println(verdicts[8])
//	// fine not-low laxity=2.4s bar=1.5835s lof=78.3103 threshold=2
//
// Worker 4 is overloaded for two reasons: its laxity is below the bar of 1.5835 s, and its local outlier factor of 124
// exceeds the threshold of 2. Worker 8 has a large factor too, but its laxity is not low.
//
// # The local outlier factor
//
// The tasks of one job have similar laxities on all workers. [LOF] measures how far a value A is from its neighbours,
// compared with the distances between the neighbours. The neighbours N_l(A) are the l nearest values:
//
//	reach_l(A, B) = max(l-distance(B), |A-B|)
//	lrd_l(A)      = |N_l(A)| / sum of reach_l(A, B) over B in N_l(A)    (equation 4)
//	LOF_l(A)      = mean of lrd_l(B)/lrd_l(A) over B in N_l(A)          (equation 5)
//
// [Detector] names the workers with a low laxity and a large factor. The laxities come from laxity.PerWorker. The function
// laxity.Offload says which tasks of an overloaded worker should run elsewhere.
//
// # Symbols
//
//	l             Config.Neighbours, LOF's l   number of values
//	LOF > 1       Config.Threshold             2 by default here, see below
//	-             Config.Spread                number of median absolute deviations
//	-             Config.Resolution            duration
//
// # Limits
//
// The factor compares densities, so it finds a few workers among many. If half of all workers are overloaded, the detector
// names no worker. If the number of neighbours is smaller than the number of overloaded workers, these workers are each
// other's neighbours and seem normal.
//
// The paper names each worker with a factor above 1. Factors scatter around 1, so this rule names most workers of a healthy
// cluster, also workers with the largest laxities. The [Detector] names only workers with a laxity far below the median.
// Its default threshold of 2 is a choice of this package. The comment of [Config] states how often it errs. To compare
// with the paper's rule, set [PaperThreshold] and a Spread of [Off].
//
// # Cost and concurrency
//
// The cost is O(n log n + n l) for n values. [Scorer] and [Detector] reuse their memory and are not safe for concurrent use.
// Configurations are safe.
//
// A host to copy from is the simulated cluster: examples/internal/cluster/overload.go calls this package.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous Environments",
// ICAC 2014 (DynamicShare), §3.3; Breunig et al., "LOF: Identifying Density-Based Local Outliers", SIGMOD 2000.
package outlier
