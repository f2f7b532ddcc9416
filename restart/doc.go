// Package restart decides what to do about a running task that lags behind its peers: leave it, launch one more copy of
// it, kill it and start it again, or kill a copy that is no longer needed.
//
//	d := restart.Decide(task, phase) // LeastCost, the default
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
// # The rule
//
// The default policy is [LeastCost]: of the actions that are open to a task it takes the one that is expected to cost
// least. Its five sentences are below. Behind each are two answers of the default, from two journals that differ in little and
// end differently. The journals stand under that name in testdata/default, and explain the numbers.
//
// 1. A slow attempt has met a long task, or bad luck. How probable each is, trials have shown: earlier copies and restarts.
// If the task is long, a new attempt takes as long as the old one; if not, it takes what others took.
//
//	1_luck          copy saves-resources slot-seconds=264.83 threshold=237.95
//	1_long          keep not-slow slot-seconds=257.671 threshold=288.38
//
// 2. The action is taken that costs least, in seconds of slots and a price for each second until the task ends.
//
//	2_idle          copy idle-slot slot-seconds=398.523 threshold=371.56
//	2_waiting       keep not-slow slot-seconds=199.262 threshold=220.169
//
// 3. The first trial is a copy, for two attempts of one task show which of the two causes it is. The slower one is killed.
//
//	3_copy_faster   kill not-worth-slot saved-slot-seconds=82.8697 threshold=20
//	3_copy_as_slow  kill not-worth-slot saved-slot-seconds=772.315 threshold=20
//
// 4. Attempts are killed without a copy after three won trials, and two for each lost one. If progress is even and tasks wait,
// one won trial is enough.
//
//	4_proven        restart fresh-sooner slot-seconds=944.057 threshold=259.406
//	4_unproven      keep unproven won-trials=2 threshold=3
//
// 5. All trials together may lose no more slot time than a stated bound.
//
//	5_within_bound  copy idle-slot slot-seconds=1266.77 threshold=651.232
//	5_loss_bound    keep loss-bound lost-slot-seconds=75 threshold=24
//
// Two more journals: a hung attempt gets a copy, and a long task is left alone after one copy.
//
//	hung            copy saves-resources slot-seconds=551.014 threshold=330.253
//	long            keep not-slow slot-seconds=224.998 threshold=271.228
//
// Each refusal has its own reason, and prints the two numbers that refused, the first under the name of what both measure:
//
//	reason            measure             first number; second number
//	not-slow          slot-seconds        cost of keeping the task; cost of the cheapest action plus two report periods
//	unlikely          probability         that a new attempt ends sooner; the least that is enough
//	unproven          won-trials          won so far; to be won before a restart without a copy
//	loss-bound        lost-slot-seconds   what this trial costs if it is lost, times twice P(long) at most 1; what trials may still lose
//	trial-runs        run-seconds         age of a silent copy; age at which it has shown whether it gains
//	too-young         run-seconds         age of the attempt; age at which it is judged
//	copy-too-recent   since-copy-seconds  since the task's last copy; least that must have passed
//	restarts-spent    past-restarts       restarts of the task so far; most
//	copies-spent  past-copies         copies of the task so far; most
//	enough-attempts     running-attempts      copies that run; most
//	several-run       running-attempts      copies that run; 1, for a restart
//
// These refuse without numbers: no-free-slot, no-task-waits, not-eligible, not-restartable, no-estimate and no-progress.
//
// Where a task is restarted or copied, the numbers are the cost of keeping it and the cost of the action. A kill has one of
// three reasons: not-worth-slot (saved-slot-seconds: what the kill saves; what it must save), time-spent (run-seconds: age
// of a silent copy; most), and slower-attempt (faster-attempts: copies that are faster; enough of them).
//
// [Measure] lists the measures of all policies. [Decision.Sentence] says a decision in words:
//
//	kept: trials must not lose too much; this trial might lose 75 s of slot time, and trials may lose 24 s more
//
// "Why was my task killed?" in docs/why.md explains six such lines.
//
// [Mantri] is the paper's rule [Mantri §5.1, Pseudocode 1]. With t_rem the time a running copy still
// needs, t_new the time a new one would take (a random variable), c the number of running copies and Δ the period of
// progress reports:
//
//	while tasks wait:    restart    if t_rem > E(t_new) + Δ, at most γ times
//	                     duplicate  if P(t_rem > t_new (c+1)/c) > δ
//	when slots are idle: duplicate  if E(t_rem - t_new) > ρΔ
//	always:              kill       all but the α fastest copies, once they have run for Δ
//
//	symbol  here                        default
//	t_rem   Attempt.Remaining              a fact; see package estimate
//	t_new   Task.Fresh                  a fact; see package estimate
//	c       len(Task.Attempts)            a fact
//	Δ       Phase.Interval              a fact
//	γ       Mantri.MaxRestarts          3
//	δ       Mantri.CopyThreshold   0.25
//	ρ       Mantri.IdleGain             3
//	α       Mantri.FastestKept          2
//	1-δ     Mantri.Confidence           0.75
//
// Every decision carries its reason and the numbers that were compared, also when it is to keep the task.
//
// # Policies
//
// [LeastCost], [Mantri], [Never], and in package rules LATE, Hadoop, MapReduce, Dryad, Spark, Flink, SDA and ESE, are values
// of one small interface, [Policy]. The zero value of each has its published defaults; [Off]
// turns a rule off. Each reads only some of the facts, which rules.Describe lists; leave out what your policy does not read.
//
// # Three ways to use it
//
// Call a policy's Decide with facts that you keep yourself. Ask [Next] what to do with a free slot. Or let package
// tracker keep the facts: tell it what happens to the copies, and it answers with decisions and keeps an account; it
// also knows of copies that an engine has queued and not yet begun, and bounds the copies of several phases together.
// Package journal writes and replays what a tracker was told; restarttest runs such a journal as a unit test; engine
// keeps a tracker in step with an engine that is polled.
//
// # What is uncertain, and what is certain
//
// Few hosts know t_rem. Where a copy's Left is given, as a tracker does, Mantri asks its questions of a distribution,
// and restarts with a stated confidence; the decision's Basis, Value and Threshold say on what it rests and how sure it
// is. The other policies keep their published rules. Whatever is reported and whatever a policy answers: if every attempt
// ends, every task ends, within Limits.Restarts+1 times what its longest attempt takes, after a bounded number of launches.
//
// # When it is wrong
//
// A decision is as good as the estimates it is given. A task with more data than its peers is not a straggler: Mantri
// and Flink allow for that if they are given its work, and Spark by the work that it has done; the other rules take it
// for one. Mantri's test of t_new needs a few tasks' rates, or a prior, and keeps everything until then. Progress that
// is not linear in time misleads every rule that extrapolates.
//
// No rule ends a task whose attempts hang for ever. A copy may hang too, and then most rules do nothing more; Mantri
// goes on until its Limits are reached. Give every attempt a hard timeout of your own, some times what the longest
// should take: kill it then, and run the task again.
//
// # Costs and concurrency
//
// A decision takes some tenths of a microsecond and does not allocate. Policies and decisions are immutable and safe
// for concurrent use. Durations are compared as whole nanoseconds with saturating arithmetic, so that neither rounding
// at a boundary nor an overflow flips a decision, and no function reads a clock.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/restart.go.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010; Zaharia
// et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE); Dean and Ghemawat,
// "MapReduce", OSDI 2004; the sources of Apache Spark and Apache Flink for their rules.
package restart
