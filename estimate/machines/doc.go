// Package machines records how fast the machines of a cluster are: how many times slower than the others each
// machine is, and whether a waiting task should start there. Use it if attempts of tasks run on many machines, and
// some machines may be slow or failing.
//
// The host reports attempts, and asks for factors and verdicts:
//
//	record, err := machines.New(machines.Config{})
//	record.Running(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}) // at each report
//	record.End(now, machine, key, machines.Attempt{Ran: age, Usual: usual, Done: share}, machines.Killed)
//	fresh.Location = record.Factor(machine)      // t_new, the time of a new attempt, on that machine
//	if v := record.Judge(machine); v.Avoid() {   // start no task there: v gives the reason
//
// A verdict prints as one line. The machine of this verdict takes 8 times as long as the median machine of its
// class, and a machine is slow if it takes 2 times as long or longer. (A class is a group of similar machines, such
// as all machines with a GPU.) The evidence has the weight of 3 attempts:
//
//	slow class-factor=8 threshold=2 attempts=3
//
// # The factor
//
// The factor is the part of Mantri's locationFactor that "accounts for whether the candidate machine is
// persistently slower (or faster) than other machines" [Mantri §5.5]. The paper gives no formula. Here each attempt
// gives a ratio: its time divided by the typical time for its work. The location of a machine is the median of the
// ratios of its recent attempts:
//
//   - A finished attempt gives its ratio. An attempt that is running, was killed or failed gives the ratio that its
//     progress implies. If its progress is not known, the attempt gives a lower bound: the attempt would have taken
//     at least this long. The product-limit estimate distributes the weight of a bound over the larger ratios. So
//     the record recognises a slow machine even if every attempt on the machine is killed. If an attempt is killed
//     in its first seconds, its bound is so small that it shows nothing about the machine.
//   - The bounds may leave the median open. Either half of the weight is never reached, or the median would be
//     smaller if each attempt had ended at its bound. In this case the record compares the bounds with the times of
//     attempts on the other machines of the class: see the next section.
//   - An unfinished attempt has its full weight after it has run for a quarter of its typical time. Before that,
//     its weight is proportional to its age. The reason is that the first report shows little more than how tasks
//     start.
//   - Trust, a field of [Config], is a number of attempts. The record adds this many imaginary attempts, with the
//     median ratio of the machine's class, to the attempts of the machine. So one or two slow tasks never make a
//     machine slow, and three slow tasks with equal ratios make it fully slow. A mean that such imaginary attempts
//     pull towards 1 would need a dozen slow tasks.
//   - The weight of an attempt falls with its age, to half in a HalfLife. The record uses the latest 16 ended
//     attempts of a machine, and 8 running attempts.
//
// A factor is the location of the machine divided by the lower median of all locations. So a bad machine does not
// change the factors of the others, and half of the machines have a factor of at most 1. To decide whether a
// machine is slow, the record compares it with the lower median of its own class.
//
// The first table gives the error of the factor after a number of attempts on each machine. The error is a factor
// as well: 1.07 means 7 % too large or too small. Each pair of numbers is the error that half of the cases do not
// exceed, and the error that 95 of 100 cases do not exceed. The clusters are random. They have twenty machines that
// differ by 10 %, and one to four of the machines are 1.5 to 16 times slower. Attempts differ by 25 %, and a
// twentieth of the attempts are 4 times slower on any machine. An attempt that would take over twice the typical
// time is killed after half of the typical time. The last two columns are another rule on the slow machines: the
// mean ratio of finished attempts, pulled towards 1 by three imaginary attempts. This rule never detects the slow
// machines.
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
// If a policy kills every attempt at 1.3 times the typical time, a bad machine has only lower bounds of 1.3. A
// single bound proves little. But if one attempt in twenty runs that long on other machines, ten bounds in a row
// leave no doubt that the machine is slow. So the record keeps the distribution of the ratios on the machines of
// each class, by the product-limit estimate.
//
// If the bounds leave the median of a machine open, the record computes for each factor how probable it is, by
// Bayes' rule. The location of the machine is then the median of this posterior distribution. The likelihood of a
// factor is the probability of all the machine's attempts if the machine has this factor. The prior is that
// machines differ by 10 %, and that one machine in a thousand is slow: half of the slow machines by 2 or more, a
// quarter by 4 or more. How much slower than its bounds such a machine is, follows from the prior alone. If
// attempts on other machines run as long, by bad luck or because the tasks are long, the bounds prove nothing.
//
// The second table is for a policy without progress reports that kills every attempt at a multiple of the typical
// time. The first column is that multiple. The second column is how many of 10,000 healthy machines were ever
// called slow within 60 attempts each. The other columns are the mean number of attempts until the record called a
// machine slow that is 2 or 8 times slower. The clusters are as above, but a twentieth of the attempts are 8 times
// slower. The last two rows have another prior: one machine in ten thousand is slow, and one machine in a hundred
// is slow.
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
// If a thousand schedulers use the same machines, each scheduler sees too few attempts on a machine to judge it. So
// records exchange their evidence, which is the list of ended attempts. Each record has an Origin, which is the
// name of its process, and names for its machines. The reader sends a version, which says what it knows. The writer
// answers with a delta, which contains the evidence that the reader does not have.
//
//	version := mine.AppendVersion(nil)
//	delta, err := theirs.AppendDelta(nil, version)
//	err = mine.Merge(now, delta)
//
// A delta contains ended attempts, with the ratios described above, some 15 bytes each. Running attempts, classes
// and LATE's progress are not shared. The host carries the deltas: over the network, in a log or in a file.
//
// # Other records of machines
//
// Two other packages keep a record of machines, each with the measure of its paper:
//
//   - clone.Blacklist counts how often tasks are slow on a machine, in windows of minutes [Dolly §2.1.2]. A machine
//     that is slow for one task in five is on that list. This package does not call such a machine slow, because
//     its median ratio is about the median of the other machines.
//   - replicate.Losses counts how often the output of a machine is lost, over weeks [Mantri §5.3]. A loss does not
//     show how fast a machine is: a fast machine may lose its disks.
//
// # When it is wrong
//
//   - If tasks are slow because of where their data is, their machine looks slow. If the host knows the network
//     path, it should multiply Usual by the factor of the path.
//   - The record does not detect a machine that is slow for less than half of its attempts.
//   - The record does not know which machines still exist. The host calls Forget when a machine leaves.
//   - A machine with fewer than three attempts is treated as average.
//   - A task may be long for a reason that its work does not show. If such a task is killed and started again, it
//     is evidence against each of its machines. The comment of [Attempt.Usual] says how a host prevents this.
//   - A machine may get only tasks of one kind. If these tasks are killed later than others, or take longer than
//     their Usual, the machine looks slow.
//
// Sources: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010, §5.5;
// Zaharia et al., "Improving MapReduce Performance in Heterogeneous Environments", OSDI 2008 (LATE), §4; Kaplan and
// Meier, "Nonparametric Estimation from Incomplete Observations", J. Am. Stat. Assoc. 53 (1958).
package machines
