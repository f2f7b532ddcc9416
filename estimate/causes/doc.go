// Package causes explains why tasks of a phase were slow, and how much time the slow tasks cost. Use it after a
// phase has run, to find out which remedy would have helped.
//
// A copy helps a task on a slow machine. A copy is wasted on a task that has more to read than the others, or reads
// over a crowded link. A copy is also wasted on a task that waits until lost input is computed again. [Explain]
// distinguishes these causes:
//
//	report := causes.Explain(causes.Phase{Tasks: tasks})
//	for _, o := range report.Outliers {
//		fmt.Println(o) // machine task=2 took=25s expected=10s times=2.5 machine-ratio=2.5 moment-ratio=1 parts=(machine=1)
//	}
//
// This outlier is task 2. Task 2 took 25 s, 2.5 times the median, where its bytes explain 10 s. The other tasks on
// its machine took 2.5 times their expected time. So all of the excess, the 15 s beyond the median, is charged to
// the machine.
//
// # The rule
//
// An outlier is a task that takes over 1.5 times the median of its phase [Mantri §4.1]. The paper gives no least number of
// tasks; here a phase of one or two tasks has no outlier, see [LeastTasks]. The model of a phase is the time that the bytes
// of a task explain:
//
//	expected = base + a*bytes + b*remote        a, b and base not below 0
//
// Here bytes is the input of the task, and remote is the part of the input that came from other racks. The model is
// fitted by least squares of the relative error. Tasks that take far longer than the model expects are left out of
// the fit. A task is called explained if its time is within 20 % of the model [Mantri §4.2, footnote 3]. The paper
// fits the model to all tasks, including the outliers that the model is meant to explain.
//
// The excess of an outlier is its time beyond the median of the phase. Explain divides the excess among the causes
// in these steps:
//
//   - The wait for lost input is charged to lost input.
//   - A task may have more bytes than the median task, more bytes from other racks, or a cohort that takes longer
//     than other cohorts. (A cohort is a group of tasks that do the same part of the work in every phase.) The time
//     that these three add to the model is charged to the causes data, path and split.
//   - The rest is charged to the machine and to the moment, as far as other tasks were slow: tasks on the same
//     machine, and tasks that began at the same time.
//   - Nothing is charged to a machine or a moment because of the time of the outlier itself. The other tasks on the
//     machine or in the moment must be slow, and there must be more slow tasks than chance explains. Nothing is
//     charged to a machine or a moment for an explained task.
//
// [Charge] reads many phases. Charge returns the time that the slowest tasks cost beyond the mean task. Charge also
// returns the fault: machines, the division of the work, or the data. A machine has a ratio in each phase: the time
// of its tasks divided by the time expected from their bytes, their cohort and their moment. Charge judges a
// machine by the median of its ratios over all phases. A mean would accuse a machine with a single very bad day.
//
// # Steps with a barrier
//
// In a training job, and in any job with a barrier, each step takes as long as its slowest member. A member that
// always takes 1.15 times as long as its equals costs 13 % of the time, and is no outlier. [Lockstep] counts these
// waits without a threshold: who is last how often, and what it costs. If several members are last together, the step
// counts for none of them. The equals of a member are the other members of its stage, and their [Median] is what it is
// compared with: of two workers that take 5 s and 6 s, the second takes 1.2 times the median of its equals. The excess
// of a member, the evidence, is the logarithm of its time by the centre of its stage: the middle time, or the mean of
// two middle times. A healthy member is as often below the centre as above. A stretch of slow steps is the run of
// steps with the largest sum of the excess beyond 1.5 %, found while the steps come in [Bentley, Programming Pearls,
// Communications of the ACM 27(9), 1984]. A worker is named if the mean excess of its stretch is beyond chance, and if
// its time beyond the median of its equals, and of each other stage, is at least 3 % of the time of these steps. So
// several workers are named, even if the slowest of them hides the others. [Together] counts what is saved if all of
// them are as fast as their equals. Steps are not independent: the error of the mean takes the correlation of
// neighbouring steps into account, as in an autoregressive process of order 1. The limit grows with the number of
// workers and of possible stretches.
//
// If the excess follows the machine from position to position, the machine is the [Reason]; if it stays while machines
// change, the place is. If they never part, the reason is a worker. If sizes explain the excess, or if the times of one
// replica agree in two stages, the work is uneven. A stage that takes longer than the others is a place, too.
//
// # Symbols
//
//	expected    Outlier.Expected       duration
//	a, b, base  Model                  seconds a byte, seconds
//	1.5         Config.Outlier         times the median
//	3           LeastTasks             tasks of a phase with an outlier
//	20 %        Config.Residual        share of the expected time
//	ratio       Suspect.Ratio          of time to expected time
//
// # When it is wrong
//
//   - The package sees only facts that the host has. If a task is slow because of a slow disk or a noisy neighbour,
//     the cause is the machine. If a task computes more for every byte, the cause is unknown.
//   - If time grows faster than bytes, as in a join or a sort, bytes explain less than they should.
//   - The model needs tasks that differ in bytes.
//   - A machine is the cause only if other tasks of the phase ran on it, or if [Phase.Factor] has a record of the
//     machine. If slow tasks are rare, three slow tasks on the machine are needed.
//   - If all tasks that began in a moment ran on a single machine, machine and moment cannot be distinguished, and
//     the machine is the cause.
//   - If the tasks that start first are slow because machines must load the program and the data, the moment looks
//     busy.
//   - If most tasks of a phase are slow, slow is normal.
//
// # Cost and concurrency
//
// O(n) for n tasks, about 150 ns for each task, and some 100 bytes for each task during the call. In a phase of
// over 8192 tasks, the model is fitted to a sample of about 8192 tasks, which is always the same for the same
// phase. All functions are safe for concurrent use, and keep nothing between calls. A Lockstep keeps what it was told of
// all steps, and is for one goroutine.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §4.1,
// §4.2 and figure 8; Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013
// (Dolly), §2.1.1, for the slowdown ratio. The papers classify machines and moments by hand; the statistical tests
// are this package's own.
package causes
