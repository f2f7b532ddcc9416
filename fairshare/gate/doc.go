// Package gate decides what a node lets in: which reducers may copy there and which may compute, which tasks its
// memory, its link and its disks can bear, and whose intermediate results to delete when disks are full. It follows
// M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55, sections 5.2 and 5.4.
//
// # The rule
//
// Reducers of a long job hold their slots while its maps run, and jobs that come later find none (section 5.1). A
// [Gate] therefore lets more reducers onto a node than may compute there, and only a few of any one job that still
// copy:
//
//	maxReducers     Config.MaxReducers     reducers on the node           6 in the paper's example
//	maxComputing    Config.MaxComputing    of them, those that compute    2
//	                Config.MaxCopying      of one job, those that copy    2
//	                Reducer.MaxRunning     of one job, the user's cap     none
//
// Ask [Gate.Launch] before a reducer starts, [Gate.Compute] when it has copied everything, and [Gate.Room] before any
// other task starts. An answer holds for one task: tell the next question what has changed.
//
// # Deviations
//
// The paper describes admission by memory and by network load as possible, and slots kept for short or production
// jobs as planned, without numbers; here they are comparisons with what the operator says, and off by default.
// Pausing a copier is the host's: a pause changes no count that is asked about here.
//
// # When it is wrong
//
// The gate knows what the host expects a task to write and to hold. Where that is too little, a disk still fills up:
// then [EvictRule] names a job that makes room, never the one that leads, so that some job always ends (section 5.4).
// Jobs that are long enough to fill all MaxReducers still starve small ones; reserve slots, or let package preempt
// kill.
//
// # Cost and concurrency
//
// All answers are functions of their arguments, without allocation, and safe for concurrent use.
//
// To copy from: the simulated cluster asks this package in examples/internal/cluster/disk.go.
package gate
