// Package cluster simulates a cluster that runs jobs: machines with slots, racks whose links flows share, jobs of
// several phases, tasks whose length has causes. It is a host like any other. Whatever is to be decided it asks of the
// library, through its public calls, and carries the answer out; it has no rule of its own about who runs next, where,
// with how many copies, or what is killed. What it asks of each package is in one file with the package's name
// (restart.go, delay.go, fairshare.go and so on; assign.go for delay/assign, overload.go for laxity/outlier, disk.go
// for the disks of fairshare/gate, recompute.go for what replicate computes ahead of need, blacklist.go for the machines
// that clone bans), which is meant to be read, and
// copied, by who writes such a host.
//
// # Time
//
// It is a discrete-event simulation: an instant is handled whole, what ends before what begins, and then free slots are
// offered. One seed gives one result: nothing depends on a map, a goroutine or a clock, and each random number belongs
// to what it is drawn for, so that the third copy of a task is as lucky under one policy as under another.
//
// # Why a task takes as long as it does
//
//   - Its data: [Task.Seconds] and [Task.Bytes]. A copy has as much to do.
//   - Its machine: [Machine.Speed], its slow [Spell], and how many copies share it. A copy elsewhere is free of that.
//   - The network: where its input lies, and who else uses the links.
//   - Luck: [Phase.Luck] is drawn for each copy; those of a phase's first wave can be told apart.
//
// So a copy helps exactly where the cause is one that it escapes.
//
// # What is not modelled
//
// Reads that overlap with the phase that they read go at [Phase.Fetch], and those within a rack at the reader's own
// speed; only reads between racks share links. A copy that copies early is taken to have read, when the last input
// ends, all but that input's part, if it was fast enough. A replica is there at once, and a task's output has one
// replica at most. Its loss is noticed at once, and a run ahead of need reads over links that nobody else uses. Clones
// that read outputs of their own do not share links, and what a clone leaves beside its task's output takes no room on
// a disk. Servers that queue requests are a simulation of their own, package requests.
//
// # Cost
//
// An event takes O(log n) at most, and what the decisions take that it asks for. On one core of a busy two-core AMD EPYC,
// with Mantri, delay scheduling and fair shares deciding, and by the time of the processor:
//
//	machines    events a second    with restart.Never    kB a machine, with its jobs
//	     100            850,000             1,870,000    12.5
//	   1,000            510,000               770,000    11.8
//	  10,000            400,000               550,000    11.7
//
// as by the command
//
//	go test ./internal/cluster -run none -bench Cluster -cpu 1 -count 4
//
// whose comment says what an event is. On such a machine these figures vary by a fifth from one run to the next. Five
// events in six are reports, each of which the library judges: more than half of the time is that of package
// restart/tracker, and two thirds is the library's. With a rule that never does anything in Mantri's place, and all else
// as it was, it is the second column (BenchmarkClusterNever): the rest of the time goes into what is left of each copy, as
// a distribution. Beyond 100 machines an event does little more than before, but what it reads, of its copy and of its
// phase, is no longer in the processor's cache.
package cluster
