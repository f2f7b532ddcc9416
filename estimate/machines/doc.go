// Package machines keeps the record of the machines of a cluster: how much slower than its peers each machine is,
// and whether a waiting task should start there. Use it if attempts of tasks run on many machines, and some
// machines may be slow or failing.
//
// The host reports attempts, and asks for factors and verdicts:
//
//	record, err := machines.New(machines.Config{})
//	record.Running(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}) // at each report
//	record.End(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}, machines.Killed)
//	fresh.Location = record.Factor(machine)      // t_new on that machine
//	if v := record.Judge(machine); v.Avoid() {   // start no task there: v gives the reason
//
// A verdict prints as one line. This machine takes 8 times as long as its class, and a machine is slow from 2 times
// on. The evidence is worth 3 attempts:
//
//	slow class-factor=8 threshold=2 attempts=3
//
// # The factor
//
// The factor is the part of locationFactor that "accounts for whether the candidate machine is persistently slower
// (or faster) than other machines" [Mantri §5.5]. The paper gives no formula. Here each attempt gives a ratio, its
// time divided by the typical time for its work. The location of a machine is the median of its recent ratios:
//
//   - A finished attempt gives its ratio. An attempt that is running, was killed or failed gives the ratio that its
//     progress implies. Without progress it gives a lower bound: the attempt would have taken at least this long.
//     The product-limit estimate distributes the weight of a bound over the larger ratios. So the record knows a
//     machine on which every attempt is killed. A kill in the first seconds of an attempt bounds
//     nothing, so it says nothing about the machine.
//   - Bounds can leave the median open: half of the weight is never reached, or the median would be smaller if each
//     attempt had ended at its bound. In this case the record compares the bounds with the times of attempts on the
//     other machines of the class: see the next section.
//   - An unfinished attempt counts in full once it has run for a quarter of its typical time, and in proportion
//     before that. The first report shows little more than how tasks start.
//   - Trust is a number of attempts. The record adds this many attempts with the ratio of the machine's class to
//     the evidence of the machine. So one or two slow tasks never make a machine slow, and three slow tasks that
//     agree are believed in full. A mean that is drawn towards 1 would need a dozen.
//   - Evidence fades with its age, to half in a HalfLife. The latest 16 ended attempts of a machine count, and 8
//     running attempts.
//
// A factor is the location of the machine divided by the lower median of all locations. So a bad machine does not
// shift the scale, and half of the machines have a factor of at most 1. A machine is slow against the lower median
// of its own class.
//
// The first table gives the error of the factor after a number of attempts on each machine. The error is a factor
// as well; each cell has the error in half of the cases and in 95 of 100 cases. The clusters are random, with
// twenty machines that differ by 10 %, and one to four machines are 1.5 to 16 times slower. Attempts differ by 25 %,
// and a twentieth of the attempts are 4 times slower on any machine. An attempt that would take over twice the
// typical time is killed after half of the typical time. The last column is another rule on the slow machines: the
// mean ratio of finished attempts, drawn towards 1 by three attempts. The mean never detects the slow machines.
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
// A policy that kills every attempt at 1.3 times the typical time leaves only bounds of 1.3 on a bad machine. A
// single bound proves little. Ten bounds in a row leave no doubt if one attempt in twenty runs that long elsewhere.
// So the record keeps the distribution of the ratios on the machines of each class, by the product limit.
//
// If the bounds leave the median of a machine open, its location is the median of the posterior. The likelihood is
// the likelihood of all its evidence for each factor. The prior is that machines differ by 10 %, and that one
// machine in a thousand is slow: half of the slow machines by 2 or more, a quarter by 4 or more. Only the prior
// says how much slower than its bounds such a machine is. If attempts on other machines run as long, by bad luck or
// because the tasks are long, the bounds prove nothing.
//
// The second table gives two numbers for a policy without progress reports that kills every attempt at a multiple
// of the typical time. The first number is how many of 10,000 healthy machines were ever called slow within 60
// attempts each. The second number is the mean number of attempts until the record called a machine slow that is 2
// or 8 times slower. The clusters are as above, but a twentieth of the attempts are 8 times slower. The last two
// rows change the prior: one machine in ten thousand is slow, and one in a hundred.
//
//	killed at   called slow   2 times slower   8 times slower
//	      1.3             8             10.0              7.5
//	      1.6             2              8.2              4.7
//	      2.5             2             15.8              3.3
//	      1.3             2             14.4             10.7
//	      1.3            41              7.0              5.1
//
// A machine that is only 1.4 or 1.7 times slower may be called slow as well. Such a verdict needs a policy that
// kills every attempt too early to show the true factor of the machine.
//
// # Many schedulers, one fleet
//
// If a thousand schedulers use the same machines, each scheduler sees too few attempts on a machine to know it. So
// records exchange their evidence. Each record has an Origin, and names for its machines. The reader sends the
// version of its knowledge, and the writer answers with the evidence that the reader does not have.
//
//	version := mine.AppendVersion(nil)
//	delta, err := theirs.AppendDelta(nil, version)
//	err = mine.Merge(now, delta)
//
// A delta holds the ended attempts, with the ratios above, some 15 bytes each. Running attempts, classes and LATE's
// progress stay in their process. The host carries the deltas: over the network, in a log, in a file.
//
// # Other records of machines
//
// Two other packages keep a record of machines, each with the measure of its paper:
//
//   - clone.Blacklist counts how often tasks straggle on a machine, in windows of minutes [Dolly §2.1.2]. A machine
//     that is slow for one task in five is on that list. This package does not call such a machine slow, because
//     its median ratio is the median of its peers.
//   - replicate.Losses counts how often the output of a machine is lost, over weeks [Mantri §5.3]. A loss says
//     nothing about speed: a fast machine may lose its disks.
//
// # When it is wrong
//
//   - If tasks are slow because of where their data is, their machine looks slow. If the host knows the network
//     path, it should multiply Usual by the factor of the path.
//   - The record does not see a machine that is slow for less than half of its attempts.
//   - The record does not know which machines still exist. The host calls Forget when a machine leaves.
//   - A machine with fewer than three attempts counts as average.
//   - A task may be long for a reason that its work does not show. If such a task is killed and started again, it
//     counts against each machine in turn. [Attempt.Usual] says what a host does about it.
//   - A machine may get only tasks of one kind. If these tasks are killed later than others, or take longer than
//     their Usual, the machine looks slow.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4; Kaplan and
// Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53 (1958).
package machines
