// Package gate is for a scheduler that must not overload a machine. The package decides whether a reduce task may
// start to copy its input to a machine, and whether it may start to compute there. It also decides whether a task
// fits in the memory, the network link and the disks of a machine. If the disks are full, the package chooses a
// job whose intermediate results are deleted.
//
// The package follows M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55,
// sections 5.2 and 5.4. The paper calls a machine a node or a slave. A reducer is a reduce task.
//
// # An example
//
// With the zero [Config] at most six reducers are on a machine. At most two reducers compute, and at most two
// reducers of the same job copy their input. A job has two copying reducers on the machine and asks for a third:
//
//	wait job-copying have=2 limit=2
//
// Another job asks for its first reducer on the same machine:
//
//	admit below-limits have=2 limit=6
//
// Two reducers are on the machine and the limit is six, so the reducer may start.
//
// # The rule
//
// A reducer of a long job keeps its slot while maps of the job still run, and later jobs find no free slot
// (section 5.1). So a [Gate] lets more reducers start on a machine than may compute at the same time. But of each
// job it lets only a few reducers start that have not copied all their input. The paper has names for two of the
// limits:
//
//	maxReducers     Config.MaxReducers     reducers on the machine                      6 in the paper's example
//	maxComputing    Config.MaxComputing    reducers that compute on the machine         2
//	                Config.MaxCopying      reducers of one job that copy their input    2
//	                Reducer.MaxRunning     reducers of one job, set by its user         no limit
//
// Call [Gate.Launch] before a reducer starts. Call [Gate.Compute] when a reducer has copied all its input. Call
// [Gate.Room] before any other task starts. An answer is for one task: if the task goes on, change the numbers of
// the [Machine] before the next call.
//
// # Differences from the paper
//
// The paper says that a gate could also compare memory and network load. It plans to reserve slots for short and
// production jobs. It gives no numbers for this. In this package the operator sets these limits, and the zero
// value means no limit. The scheduler may pause a reducer that copies. This changes no number that the gate
// compares.
//
// # Limits of the method
//
// The scheduler estimates how many bytes a task will write and how much memory it needs. If an estimate is too
// small, a disk may still become full. Then an [EvictRule] chooses a job whose intermediate results are deleted.
// It never chooses the job that leads, so one job always comes nearer to its end (section 5.4). Long jobs may
// occupy all MaxReducers slots of a machine, and small jobs then wait long. Reserve slots with [Config.Reserved],
// or kill tasks with package preempt.
//
// # Cost and concurrency
//
// The result of a call depends only on its arguments. No call allocates, and all calls are safe for concurrent
// use.
//
// The simulated cluster in examples/internal/cluster/fairshare.go is a scheduler that you can copy from.
package gate
