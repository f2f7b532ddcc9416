// Package straggler is the root of a library of decisions about slow tasks. Use the library in a scheduler, a job
// queue or any other program that runs the tasks of a job on several machines.
//
// A job that is split into tasks waits for its slowest task. The packages below tell the host, which is your
// program, what to do about a slow task. The host owns the clock, the threads, the network and the tasks; the
// library owns the decisions. For example, an attempt has run for 40 s and needs another 110 s, while a new attempt
// would take 55 s:
//
//	decision := restart.Decide(task, phase)
//	fmt.Println(decision)
//	// restart fresh-sooner attempt=0 remaining=110s fresh=55s slot-seconds=165 threshold=82.5 gain=55s avoid=7
//
// The decision restarts the attempt: to let it run costs 165 s of slot time, and the cheapest change costs 82.5 s.
//
// Every package is pure: it reads no clock, starts no goroutine, takes no lock, does no I/O and draws no random number
// of its own. So the same inputs give the same decision, and a decision can be logged, replayed and unit-tested.
//
//   - estimate: how long a running attempt still needs, and how long a new attempt would take
//   - restart: whether to keep a running task, start a copy of it, restart it or kill a copy
//   - placement: which rack runs which reduce task
//   - replicate: which output to copy, and which lost output to compute again before a task asks for it
//   - clone: how many clones of a small job's tasks to launch, within a budget
//   - delay: whether to wait or to go, for a slot near the data or for an output that no other clone reads
//   - fairshare: how large each pool's share is, which pool gets the next slot, and which tasks to kill for a
//     starving pool
//   - laxity: which job runs next, which workers are overloaded, and which tasks to move off them
//   - skew: which reduce task gets which partition
//
// Import the package that answers your question. The packages do not import each other, except that all may import
// estimate. The root package holds a type that all packages share: [FieldError], the error of a value that is out
// of range.
package straggler
