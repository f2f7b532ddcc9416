// Package queue simulates a small job queue on a database, such as River on Postgres, and plays one batch on it under
// several rules. It is a host like any other: it calls restart/engine through its public API, and decides nothing
// about slow tasks by itself. It shares no code with package worlds, so that a mistake in one of them is not a mistake
// in both.
//
// Four workers have four slots each. A worker looks for jobs at a random moment of each [Fetch]. A handler works in
// slices of [Slice], reports every [ReportEvery] where the scenario says so, and notices at the end of a slice that it
// is told to end, or that it has run for its hard timeout. The luck of an attempt belongs to its task and number: all
// rules meet the same.
//
// # The players
//
// Nothing is the plain queue. Workers take any job, the oldest first. A job that fails is tried again after tries^4
// seconds, a tenth more or less by chance, and [Tries] times at most. Nobody rescues a job whose worker was killed.
//
// Naive is the plain queue and a rule of a few lines, which looks each [NaiveEvery]. Once [NaiveEnded] tasks have
// ended, a task whose attempt has run for more than [NaiveTimes] times the median of them gets one copy, one only. The
// copy waits behind the other jobs. The first result counts, and the other attempt is told to end.
//
// Straggler is restart/engine as the coordinator of the queue. It polls each [Interval], and [Notice] after an attempt
// has ended. It puts each attempt as a job of one try into a queue that one worker alone reads. [DispatchMedian] and
// [DispatchMean] say how long the way from there to a free slot takes. The engine is told of one slot more than a worker
// has ([Waiting]), so that a slot that becomes free need not wait for that way.
//
// # What the engine lacks
//
// The host makes up for three things that the engine does not have today:
//
//   - Back-off. The engine runs a failed attempt again at once, and gives the task up after four. So its
//     MaxFailures is [Tries], and the host shows a failure [FailureShown] after it has happened.
//   - Silent workers. The host says that a worker is down once it has been silent for [Silence], and lists what ran
//     there as lost. When a worker comes back after it was killed, what ran there before is lost, too.
//   - A second coordinator. The state is saved in the same transaction as the actions, under an epoch. Who starts
//     takes the next epoch. A coordinator whose epoch is over does nothing more; it is started again after
//     [RestartTakes].
package queue

import "time"

// The simulated queue.
const (
	Workers     = 4
	Slots       = 4                      // of each worker
	Fetch       = 50 * time.Millisecond  // in which a worker looks for jobs once
	Slice       = 50 * time.Millisecond  // of a handler's work
	ReportEvery = 200 * time.Millisecond // of an attempt that reports
	Timeout     = 8 * time.Second        // after which a handler of a task of .6 s gives up
	Tries       = 25                     // of a task
	BackOffMore = 0.1                    // by which share a back-off is longer or shorter by chance
)

// The naive rule.
const (
	NaiveEvery = 50 * time.Millisecond
	NaiveEnded = 5 // tasks that must have ended
	NaiveTimes = 2 // x the median of the tasks that ended; what runs longer gets a copy
)

// The coordinator. All of these are choices. From the end of an attempt to the begin of the next one it is Notice and a
// dispatch. TestWay holds the simulation to the median and the mean of a dispatch.
const (
	Interval       = 250 * time.Millisecond
	Waiting        = 1                      // attempts that may wait at each worker, beyond its slots
	Notice         = 12 * time.Millisecond  // from the end of an attempt to the poll that sees it
	DispatchMedian = 31 * time.Millisecond  // from a submit to a begin, if a slot is free
	DispatchMean   = 74 * time.Millisecond  // the same in the mean; the time is log-normal
	FailureShown   = 500 * time.Millisecond // after it has happened
	Silence        = 2 * time.Second        // after which a worker counts as down
	RestartTakes   = 500 * time.Millisecond // from the end of a coordinator to the begin of the next one
)

// Longest is how long a batch may take. A task that has no result by then counts as lost.
const Longest = time.Hour
