// Package rules holds the rules of other engines and papers about slow tasks, each with its published defaults and its
// strictness at the boundary, as values of [restart.Policy]: to compare with, or because they need less than Mantri does.
//
//	policy     copies a task                                                          needs
//	LATE       with the longest time to end, if it is slow and the machine is not  progress
//	Hadoop     whose score lags the mean by 0.2                                    progress
//	MapReduce  once the phase is nearly over                                       nothing
//	Dryad      that has run longer than three quarters of the finished ones took   ends
//	Spark      that has run 3 times the median of the finished ones                ends
//	Flink      that has run 1.5 times the median for its work                      ends
//	SDA        that still needs 1.7 times what a new copy takes, if none waits     progress, or ends
//	ESE        the same, whether tasks wait or not                                 progress, or ends
//
// None of them kills what runs, and each makes one copy at most. [Parse] reads one from a command line or a
// configuration, those of package restart included, and [Text] writes it. [Describe] says which facts a policy reads.
//
// # When they are wrong
//
// All of them take a task with more data than its peers for a straggler, except Flink, SDA and ESE, which are given the
// work, and Spark where it sees how much is done. LATE, Hadoop and Flink do nothing about a task that is younger than a minute,
// which is right for the papers' tasks and a trap for tasks of seconds: see their MinAge and LowerBound.
//
// If an attempt hangs for ever and its copy hangs too, the task never ends, and both keep their slots: give every
// attempt a hard timeout of your own.
//
// # Costs and concurrency
//
// A decision costs at most two quantiles of the facts, and does not allocate. All of it is immutable and safe for
// concurrent use.
//
// Sources: Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE, and
// Hadoop's rule); Dean and Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004;
// Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §6.1 (Dryad); the
// source code of Spark and Flink; Xu and Lau, arXiv 1406.0609, 2014 (SDA and ESE).
package rules
