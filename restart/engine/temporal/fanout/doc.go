// Package fanout runs a Temporal workflow's fan-out of activities with straggler mitigation: several hosts, one result
// each, and what lags behind is copied or started again elsewhere.
//
//	sizes, err := fanout.Map[Result](ctx, ReadChunk, tasks, fanout.Options{
//		Hosts: hosts, Interval: time.Second,
//	})
//
// [Map] stands in a workflow. It polls its own activities' heartbeats by a local activity, asks package restart/engine
// what to do, and does it: the first result of a task wins, and the other attempts are cancelled. All that it decides
// on is in the history, and so is what it decided, so a history replays even where the policy, the hosts, the interval
// or the library have changed since; the tasks, the activity, the fan-out's name and its snapshot's must be the same.
// [Watch] does the same from outside, for workflows that are not yours.
//
// # What the activity must do
//
// Call [Report] a few times in each interval, with the work that it has done, and return when its context is done. Two
// attempts of a task may run at once: outputs must not collide, so write to a name of the attempt's own and return it.
// A task for which that is not possible says so by Task.NoCopy.
//
// # What the workers must do
//
// A host is a worker process with a task queue of its own, whose name is the host's. Only so can a copy be kept off the
// host on which the first attempt is slow: a shared queue gives it to whoever asks first. [WorkerOptions] has what else
// matters: without its throttle intervals heartbeats are sent after 80 % of the heartbeat timeout, and cancellations
// travel with them, so that progress would be seconds old, and a kill as late.
//
// # What it costs
//
// A poll is seven events of the workflow's history: two of its timer, three of the workflow task, and a marker each of
// what was seen and of what was decided. An attempt is three, its end four more if nothing else happens at that time,
// and its cancellation one. What was seen takes some 130 bytes for each running activity. A server ends a workflow by
// default when its history has 51,200 events or 50 MB: let Interval be a hundredth of what the fan-out takes, and share
// more than 5,000 tasks among several workflows, or watch from outside. 2,000 activities may be pending in a workflow
// at a time.
//
// Source of the rules: package restart.
package fanout
