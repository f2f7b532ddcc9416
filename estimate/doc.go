// Package estimate estimates how long tasks take. A scheduler uses the package to know how long a running attempt
// of a task still needs (the remaining time, t_rem), and how long a new attempt would take (the fresh time, t_new).
// The remaining time is returned as a duration. The fresh time is returned as a probability distribution, in
// seconds.
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
// [Linear] is the model of the Mantri paper. If an attempt has read d_read of its d units of work in t seconds, the
// attempt still needs
//
//	t_rem = t (d - d_read)/d_read + t_wrapup
//
// Here t_wrapup is the wrap-up time: the time from the last unit read to the end of the attempt. In place of
// d_read/t, Linear uses a moving average over the progress reports. Linear assumes that a silent attempt, which
// sends no reports, stopped at its last report. Equation 2 of the paper prints t d/d_read, which is the total time
// and not the remaining time. [WrapUp] learns the wrap-up time from finished tasks.
//
// [TimeLeft] is the heuristic of the LATE paper, (1-score)/(score/t). Here score is the share of the task that is
// done, and t is the age of the attempt. TimeLeft is wrong if a task changes its speed between its subphases, as
// Figure 2 of the LATE paper shows. The paper sketches a remedy, a model with one rate for each subphase.
// [TimeLeftBySubphase] implements that model.
//
// # Fresh time
//
// [Fresh] is equation 3 of the Mantri paper as a distribution:
//
//	t_new = processRate * locationFactor * d + schedLag
//
// Here processRate is the time for one unit of work, and d is the number of units. The location factor is how many
// times longer a task takes on this machine than on average. The scheduling lag (schedLag) is the time between the
// decision to start an attempt and its start. The process rate can come from four sources:
//
//   - [UnitTimes], which learns the process rate from the tasks of a phase
//   - the host's own expectation
//   - package knn below this package, which looks up past runs of similar tasks
//   - any value of gonum's package distuv that describes seconds per unit of work
//
// The location factor comes from package machines below this package, which keeps a record of each machine. With
// that record, UnitTimes converts each sample to the time that an average machine would have taken.
//
// [Empirical] is the exact distribution of a set of samples that changes. Empirical inserts, deletes, ranks and
// finds quantiles in O(log n).
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
// not safe for concurrent use, and each value of such a type belongs to one phase. No function here reads a clock:
// each time is the age of an attempt, and the host passes the age in.
//
// An example to copy from is examples/internal/cluster/estimate.go, where the simulated cluster asks this package.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4.
package estimate
