// Package queuesim simulates a small job queue on a database, such as River on Postgres, and runs one batch on it under
// several rules. It is a host like any other: it calls restart/engine through its public API, and has no rule of its
// own about slow tasks. It shares no code with package worlds, so that an error in one package is not an error in
// both.
//
// Four workers have four slots each; two scenarios have twelve workers. A worker looks for jobs at a random moment of
// each [Fetch]. A handler works in slices of [Slice], and reports every [ReportEvery] if the scenario has reports. At
// the end of a slice, it notices that it was told to end, or that its hard timeout is over. The luck of an attempt
// depends only on its task and number, so all rules meet the same luck.
//
// # The players
//
// Nothing is the plain queue. A worker takes any job, the oldest first. A failed job runs again after tries^4
// seconds, 10 % more or less by chance, and at most [Tries] times. No rule recovers a job after its worker was
// killed.
//
// Naive is the plain queue with a rule of a few lines, which is applied once in each [NaiveEvery]. When [NaiveEnded]
// tasks have ended, a task with an attempt that has run for more than [NaiveTimes] times their median gets one copy.
// The copy waits behind the other jobs. The first result is used, and the other attempt is told to end.
//
// Straggler is restart/engine/queue, the driver of job queues, on the same table. It looks into the table once in each
// [Look], and decides once in each [Interval]. It submits each attempt as a job of one try, into a queue that only one
// worker reads. [DispatchMedian] and [DispatchMean] describe the time from there to a free slot. At each worker
// [Waiting] attempts may wait, so that the next job is already there when a slot becomes free. Failed jobs rest as long
// as those of the plain queue.
package queuesim

import "time"

// The parameters of the simulated queue.
const (
	Workers      = 4
	Slots        = 4                      // slots of each worker
	Fetch        = 50 * time.Millisecond  // a worker looks for jobs once in each such period
	Slice        = 50 * time.Millisecond  // length of a slice of work
	ReportEvery  = 200 * time.Millisecond // time between two reports of an attempt
	Timeout      = 8 * time.Second        // hard timeout of a handler, for tasks of .6 s
	Tries        = 25                     // attempts of a task
	UnluckyTimes = 8                      // x the time of a task, for an unlucky attempt
	BackOffMore  = 0.1                    // largest random change of a back-off, as a share
)

// The parameters of the naive rule.
const (
	NaiveEvery = 50 * time.Millisecond
	NaiveEnded = 5 // number of tasks that must have ended before a copy
	NaiveTimes = 2 // x the median time of the ended tasks; an attempt that runs for longer gets a copy
)

// The parameters of the coordinator. All of them are choices. TestWay compares the median and the mean of a dispatch in
// the simulation with the constants.
const (
	Interval       = 250 * time.Millisecond
	Waiting        = 2                      // attempts that may wait at each worker
	Look           = 25 * time.Millisecond  // time between two looks into the table
	DispatchMedian = 31 * time.Millisecond  // median time from a submit to a begin, if a slot is free
	DispatchMean   = 74 * time.Millisecond  // mean of this time, which is log-normal
	Silence        = 2 * time.Second        // a worker that is silent for this time is down
	RestartTakes   = 500 * time.Millisecond // from the end of a coordinator to the beginning of the next
)

// Longest is the time limit of a batch. A task without a result by then is lost.
const Longest = time.Hour
