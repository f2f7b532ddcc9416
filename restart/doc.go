// Package restart decides what to do about a running task: leave it alone, start a copy of it, kill it and start it
// again, or kill an attempt that is not needed. It is for the author of a scheduler who keeps the facts of a phase
// (ages, remaining times, free slots) and asks for a decision at each progress report. A phase is a group of tasks
// that do the same work on different data. An attempt is one run of a task.
//
//	d := restart.Decide(task, phase) // LeastCost, the default policy
//	switch d.Action {
//	case restart.Keep:
//	case restart.Copy:
//		host.Launch(task, d.Avoid)
//	case restart.Restart:
//		host.Kill(task, d.Attempt)
//		host.Queue(task, d.Avoid)
//	case restart.Kill:
//		host.Kill(task, d.Attempt)
//	}
//	log.Info("straggler", "task", id, "decision", d)
//
// A host that does not want to keep the facts uses package tracker: it reports each event, and gets the same decisions.
// A host whose engine is polled uses package engine. A program that runs goroutines uses package pool. A client that
// sends requests uses package hedge.
//
// # The default policy
//
// [LeastCost] takes the action that is expected to cost least. Five sentences explain it. For each sentence there are
// two journals in testdata/default. A journal is a list of events and decisions as text. The two journals differ only
// a little, but end with different decisions. The lines below are these last decisions.
//
// 1. A slow attempt has two possible causes: the task is long, or the attempt had bad luck. If the task is long, a
// new attempt takes as long as the old attempt. If the attempt had bad luck, a new attempt takes as long as other
// tasks took. Earlier trials (copies and restarts of slow tasks) show how probable each cause is.
//
//	1_luck          copy saves-resources slot-seconds=264.83 threshold=237.95
//	1_long          keep not-slow slot-seconds=257.671 threshold=288.38
//
// 2. Each action has a cost: the seconds of slots that it uses, and a price for each second until the task ends. The
// default policy takes the cheapest action.
//
//	2_idle          copy idle-slot slot-seconds=500.104 threshold=445.935
//	2_waiting       keep not-slow slot-seconds=187.539 threshold=216.885
//
// 3. The first trial is a copy, because two attempts of one task show the cause. The slower attempt is killed.
//
//	3_copy_faster   kill copy-faster attempt=0 saved-slot-seconds=82.8697 threshold=20
//	3_copy_as_slow  kill no-faster attempt=1 saved-slot-seconds=772.315 threshold=20
//
// 4. An attempt is killed without a copy only after enough trials were won: three, or twice the number of lost trials
// if that is more.
//
//	4_proven        restart fresh-sooner attempt=0 slot-seconds=714.784 threshold=236.478
//	4_unproven      keep unproven won-trials=2 threshold=3
//
// 5. All trials together may lose no more slot time than a bound that [Limits] states.
//
//	5_within_bound  copy idle-slot slot-seconds=1689.03 threshold=858.165
//	5_loss_bound    keep loss-bound lost-slot-seconds=75 threshold=30
//
// Two more journals show a hung attempt and a long task.
//
//	hung            copy saves-resources slot-seconds=551.014 threshold=330.253
//	long            keep not-slow slot-seconds=224.998 threshold=274.202
//
// # Reading a decision
//
// A decision prints its action, its reason, and the two numbers that the policy compared. The first number is printed
// under the name of its measure, which also gives the unit. The second number is printed as threshold. A copy or a
// restart prints the cost of keeping the task, and then the cost of the action. If the task is kept, the decision
// prints the comparison because of which no action was taken:
//
//	reason            measure             first number, and threshold
//	not-slow          slot-seconds        cost of keeping the task; cost of the cheapest action, and two report periods
//	unlikely          probability         that a new attempt ends sooner; the least that is enough
//	unproven          won-trials          trials won so far; trials to win before this action
//	loss-bound        lost-slot-seconds   expected loss of this trial (see Trials); loss that the bound still allows
//	too-young         run-seconds         age of the attempt; age at which an attempt is judged
//	copy-too-recent   since-copy-seconds  time since the task's last copy; least time between two copies
//	restarts-spent    past-restarts       restarts of the task so far; most restarts
//	copies-spent      past-copies         copies of the task so far; most copies
//	enough-attempts   running-attempts    attempts of the task that run; most attempts
//
// The reasons no-free-slot, not-eligible, not-restartable, furthest-on and no-estimate have no numbers.
//
// The reasons of a kill, copy-faster and no-faster, say which cause the two attempts have shown. In the costs, a new
// attempt that turns out slow is replaced in turn, so the costs can be less than the field fresh suggests. [Measure]
// lists the measures of all policies, [Decision.Sentence] returns a decision as a sentence, and the page docs/why.md,
// "Why was my task killed?", explains six such lines.
//
// # Policies
//
// [Policy] is an interface with one method. [LeastCost], [Mantri] and [Never] implement it in this package. Package
// rules implements the rules of other systems: LATE, Hadoop, MapReduce, Dryad, Spark, Flink, SDA and ESE. The zero
// value of each policy has its published defaults, and [Off] turns a rule off. A policy reads only some of the facts;
// rules.Describe lists them.
//
// # What is guaranteed
//
// If every attempt ends, every task ends, for all reports and for all decisions of a policy. A task is started a
// bounded number of times, and runs for at most Limits.Restarts+1 times the time of its longest attempt. The comment
// of [Trials] states how much slot time trials may lose.
//
// # When a decision is wrong
//
// A decision is only as good as its estimates. Three cases mislead policies:
//
//   - A task with more data than other tasks is not a straggler. Set Task.Fresh.Work: LeastCost, Mantri and Flink
//     take the size into account, and Spark takes the work into account that the attempt has done. The other rules
//     take such a task for a straggler.
//   - Progress that is not linear in time misleads every rule that extrapolates. Where [Attempt].Left is given,
//     LeastCost and Mantri use a distribution of the remaining time. The other policies use their published rules.
//   - Before a few tasks have ended, Mantri knows no time of a new attempt, and keeps every task.
//
// A copy may hang, too. So give every attempt a hard timeout, such as several times the time of the longest attempt.
//
// # Costs and concurrency
//
// A decision takes some tenths of a microsecond and allocates nothing. Policies and decisions do not change in use, and
// are safe for concurrent use. No function reads a clock. Durations are compared as whole nanoseconds with saturating
// arithmetic, so that neither rounding nor an overflow changes a decision. The simulated cluster in
// examples/internal/cluster/restart.go is an example of a host to copy from.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010; Zaharia
// et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE); Dean and Ghemawat,
// "MapReduce", OSDI 2004; the sources of Apache Spark and Apache Flink for their rules.
package restart
