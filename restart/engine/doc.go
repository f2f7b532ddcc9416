// Package engine is a reconciler for the adapter of an engine that runs tasks: a workflow server, a batch
// scheduler, a build farm, a job queue. Use it if the engine can list its attempts, or can report when they
// begin and end. A [Phase] keeps a [tracker.Tracker] in step with the engine: it compares the attempts that
// should run with the attempts that the engine shows. The adapter is then a loop around [Phase.Poll]:
//
//	phase, err := engine.New(engine.Config{Tasks: 64, Slots: 16, Interval: time.Second})
//	for !phase.Done() {
//		for _, a := range phase.Poll(time.Now(), cluster.List()) { // all attempts, also the ended ones
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
// The phase calls nothing and reads no clock. The same calls return the same actions, so a phase may run in
// deterministic workflow code.
//
// Call [Phase.Close] when a phase is done or its job is cancelled: then the phase gives back its part of a
// shared budget. Call [Phase.Release] when nobody polls the phase any more: then its machines are free for
// other phases. Do not call Poll inside the loop over its actions.
//
// Phases of one kind, such as the same stage every night, learn from each other if they share a
// [Config.Experience]. A phase of a few tasks knows almost nothing without it.
//
// # Duties of an adapter
//
// An action is a wish and may be returned more than once. So these calls must change nothing: to submit an ID
// that the engine has, to cancel an attempt that has ended, to publish a result that is published. Most engines
// guarantee this for a name that the caller chooses: a task ID, an activity ID, a job name.
//
// An adapter need not retry an action that failed. The phase returns the action again: first after twice the
// recent lag, then after twice as long each time. [Phase.Outstanding] lists the requests that the engine has
// not yet shown as carried out.
//
// List the waiting, the running and the ended attempts. A waiting attempt must be in the list if it may wait
// for longer than [Config.Trace]: an attempt that is missing for so long counts as lost, and its task is
// submitted elsewhere. Show an ended attempt until a snapshot that includes the end is safe. If you keep no
// snapshots, show it as long as the phase goes on.
//
// Give each attempt its own place for its result. Publish makes one result the task's: for example by
// a rename, or by writing the winner's ID into a record. Publish names only one attempt of a task. Poll returns
// it until [Phase.Published] or Attempt.Published confirms it, and the phase is not [Phase.Done] before that.
// Attempt.Published also tells a phase without a snapshot which attempt was published. Without
// Attempt.Published, the winner is the attempt that ended first, by the time of its end, among the attempts
// that succeeded.
//
// # A scheduler that dies
//
// The scheduler may die at any point. A new scheduler may start with the last snapshot, with an old one, or with none:
// every task ends, and each result is published once. A snapshot may be taken before or after the actions are
// carried out. Save one every minute or so, together with a snapshot of [Machines]; a phase's snapshot takes about 200
// bytes a task. The events since the snapshot come back from the engine's list.
//
// Without a snapshot the phase has to learn again how fast machines are, how long tasks take, and how often
// each task has failed.
//
// # Whose clock
//
// The now of Poll is by the caller's clock, and so are all times that the phase returns. Attempt.Begun, AsOf
// and Ended are by the clock of the attempt's machine, or of the server that dates the attempt. All three must
// be by one clock.
//
// A machine's clock may be wrong. A time later than the call that reports it proves that the clock is ahead. A
// time earlier than the submission of the attempt proves that the clock is behind. A wrong time also gives the
// least possible offset of the clock, and the phase shifts all times of the machine by this offset
// ([Machines.ClockOffset]). A clock that may be right is never shifted. Only attempts that this phase submitted
// can show that a clock is behind. The first call is an exception: a machine that runs attempts and
// has dated nothing for five intervals counts as behind.
//
// The events of one call are applied in the order of their times. At the first call a time may lie anywhere in
// the past. At a later call, a time before the last call counts as the time of the last call, because the
// tracker's time never goes back. So an attempt that is first seen long after it began gives no sample of its
// run time.
//
// # How engines differ
//
// A submitted attempt waits in a queue before it runs. The attempt holds a slot from the submission on, so no other
// attempt is submitted in its place. Until it is seen to run, its age does not count and no policy judges it:
// queueing is not straggling.
//
// A cancelled attempt runs on for a while. The attempt holds its slot until it is seen to have ended. If the
// attempt succeeds before that, its result counts. A task that must not be copied waits for this end before it
// is submitted again.
//
// An engine may be away for a while. A gap between two polls that see running attempts is an outage if it is
// more than five times as long as usual. After an outage all attempts look silent. So no attempt is copied,
// restarted or killed for twice the usual time between polls; in this time the attempts report again.
//
// Some engines place an attempt where the submission says, for example in a machine's own queue. For them give
// the machines Slots: then each Submit names its machine. Other engines accept only an exclusion list. For them
// leave Slots 0: then each Submit names the machines to Avoid.
//
// Some engines hold all tasks from the beginning, such as a job array: see [Config.Preloaded]. Some engines
// list nothing, such as a pull queue, and report begins and ends as they happen: see [Phase.Push].
//
// # Bad machines
//
// The policies of the papers judge one attempt at a time. Without further rules a bad machine would take one
// waiting task after another. Hadoop and Spark prevent this by lists of excluded nodes. This package has these
// rules, and they hold under [restart.Never] too:
//
//   - A task does not go back to a machine on which an attempt of the task was killed, was lost or failed, as long as
//     another machine may get new attempts.
//   - A machine that loses an attempt rests: it gets no new attempts for a while. Attempts that wait in its
//     queue are cancelled and submitted elsewhere. The rest ends early if the machine went down and is back
//     ([Machines.SetDown]).
//   - A machine that the record of machines calls slow gets no new attempts as long as there are others
//     ([MachinesConfig.Record], package estimate/machines).
//   - A machine that leaves at a known time gets no new attempts as long as there are others. An attempt that
//     would not end there in time is copied ([Machines.SetLeaving]).
//
// An attempt that loses a race against a clone or a copy counts against its machine only by the time that it
// had run. The phases of one cluster may share [Machines], one after another or at once.
//
// # Cost and concurrency
//
// Poll takes O(log n) for each attempt in the list, and one decision for each attempt that runs. Poll also
// takes O(log machines) for each submission and for each machine that a task has to avoid. While copies are
// wanted, it takes O(log machines) for each machine with a free slot. See BenchmarkPollMachines and
// BenchmarkFirstPoll. Poll allocates for new attempts and for actions, and little besides. Memory grows with
// the number of attempts; with a journal it grows with the number of events.
//
// A Phase is not safe for concurrent use. Use one Phase for each phase of your job.
package engine
