// Package rules implements the rules of other engines and papers about slow tasks, as values of [restart.Policy]. Use
// it to compare your policy with these rules. Use it also if your engine reports too little for the policies of
// package restart. Each rule has its published defaults. Whether a value equal to a threshold is enough is also as
// published.
//
//	policy     copies a task ...                                      needs
//	LATE       with the longest time to end, if the task is slow      progress
//	Hadoop     with a score that is 0.2 behind the mean               progress
//	MapReduce  that still runs when 9 in 10 tasks have finished       nothing
//	Dryad      that has run longer than 3 in 4 finished tasks         ends
//	Spark      that has run 3 times the median of the finished tasks  ends
//	Flink      that has run 1.5 times the median for its work         ends
//	SDA        that needs 1.7 times a new copy's time, if none waits  progress, or ends
//	ESE        that needs 1.7 times a new copy's time                 progress, or ends
//
// An example: three tasks have finished after 10 s each. Spark copies the fourth task as soon as it has run for more
// than 30 s.
//
// No rule kills an attempt, and each rule makes at most one copy of a task. [Parse] reads a policy from a command
// line or a configuration; it also reads the policies of package restart. [Text] writes a policy. [Describe] returns
// the facts that a policy reads.
//
// # When they are wrong
//
// Most rules take a task with more data than other tasks for a straggler. Flink, SDA and ESE do not, because they use
// the work of each task. Spark does not if progress is known.
//
// LATE, Hadoop and Flink ignore an attempt that is younger than a minute. This is right for the tasks of the papers,
// and wrong for tasks that take seconds: see the fields MinAge and LowerBound.
//
// If an attempt hangs for ever and its copy hangs, too, the task never ends, and both attempts keep their slots. So
// give every attempt a hard timeout of your own.
//
// # Costs and concurrency
//
// A decision computes at most two quantiles of the facts and does not allocate. All values are immutable and safe for
// concurrent use.
//
// Sources: Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE, and
// Hadoop's rule); Dean and Ghemawat, "MapReduce: Simplified Data Processing on Large Clusters", OSDI 2004;
// Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §6.1 (Dryad);
// the source code of Spark and Flink; Xu and Lau, arXiv 1406.0609, 2014 (SDA and ESE).
package rules
