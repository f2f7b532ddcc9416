// Package fanout is for Temporal workflows that run the same activity for many inputs on several workers and wait for the
// slowest one. [Map] is such a fan-out: it starts a copy of a slow activity on another worker, or restarts the activity
// there, and returns the first result of each task.
//
//	sizes, err := fanout.Map[Result](ctx, ReadChunk, tasks, fanout.Options{
//		Hosts: hosts, Interval: time.Second,
//	})
//
// Map is called in the workflow's code. A local activity polls the heartbeats of the fan-out's activities, and package
// restart/engine decides what to do. The first result of a task wins, and the other attempts of the task are cancelled.
// [Watch] does the same from outside, for workflows that you can't change.
//
// # Replay
//
// The history holds everything that Map decides on, and the decisions themselves. So a history replays even if the
// policy, the hosts, the interval or the library has changed since. Four things must stay the same: the tasks, the
// activity, the fan-out's name, and the name of its snapshot activity.
//
// # What the activity must do
//
//   - It calls [Report] a few times in an interval, with the work done so far.
//   - It returns when its context is done.
//   - It writes the output under a name of the attempt's own and returns the name, because two attempts of a task may run at
//     once. If it can't, set Task.NoCopy.
//
// # What the workers must do
//
// A worker process has a task queue of its own, named like the worker in Options.Hosts. The queue keeps a copy away
// from the worker on which the first attempt is slow. A shared queue would give the copy to the worker that asks first.
//
// Make workers with [WorkerOptions]. Without its throttle intervals the SDK sends a heartbeat only after 80 % of the
// heartbeat timeout. Cancellations travel with heartbeats, so progress and cancellations would be seconds late.
//
// # Cost
//
// A poll adds seven events to the workflow's history: two for its timer, three for the workflow task, a marker for the
// snapshot, and a marker for the decisions. An attempt adds three events. Its end adds four if nothing else happens at
// that time, and its cancellation adds one. A snapshot takes about 130 bytes for each running activity.
//
// By default a server ends a workflow with a history of 51,200 events or 50 MB. So let Interval be a hundredth of the
// time of the fan-out. Divide more than 5,000 tasks among several workflows, or use Watch. A workflow may have 2,000
// pending activities at a time.
//
// The sources of the rules are in package restart.
package fanout
