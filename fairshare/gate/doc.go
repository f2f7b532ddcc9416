// Package gate is for a scheduler that must not overload a machine. It decides which reduce tasks may copy or compute
// on a machine. It also decides which tasks fit in its memory, its network link and its disks. If the disks are full,
// it names the job that must give up its intermediate results.
//
// The package follows M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55,
// sections 5.2 and 5.4. A machine is a node or a slave in the paper.
//
// # An example
//
// With the zero [Config] a machine holds at most six reducers. Two reducers may compute, and two reducers of one job
// may copy. A job has two copying reducers on the machine and asks for a third:
//
//	wait job-copying have=2 limit=2
//
// Another job asks for its first reducer on the same machine:
//
//	admit below-limits have=2 limit=6
//
// The machine holds two of at most six reducers, so the reducer may start.
//
// # The rule
//
// Reducers of a long job hold their slots while the job's maps still run, and later jobs find no free slot (section
// 5.1). So a [Gate] admits more reducers to a machine than may compute at the same time. From one job it admits only
// a few reducers that still copy:
//
//	maxReducers     Config.MaxReducers     reducers on the machine                     6 in the paper's example
//	maxComputing    Config.MaxComputing    reducers that compute on the machine        2
//	                Config.MaxCopying      reducers of one job that copy on it         2
//	                Reducer.MaxRunning     reducers of one job on it: the user's cap   none
//
// Call [Gate.Launch] before a reducer starts, [Gate.Compute] when a reducer has copied everything, and [Gate.Room]
// before any other task starts. An answer holds for one task. Update the facts before the next call.
//
// # Differences from the paper
//
// The paper says that a gate could also compare memory and network load, and plans slots for short and production
// jobs. It gives no numbers. Here the operator sets the limits, and the zero value turns these checks off. The host
// may pause a copier: a pause changes no count that the gate compares.
//
// # Limits of the method
//
// The gate compares the bytes that the host expects a task to write and to hold. If these numbers are too small, a
// disk may still fill up. Then an [EvictRule] names a job that makes room. It never names the leading job, so one job
// always progresses to its end (section 5.4). Long jobs may fill all MaxReducers, and small jobs then starve. Reserve
// slots with [Config.Reserved], or let package preempt kill tasks.
//
// # Cost and concurrency
//
// An answer depends only on the arguments. No call allocates, and all calls are safe for concurrent use.
//
// The simulated cluster is a host to copy from: examples/internal/cluster/disk.go.
package gate
