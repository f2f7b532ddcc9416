// Package survival predicts how long a running task still needs if nobody knows its speed, or if its progress reports
// are wrong. It is for a scheduler that knows only the ages of tasks, or that wants to know how far progress can be
// trusted. Package tracker uses it for each phase, that is, for each group of tasks that do the same work. A
// scheduler that keeps its own facts can call it directly.
//
//	var curve survival.Curve
//	curve.Observe(48, true)   // a task ended after 48 s
//	curve.Observe(51, true)   // another task ended after 51 s
//	curve.Observe(180, false) // a task has run for 180 s, and still runs
//	curve.Fit()
//	left := survival.Residual{Curve: &curve, Age: 180}
//	fresh := survival.Without{Curve: &curve, Age: 180}
//	fmt.Printf("%.0f s left; a new attempt takes %.1f s\n", left.Mean(), fresh.Mean())
//
// This prints "180 s left; a new attempt takes 49.5 s". The running task is expected to need as long again as it has
// run. A new attempt is expected to take as long as the other tasks took.
//
// # Times and ages
//
// [Curve] is the distribution of the times of tasks, estimated by the product limit of Kaplan and Meier. A task that
// ended took its time. A task that runs, or was killed, takes at least its age. The curve includes both kinds of
// tasks. Without the running tasks, it would describe only fast tasks. And the age of a running task is not used as
// its time, because its time is longer.
//
// Two distributions are computed from a curve. T is the time of a task, and a is the age of the running task:
//
//   - [Residual] is the remaining time of the running task: T - a, given that T > a.
//   - [Without] is the time of a new attempt of the running task. It leaves the age of the running task out of the
//     curve.
//
// Both use the same curve and the same tail (the times beyond the longest time seen). So if all tasks have the same
// age, no task looks slow.
//
// # The shape of progress
//
// A task that reports half of its work done has seldom run for exactly half of its time. [Shape] learns two things
// from the [Trail] (the progress) of each attempt that finishes. The first is which share of the time has passed at
// each twelfth of the work. The second is how wrong the predicted time was at that stage. If progress is linear in
// time, Shape leaves it unchanged.
//
// [Shape.Outlook] turns one predicted time into a distribution. It multiplies the predicted time by each error that
// earlier attempts have shown. The weight of each product is the probability that the curve gives to such a time. So
// one uncertain prediction does not outweigh the times of many tasks.
//
// # When it is wrong
//
//   - The product limit assumes that a killed task would have gone on like other tasks of its age. If a scheduler
//     kills tasks because they are slow, this is false: these tasks would have taken longer. Then the curve predicts
//     too short times.
//   - Over a long time, tasks may become slower or faster with time.
//   - The tail is a guess: see [TailIndex] and [OutlierIndex].
//   - Before the first task has ended, every answer comes from the tail alone. After a few ends the answers are
//     rough.
//
// Sources: Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958;
// Zaharia et al., OSDI 2008, §4.2, for parts of a task that run at different rates.
package survival
