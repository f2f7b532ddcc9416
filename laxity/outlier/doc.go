// Package outlier is for a scheduler that must find overloaded workers. The laxity of a worker is the time that
// its most urgent task may still wait and meet its deadline. The package compares the laxities of all workers that
// run tasks of one job. It reports each worker whose laxity is far below the laxities of the other workers. You
// can also use the package for other lists of durations or numbers, if a few of the numbers may be much too low.
//
// # Example
//
// Nine workers run tasks of a job. Most laxities are near 1.65 s, the laxity of worker 4 is 0.42 s, and the laxity
// of worker 8 is 2.4 s:
//
//	verdicts := detector.Detect(nil, laxities)
//	fmt.Println(verdicts[4])
//	// overloaded stands-apart laxity=0.42s bar=1.5835s lof=124.197 threshold=2
//	fmt.Println(verdicts[8])
//	// fine not-low laxity=2.4s bar=1.5835s lof=78.3103 threshold=2
//
// Worker 4 is overloaded, because two conditions are true. Its laxity is below the limit of 1.5835 s, called bar.
// And its local outlier factor of 124 is larger than the threshold of 2. Worker 8 also has a large factor, but its
// laxity is not low.
//
// # The local outlier factor
//
// The tasks of one job have similar laxities on all workers. The local outlier factor of a value A compares two
// distances: the distance from A to its neighbours, and the distances between its neighbours. [LOF] computes it.
// The neighbours N_l(A) are the l values that are nearest to A, and l-distance(B) is the distance from B to its
// l-th nearest value:
//
//	reach_l(A, B) = max(l-distance(B), |A-B|)
//	lrd_l(A)      = |N_l(A)| / sum of reach_l(A, B) over B in N_l(A)    (equation 4)
//	LOF_l(A)      = mean of lrd_l(B)/lrd_l(A) over B in N_l(A)          (equation 5)
//
// [Detector] reports the workers with a low laxity and a large factor. The function laxity.PerWorker computes the
// laxities. The function laxity.Offload decides which tasks of an overloaded worker should run on other workers.
//
// # Symbols
//
//	l             Config.Neighbours, LOF's l   number of neighbours
//	LOF > 1       Config.Threshold             2 by default here, see below
//	-             Config.Spread                number of median absolute deviations
//	-             Config.Resolution            duration
//
// # Limits
//
// The factor compares how close together values are, so it finds a few workers among many. If half of all workers
// are overloaded, the Detector reports no worker. If the number of neighbours is smaller than the number of
// overloaded workers, these workers are neighbours of each other and seem normal.
//
// The paper reports each worker with a factor above 1. In a healthy cluster factors are scattered around 1. So
// this rule reports most workers of a healthy cluster, even workers with the largest laxities. The [Detector]
// reports only workers whose laxity is far below the median. Its default threshold of 2 is a choice of this
// package. The comment of [Config] says how often it reports a healthy worker. To get the rule of the
// paper, use [PaperThreshold] and a Spread of [Off].
//
// # Cost and concurrency
//
// The cost is O(n log n + n l) for n values and l neighbours. A [Scorer] or a [Detector] uses its memory again in
// later calls, and is not safe for concurrent use. Configurations are safe for concurrent use.
//
// The simulated cluster in examples/internal/cluster/overload.go is a scheduler that you can copy from.
//
// Sources: Zacheilas and Kalogeraki, "Real-Time Scheduling of Skewed MapReduce Jobs in Heterogeneous
// Environments", ICAC 2014 (DynamicShare), §3.3; Breunig et al., "LOF: Identifying Density-Based Local Outliers",
// SIGMOD 2000.
package outlier
