// Package estimate estimates how long tasks take. A scheduler uses the package to know how long a running attempt
// of a task still needs (t_rem), and how long a new attempt would take (t_new). The first estimate is a duration.
// The second is a distribution, in seconds.
//
// An attempt that has done 25 of its 100 units of work after 40 s needs another 120 s. In a phase with ten finished
// attempts of 55 s each, a new attempt takes 55 s:
//
//	var p estimate.Progress
//	var model estimate.Linear
//	model.Report(&p, 40*time.Second, 25)
//	model.Remaining(&p, 40*time.Second, 100) // 2m0s
//
//	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
//	for range 10 {
//		times.Finish(estimate.NoSample, estimate.Run{Age: 55 * time.Second, Work: 100})
//	}
//	estimate.Fresh{UnitTime: times, Work: 100}.Expected() // 55s
//
// # Remaining time
//
// [Linear] is Mantri's model. If an attempt has read d_read of its d units of work in t seconds, it still needs
//
//	t_rem = t (d - d_read)/d_read + t_wrapup
//
// In place of d_read/t, Linear uses a moving average over the reports. Linear assumes that a silent attempt stopped
// at its last report. Equation 2 of the paper prints t d/d_read, which is the total time and not the remaining
// time. [WrapUp] learns t_wrapup from finished tasks.
//
// [TimeLeft] is LATE's heuristic, (1-score)/(score/t). TimeLeft is wrong if a task changes its speed between its
// subphases, as LATE's own Figure 2 shows. The paper sketches a model by subphase against this error, and
// [TimeLeftBySubphase] implements it.
//
// # Fresh time
//
// [Fresh] is Mantri's equation 3 as a distribution:
//
//	t_new = processRate * locationFactor * d + schedLag
//
// The process rate can come from four sources:
//
//   - [UnitTimes], which learns it from the tasks of a phase
//   - the host's own expectation
//   - package knn below this package, which looks up past runs of similar tasks
//   - any value of gonum's distuv that describes seconds per unit of work
//
// The location factor comes from package machines below this package, which keeps a record of each machine. With
// that record, UnitTimes converts each sample to the time that an average machine would have taken.
//
// [Empirical] is the exact distribution of a changing set of samples. Empirical inserts, deletes, ranks and finds
// quantiles in O(log n).
//
// # Symbols
//
//	t_rem       Linear.Remaining, TimeLeft, TimeLeftBySubphase  duration
//	t_new       Fresh                                           seconds
//	d, d_read   work, done                                      units that the host chooses: bytes, records, a share
//	processRate UnitTimes                                       seconds per unit of work
//	schedLag    Fresh.Lag                                       duration
//	t_wrapup    WrapUp                                          duration
//
// # When it is wrong
//
// A linear model assumes that all parts of the work take equally long. If the last percent of a task is its
// hardest, the model expects the task to end soon until the task gets there. [UnitTimes] describes the tasks that
// have run so far. If the first tasks of a phase are its quickest, the phase looks faster than it is. If no
// estimate can be made, the answer is [Unknown] and never zero.
//
// Configurations are safe for concurrent use, and so are distributions that nobody changes. Types that learn are
// not safe for concurrent use, and each of them belongs to one phase. No function here reads a clock: each time is
// the age of an attempt, and the host passes it in.
//
// An example to copy from is examples/internal/cluster/estimate.go, where the simulated cluster asks this package.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4.
package estimate
