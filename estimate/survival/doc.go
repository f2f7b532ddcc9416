// Package survival says how long a task still needs where it is not known how fast it goes: from its age, from the
// shape of the progress of tasks like it, and from how far such predictions were off before.
//
// # Ages
//
// [Curve] is the distribution of a phase's times by the product limit: a task that ended took its time; one that runs,
// or was killed, takes at least its age. Nothing is left out, or only the fast would count, and nothing is taken for
// more than it shows. [Residual] is what is left of a task of a given age, T - a given T > a; [Without] is the curve
// without one of the running tasks, for what a new copy of that one would take. Both rest on the same curve and the
// same tail, so that of tasks that are all as old none looks slow.
//
//	curve.Reset()
//	curve.Add(52.1, true)  // ended after 52.1 s
//	curve.Add(80, false)   // has run for 80 s
//	curve.Fit()
//	left := survival.Residual{Curve: &curve, Age: 80}
//	fmt.Println(left.Mean(), left.Below(60))
//
// [Window] keeps the last while of a kind of job, for hosts that have no phases.
//
// # The shape of progress
//
// A task that reports half of its work done has seldom run for half of its time. [Shape] learns which share of its time
// has passed at each twelfth of its progress, and how far a prediction at that stage was off, from the [Trail] of each
// copy that finishes. Where progress is linear, it is the identity. [Shape.Outlook] makes of one prediction a
// distribution: the prediction times each of the errors that were seen, weighed by how likely the curve makes a task of
// that length. So a single uncertain fact does not outvote what many tasks have shown.
//
// # When it is wrong
//
// The product limit takes a task that was killed for one that would have gone on like the others of its age. Those that
// are killed because they are slow would have taken longer, so the curve is short there. Times drift within a long
// window. The tail is a stated guess: see [TailIndex] and [OutlierIndex]. Before anything has ended there is no answer,
// and a few ends are a rough one.
//
// Sources: Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53, 1958;
// Zaharia et al., OSDI 2008, §4.2, for parts of a task that run at rates of their own.
package survival
