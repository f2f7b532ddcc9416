// Package machines keeps the one record of what is known of each machine of a cluster: how much slower than its peers
// it is, and whether a waiting task should start there.
//
//	record, err := machines.New(machines.Config{})
//	record.Running(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}) // at each report
//	record.End(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}, machines.Killed)
//	fresh.Location = record.Factor(machine)      // t_new at that place
//	if v := record.Judge(machine); v.Avoid() {   // not here: v says why
//
// # The factor
//
// The factor is the part of locationFactor that "accounts for whether the candidate machine is persistently slower (or
// faster) than other machines" [Mantri §5.5]. The paper gives no formula. Here each attempt gives a ratio, its time
// against what is usual for its work, and the machine's location is the median of its recent ratios:
//
//   - An attempt that finished gives its ratio. One that runs, was killed or failed gives the ratio that its progress
//     implies, or, without progress, a lower bound: it would have taken at least so long. Bounds are shared out among
//     the larger ratios by the product-limit estimate. So a machine is known whose attempts are always killed and
//     never finish, and a kill in its early seconds, which bounds nothing, says nothing.
//   - Where the median would be smaller if each had ended at its bound, or where half is never reached, the bounds are
//     held against how long attempts live on the other machines of the class: see the next section.
//   - An attempt that has not finished counts in proportion to how much of a quarter of its usual time it has run: the
//     first report shows little more than how tasks start.
//   - Attempts worth Trust are added that are as the machine's class is. So one slow task never brands a machine, nor
//     do two; and three that agree are believed in full. A mean drawn towards 1 would need a dozen.
//   - Evidence fades with its age, to half in a HalfLife; the latest 16 attempts count, and 8 that run.
//
// Factors are locations against the lower median of all machines: the bad one does not drag the scale, and half of the
// machines have a factor of at most 1. Machines are called slow against the lower median of their own class.
//
// How far off the factor is after a number of attempts on each machine, as a factor itself, in half of the cases and
// in 95 of 100: random clusters of twenty machines that differ by 10 %, one to four of them 1.5 to 16 times slower;
// attempts that differ by 25 %, a twentieth of them 4 times slower wherever they run; all that would take over twice
// the usual time are killed after half of it. Beside it, for the slow machines, the mean of what finished drawn
// towards 1 by three attempts, which never learns of them.
//
//	attempts   healthy      slow          mean rule
//	       1   1.07  1.22   4.75  13.81   4.75  13.81
//	       2   1.07  1.23   4.95  13.75   4.95  13.75
//	       3   1.07  1.23   1.18   1.61   4.63  13.75
//	       5   1.07  1.22   1.13   1.40   4.59  13.78
//	       8   1.06  1.20   1.10   1.33   4.51  13.46
//	      16   1.05  1.16   1.07   1.20   5.10  13.72
//
// # Machines where nothing finishes
//
// A policy that kills whatever runs for 1.3 times the usual time leaves nothing but bounds of 1.3 of a bad machine.
// Each says little; but ten in a row, where one in twenty lives so long elsewhere, leave no doubt. So the record keeps
// how long attempts live on the machines of each class, by the product limit. Where the bounds leave a machine's median
// open, its location is the median of the posterior: the likelihood of all its evidence for each factor, times the
// prior: machines differ by 10 %, and one in a thousand is slow, half of these by 2 or more, a quarter by 4 or more.
// Nothing else tells how much slower than its bounds such a machine is. Where others live as long, be it by bad luck or
// because tasks are long wherever they run, the same bounds prove nothing.
//
// How many of 10,000 healthy machines were ever called slow within 60 attempts each, and after how many attempts, in
// the mean, one was that is 2 or 8 times slower: clusters as above, a twentieth of the attempts 8 times slower, no
// progress, and everything killed at a multiple of the usual time. The last two rows take one machine in ten thousand
// to be slow, and one in a hundred.
//
//	killed at   called slow   2 times slower   8 times slower
//	      1.3             8             10.0              7.5
//	      1.6             2              8.2              4.7
//	      2.5             2             15.8              3.3
//	      1.3             2             14.4             10.7
//	      1.3            41              7.0              5.1
//
// A machine that is 1.7 times slower, or even 1.4 times, may be called slow as well where all that runs there is killed
// before it could show that it is no worse.
//
// # Many schedulers, one fleet
//
// Where a thousand schedulers place on the same machines, each sees too little of any to know it. So records pass on
// what they see: each has an Origin, and names for its machines; the reader says what it knows, and another says the
// rest.
//
//	version := mine.AppendVersion(nil)
//	delta, err := theirs.AppendDelta(nil, version)
//	err = mine.Merge(now, delta)
//
// What is passed on are the attempts that have ended, with the ratios above, some 15 bytes each. What runs, classes and
// LATE's progress are a process's own. The carrier is the host's: the network, a log, a file.
//
// # What else is known of machines, and where
//
// Two more views of a machine stand in packages of their own, each with the measure of its paper:
//
//   - clone.Blacklist counts how often tasks straggle on a machine, in windows of minutes [Dolly §2.1.2]. A machine
//     that is slow for one task in five is no slow machine here: its median is that of its peers. It is one there.
//   - replicate.Losses counts how often the output of a machine is lost, over weeks [Mantri §5.3], which says nothing
//     about its speed: a machine may be fast and lose its disks.
//
// # When it is wrong
//
// A machine whose tasks are slow because of where their data is looks slow: normalise Usual by the path where it is
// known. Intermittent slowness of less than half of a machine's attempts is not seen. The record does not know which
// machines still exist: a host that does says Forget. A machine of which fewer than three attempts were seen is
// average. A task that is long for no reason that its work shows, and is killed and started again, speaks against each
// machine in turn: see [Attempt.Usual] for what a host does about it. A machine that gets tasks of one kind only, which
// are kept longer before they are killed, or take longer than their Usual, looks slow beside the others.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4; Kaplan and
// Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53 (1958).
package machines
