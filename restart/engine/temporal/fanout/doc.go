// Package fanout is for Temporal workflows that run the same activity for many inputs on several workers, and wait
// until the slowest activity has ended. Such a workflow calls [Map] with one task for each input. If the activity of
// a task is slow, Map starts a copy of the activity on another worker, or ends the slow activity and starts it anew
// on another worker. Map returns the first result of each task.
//
//	sizes, err := fanout.Map[Result](ctx, ReadChunk, tasks, fanout.Options{
//		Machines: machines, Interval: time.Second,
//	})
//
// Map is called in the workflow's code. At regular intervals a local activity reads the heartbeats of the running
// activities, and package restart/engine decides which activities are copied or restarted. Each activity that Map
// starts for a task is an attempt of the task. The first result of a task wins, and Map cancels the other attempts of
// the task. [Watch] does the same from outside the workflow, for workflows that you can't change.
//
// # Replay
//
// The history of the workflow contains all facts on which Map decides, and the decisions. So Temporal can replay a
// history even if the policy, the machines, the interval or this library has changed since. For a replay, four things
// must stay the same: the tasks, the activity, Options.Name, and the name of the function Options.Snapshot.
//
// # What the activity must do
//
//   - The activity calls [Report] a few times in each Options.Interval, with the amount of work that it has done so
//     far.
//   - The activity returns when its context is done.
//   - If the activity writes output, each attempt writes under a name of its own, and returns this name. The reason:
//     two attempts of a task may run at the same time. If the activity can't do so, set Task.NoCopy.
//
// # What the workers must do
//
// Each worker process polls a task queue of its own. The name of this queue is the name of the worker in
// Options.Machines. With a queue for each worker, Map can start a copy on another worker than the slow attempt. A shared
// queue would give the copy to any worker that has a free slot, even to the slow one.
//
// Make workers with [WorkerOptions]. By default the SDK holds back heartbeats for up to 80 % of the heartbeat
// timeout. An activity learns of its cancellation only from the answer to a heartbeat. So progress and cancellations
// would be seconds late. WorkerOptions sets shorter throttle intervals.
//
// # Cost
//
// Each Options.Interval, Map polls the running activities. A poll adds seven events to the workflow's history: two
// for the timer, three for the workflow task, a marker for the list of running activities, and a marker for the
// decisions. An attempt adds three events. If nothing else happens at the time of its end, the end adds four more
// events. A cancellation adds one event. The list of running activities takes about 130 bytes for each activity.
//
// By default a Temporal server ends a workflow whose history has 51,200 events or 50 MB. So set Options.Interval to
// about a hundredth of the time that Map will take. If you have more than 5,000 tasks, divide them among several
// workflows, or use Watch. A workflow may have 2,000 pending activities at a time.
//
// The page of package restart names the papers from which the rules come.
package fanout
