// Package estimate says how long: how long a running copy of a task still needs (t_rem), and how long a new copy would
// take (t_new), in seconds and as a distribution.
//
// # Remaining time
//
// [Linear] is the model of Mantri: a copy that has read d_read of its d units of work in t seconds needs
//
//	t_rem = t (d - d_read)/d_read + t_wrapup
//
// more, where a moving average over the reports takes the place of d_read/t, and a copy that falls silent is taken to
// have stopped at its last report. (Equation 2 of the paper prints t d/d_read, which is the total, not the rest.)
// [WrapUp] learns t_wrapup from finished tasks.
//
// [TimeLeft] is LATE's heuristic, (1-score)/(score/t). It errs when a task changes its speed between its subphases, as
// LATE's own Figure 2 shows; [TimeLeftBySubphase] is the per-subphase model that the paper sketches to mend that.
//
// # A new copy's time
//
// [Fresh] is Mantri's equation 3 as a distribution:
//
//	t_new = processRate * locationFactor * d + schedLag
//
// The process rate comes from [UnitTimes], which learns it from the tasks of a phase; from a host's own expectation;
// from past runs of tasks like it, by package knn below this one; or from any value of gonum's distuv that describes
// seconds per unit of work. The location factor comes from package machines below this one, the record of what is known
// of each machine; with it, UnitTimes counts its samples as if they had been taken on an average machine.
//
// [Empirical] is the exact distribution of a changing set of samples: insert, delete, rank and quantile in O(log n).
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
// A linear model is as good as the work is even: a task whose last percent is its hardest looks fast until it gets
// there. [UnitTimes] describes the tasks that were seen; a phase whose first tasks are its quickest looks faster than
// it is. An estimate that cannot be made is [Unknown], never zero.
//
// Configurations and distributions that are not changed are safe for concurrent use; what learns is not, and belongs
// to one phase. Nothing here reads a clock: a time is the age of a copy, given by the host.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/estimate.go.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4.
package estimate
