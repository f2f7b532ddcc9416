// Package engine is a reconciler for engines that run tasks: a workflow server, a batch scheduler, a build farm, a
// job queue. It is for the author of an adapter to such an engine. The engine must be able to list its attempts, or
// to report when they begin and end. An attempt is one run of a task. A [Phase] keeps a [tracker.Tracker] in
// agreement with the engine: it compares the attempts that should run with the attempts that the engine shows. The
// adapter is then a loop around [Phase.Poll]:
//
//	phase, err := engine.New(engine.Config{Tasks: 64, Slots: 16, Interval: time.Second})
//	for !phase.Done() {
//		for _, a := range phase.Poll(time.Now(), cluster.List()).Actions { // all attempts, also the ended ones
//			switch a.Op {
//			case engine.Submit:
//				cluster.Submit(a.Task, a.ID, a.Avoid)
//			case engine.Cancel:
//				cluster.Cancel(a.ID, a.Machine)
//			case engine.Publish: // this attempt's result is the task's
//				if cluster.Publish(a.Task, a.ID) == nil {
//					phase.Published(a.ID)
//				}
//			}
//		}
//		time.Sleep(time.Second)
//	}
//	phase.Close(time.Now()) // a phase that is closed early returns the attempts to cancel
//
// The phase does four jobs:
//
//   - Submit tasks when slots are free.
//   - Ask the policy about the tasks that run, and submit copies and restarts.
//   - Let the first result of a task win, and cancel the task's other attempts.
//   - Submit a task again if its attempt was lost.
//
// The phase never calls the engine and reads no clock. The same calls return the same actions, so a phase may run in
// deterministic workflow code.
//
// Call [Phase.Close] when a phase is done or its job is cancelled. Then the phase returns its part of a shared
// budget. Call [Phase.Release] when nobody polls the phase any more. Then its machines are free for other phases. Do
// not call Poll inside the loop over its actions.
//
// Phases that do the same work, such as the same stage every night, learn from each other if they share
// [Machines] and have the same [Config.Kind]. A phase of a few tasks knows almost nothing without them.
//
// # Duties of an adapter
//
// An action may be returned more than once, because the phase repeats it until the engine shows its effect. So these
// calls must change nothing: to submit an ID that the engine already has, to cancel an attempt that has already
// ended, and to publish a result that is already published. Most engines guarantee this for a name that the caller
// chooses: a task ID, an activity ID, a job name.
//
// An adapter need not retry an action that failed. The phase returns the action again: first after twice the longest
// time that the engine recently took to carry out such an action, and then after twice as long each time.
// [Phase.Outstanding] lists the requests whose effect the engine has not shown yet.
//
// List the waiting, the running and the ended attempts. A waiting attempt must be in the list if it may wait for
// longer than [Config.Trace]. An attempt that is missing for that time is treated as lost, and its task is submitted
// elsewhere. Keep an ended attempt in the list until a snapshot that includes its end has been saved. If you save no
// snapshots, keep it in the list as long as the phase runs.
//
// Give each attempt a place of its own for its result. Publish makes the result of one attempt the result of the
// task: for example by a rename, or by writing the attempt's ID into a record. For each task, Publish is returned for
// a single attempt only. Poll returns it until [Phase.Published] or Attempt.Published confirms it, and before that
// [Phase.Done] is false.
//
// A phase that starts without a snapshot learns from Attempt.Published which attempt was published. Without
// Attempt.Published, the winner of a task is the succeeded attempt that ended first, by the reported time of its end.
//
// # A scheduler that crashes
//
// The scheduler may crash at any moment. A new scheduler may start with the last snapshot, with an old snapshot, or
// with none: every task ends, and each result is published once. A snapshot may be taken before or after the actions
// are carried out. Save a snapshot about every minute, together with a snapshot of [Machines]. A phase's snapshot
// takes about 200 bytes for each task. The events since the snapshot come back from the engine's list.
//
// Without a snapshot the phase has to learn again how fast machines are, how long tasks take, and how often each task
// has failed.
//
// # Whose clock
//
// The argument now of Poll is a time of the caller's clock, and so are all times that the phase returns.
// Attempt.Begun, AsOf and Ended are times of another clock: the clock of the attempt's machine, or of the server that
// dates the attempt. All three must be times of the same clock.
//
// A machine's clock may be wrong. If a reported time is later than the call that reports it, the clock is ahead. If a
// reported time is earlier than the submission of the attempt, the clock is behind. In both cases the difference is
// the least possible offset of the clock, and the phase corrects all times of the machine by this offset
// ([Machines.ClockOffset]). A clock that may be right is never corrected. Only attempts that this phase submitted can
// show that a clock is behind. The first call is an exception: there, the clock of a machine is taken to be behind if
// the machine runs attempts and none of its reported times is from the last five intervals.
//
// The events of one call are applied in the order of their times. At the first call, a time may be any time in the
// past. At a later call, a time before the previous call is replaced by the time of the previous call, because the
// tracker's time never goes back. So an attempt that is first listed long after it began gives no sample of its run
// time.
//
// # How engines differ
//
// A submitted attempt waits in a queue before it runs. The attempt occupies a slot from the submission on, so no
// other attempt is submitted in its place. Until the attempt is seen to run, its age is not measured and no policy
// judges it: an attempt that waits in a queue is not a straggler.
//
// A cancelled attempt runs on for a while. It occupies its slot until it is seen to have ended. If it succeeds before
// that, its result is used. A task that must not be copied is submitted again only after this end.
//
// An engine may be unreachable for a while. A gap between two polls that show running attempts is called an outage if
// it is more than five times as long as usual. After an outage no attempt seems to have reported progress. So no
// attempt is copied, restarted or killed for twice the usual time between polls. In this time the attempts report
// again.
//
// Some engines run an attempt on the machine that the submission names, for example through a queue of that machine.
// For these engines set Slots for each machine: then each Submit has a machine. Other engines accept only a list of
// machines to exclude. For these engines leave Slots 0: then each Submit has a list of machines to Avoid.
//
// Some engines receive all tasks at the beginning, such as a job array: see [Config.Preloaded]. Some engines cannot
// list attempts, such as a pull queue, and report begins and ends as they happen: see [Phase.Push]. Some engines try a task
// again by themselves, such as a job queue: see [Config.EngineRetries].
//
// # A queue is one phase
//
// The jobs of a queue come all the time. Set [Config].Recent, add each job by [Phase.Add], and call [Phase.Forget] when a job
// has ended. The phase then needs the memory of the jobs that it has not forgotten. [Phase.TakeJournal] drains the journal.
//
// # Bad machines
//
// The policies of the papers judge one attempt at a time. Without further rules, a bad machine would receive one
// waiting task after another. Hadoop and Spark prevent this by lists of excluded nodes. This package has the
// following rules, which apply to every policy, also to [restart.Never]:
//
//   - A task does not go back to a machine on which an attempt of the task was killed, was lost or failed, as long as
//     another machine may get new attempts.
//   - A machine that loses an attempt rests: it gets no new attempts for a while. Attempts that wait in its queue are
//     cancelled and submitted elsewhere. The rest ends early if the machine went down and is back
//     ([Machines.SetDown]).
//   - A machine that was slow for earlier attempts gets no new attempts as long as other machines may get them
//     ([MachinesConfig.Knowledge], package estimate/machines).
//   - A machine that will leave at a known time gets no new attempts as long as other machines may get them. An
//     attempt that would not end there in time is copied ([Machines.SetLeaving]).
//
// If an attempt is overtaken by a clone or a copy, only the time that it had run is evidence about its machine. The
// phases of one cluster may share [Machines], one after another or at once.
//
// # Cost and concurrency
//
// Poll takes O(log n) for each attempt in the list, and makes one decision for each attempt that runs. Poll also
// takes O(log machines) for each submission and for each machine that a task has to avoid. While copies are wanted,
// it takes O(log machines) for each machine with a free slot. See BenchmarkPollMachines and BenchmarkFirstPoll. Poll
// allocates memory for new attempts and for actions, and only little besides. Memory grows with the number of
// attempts of the tasks that are not forgotten; with a journal it grows with the number of events since TakeJournal.
//
// A Phase is not safe for concurrent use. Use one engine.Phase for each phase of your job.
package engine
