// Package causes says why the tasks of a phase were slow, and what that cost.
//
// A copy helps a task whose machine is slow. It is wasted on one that has more to read than the others, on one whose
// input comes over a crowded link, and on one that waits for lost input to be made again. [Explain] tells these apart:
//
//	report := causes.Explain(causes.Phase{Tasks: tasks})
//	for _, o := range report.Outliers {
//		fmt.Println(o) // task=17 machine took=31s expected=10s times=3.1 machine=0.97 unknown=0.03 ...
//	}
//
// # The rule
//
// An outlier takes over 1.5 times the median of its phase [Mantri §4.1]. A phase's model is the time that bytes
// explain,
//
//	expected = base + a*bytes + b*remote        a, b and base not below 0
//
// fitted by least squares of the relative error to the tasks that are not far beyond it, and a task within 20 % of it
// is explained [Mantri §4.2, footnote 3; the paper fits all tasks alike, and so to the very outliers that are to be
// explained]. What an outlier takes beyond the median is shared out: what it waited for lost input; what its bytes,
// its bytes from other racks and its cohort add to the model; and of the rest, what the tasks beside it took beyond
// their own model, those on its machine and those that began when it did. Nothing is blamed on a machine or a moment
// for a task that is explained, nor by its own time: the other tasks there must be slow, by more of them than chance
// would have it.
//
// [Charge] takes many phases and says what the slowest tasks cost against the mean, and whether machines, the division
// of the work or the data are at fault. A machine is at fault by the median over phases of its ratio to its cohort: a
// mean would name whatever had one very bad day.
//
// # Symbols
//
//	expected    Outlier.Expected       duration
//	a, b, base  Model                  seconds a byte, seconds
//	1.5         Config.Outlier         times the median
//	20 %        Config.Residual        share of the expected time
//	ratio       Suspect.Ratio          of time to expected time
//
// # When it is wrong
//
// It sees only facts that the host has: a slow disk and a noisy neighbour are both the machine, a task that computes
// more for every byte is unknown, and bytes that grow faster than in proportion (a join, a sort) explain less than they
// should. The model needs tasks that differ in bytes. A machine needs other tasks in the phase, three of them slow
// where slow tasks are rare, or a record in [Phase.Factor]; where one moment holds one machine only, the two cannot be
// told apart and the machine is named. A first wave that runs cold looks like a busy moment. If most of a phase is
// slow, that is what is normal.
//
// # Cost and concurrency
//
// O(n) for n tasks, about 150 ns each, and some 100 bytes a task while it runs. Beyond 8192 tasks the model is fitted
// to a fixed sample of about that size. Nothing is kept between calls; all of it is safe for concurrent use.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §4.1,
// §4.2 and figure 8; Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013
// (Dolly), §2.1.1, for the slowdown ratio. The papers classify by hand where it comes to machines and moments; the
// tests are this package's.
package causes
