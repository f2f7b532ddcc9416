// Package survival predicts how long a running task still needs if nobody knows its speed, or if its progress reports
// are wrong. It is for a scheduler that knows the ages of tasks only, or that wants to know how far progress can be
// trusted. Package tracker uses it for each phase; a host that keeps its own facts can call it directly.
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
// [Curve] is the distribution of the times of tasks, estimated by the product limit. A task that ended took its time.
// A task that runs, or was killed, takes at least its age. No task is left out: without the running tasks, only the
// times of fast tasks would count. And the age of a running task is never taken for its time, which is longer.
//
// Two distributions are derived from a curve:
//
//   - [Residual] is the remaining time of a task of age a: T - a, given T > a.
//   - [Without] is the time of a new attempt of a running task. It leaves the age of the running task out of the
//     curve.
//
// Both use the same curve and the same tail. So if all tasks have the same age, no task looks slow.
//
// [Window] keeps the times of the last hour, or of another fixed time, for a host that has no phases.
//
// # The shape of progress
//
// A task that reports half of its work done has seldom run for half of its time. [Shape] learns two things from the
// [Trail] of each attempt that finishes: which share of the time has passed at each twelfth of the progress, and how
// wrong the prediction was at that stage. If progress is linear in time, Shape leaves it as it is.
//
// [Shape.Outlook] turns a prediction into a distribution. It multiplies the predicted time by each error that
// attempts have shown, and weighs each product by the probability that the curve gives to such a time. So one
// uncertain prediction does not outvote the times of many tasks.
//
// # When it is wrong
//
//   - The product limit assumes that a killed task would have gone on like other tasks of its age. If a host kills
//     tasks because they are slow, these tasks would have taken longer, and the curve predicts too short times.
//   - Times may drift within a long window.
//   - The tail is a guess: see [TailIndex] and [OutlierIndex].
//   - Before the first task has ended, every answer rests on the tail alone. After a few ends the answers are rough.
//
// Sources: Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958;
// Zaharia et al., OSDI 2008, §4.2, for parts of a task that run at different rates.
package survival
