// Package cluster simulates a cluster that runs jobs. It has machines with slots, racks with links that flows share,
// jobs of several phases, and tasks with causes for their length. It is a host like any other: it asks the library
// for every decision, through its public API, and carries out the answer. It has no rule of its own about which task
// runs next, where, with how many copies, or which attempt is killed. The calls of each package are in one file with
// the name of the package, such as restart.go, delay.go and fairshare.go. Further files are assign.go for
// delay/assign, overload.go for laxity/outlier, and recompute.go for the outputs
// that replicate computes ahead of need. These files are examples for a host of this kind.
//
// # Time
//
// Package cluster is a discrete-event simulation. All events of an instant are handled together, ends before
// beginnings, and then free slots are offered. The same seed gives the same result: nothing depends on a map, a
// goroutine or a clock. A random number depends on its purpose, not on the order of calls. So the third attempt of a
// task has the same luck under every policy.
//
// # Causes of the time of a task
//
//   - Its data: [Task.Seconds] and [Task.Bytes]. A copy has the same work.
//   - Its machine: [Machine.Speed] and its slow [Spell]. A copy on another machine does not have this cause.
//   - The network: the place of its input, and the other flows on the links.
//   - Its physical machine: the reads, the writes and the transfers of all attempts there share a disk and a card
//     ([Config.Physical]).
//   - Luck: [Phase.Luck] is drawn for each attempt. The attempts of the first wave of a phase can have a different
//     distribution.
//
// So a copy helps exactly if it does not have the cause of the slow attempt.
//
// # Simplifications
//
//   - Without physical machines, a read that overlaps with the phase whose output it reads has the speed
//     [Phase.Fetch], a read within a rack has the speed of the reader, and only reads between racks share links.
//   - With physical machines, the output of a phase is read from the memory of the machines that wrote it.
//   - When the last input of a task ends, a task that read early has read all other inputs, if it was fast enough.
//   - A replica is made at once, and the output of a task has at most one replica. The loss of a replica is noticed
//     at once.
//   - An output that is computed ahead of need is read over links that no other flow uses.
//   - Clones that read outputs of their own do not share links. The further outputs of clones use no disk.
//   - Servers with queues of requests are simulated by package requests.
package cluster
