// Package engine is a reconciler: it keeps a [tracker.Tracker] in step with an engine that runs tasks, by comparing
// what should run with what the engine shows: a workflow server, a batch scheduler, a build farm, a job queue. The
// adapter of an engine is then the loop around it:
//
//	phase, err := engine.New(engine.Config{Tasks: 64, Slots: 16, Interval: time.Second})
//	for !phase.Done() {
//		for _, a := range phase.Poll(time.Now(), cluster.List()) { // all attempts, also those that ended since
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
//	phase.Close(time.Now()) // or before it is done: then it says what to cancel
//
// It starts tasks where there are slots, asks the policy about those that run, launches copies and restarts, lets the
// first result of a task win and cancels the others, and runs again what was lost. It acts on nothing itself, and reads
// no clock: the same calls give the same actions, so it may run in deterministic workflow code.
//
// Call [Phase.Close] when a phase is done, or when its job is cancelled, so that it holds nothing more of a shared
// budget, and [Phase.Release] once it is no longer observed, so that machines that it shares are free for others. Do not
// call Poll within the loop over its actions.
//
// Phases of a kind, such as the same stage night after night, learn from each other if they have one
// [Config.Experience]; a phase of a few tasks knows next to nothing without.
//
// # What an adapter must do
//
// Actions are wishes, and may be given more than once. To submit an ID that the engine has, to cancel what has ended,
// to publish what is published must change nothing: most engines have that for a name that the caller chooses, such as
// a task ID, an activity ID, a job name. An action that fails needs no retry; it is given again, after twice the lag
// that was seen lately, then after twice that. [Phase.Outstanding] lists what was asked for and not seen.
//
// List what waits, what runs, and what has ended. What waits must be listed if it may wait for longer than
// [Config.Trace], since what stays without a trace is taken to be lost, and tried elsewhere. An end must be shown until
// a snapshot that knows it is safe, or for as long as the phase goes on if there are none.
//
// Each attempt needs a place of its own for its result. Publish makes one of them the task's: by a rename, by the name
// of the winner in a record. It names one attempt of a task alone, and is given again until [Phase.Published] or
// Attempt.Published confirms it: a phase with a result that is not confirmed is not [Phase.Done]. Attempt.Published also
// tells a phase without a past which attempt was published. Without that, it is the first of those that have succeeded, by
// the times of their ends.
//
// # A scheduler that dies
//
// It may die at any point, and start again with a snapshot of then, with one that is old, or with none: every task
// ends, and each result is published once. A snapshot saves learning anew what machines and run times are like, and
// what of a task has failed and how often. It may be taken before the actions are carried out, or after. Save [Machines]
// with it, every minute or so: a snapshot takes some 200 bytes a task. What has happened since, the engine's list shows.
//
// # Whose clock
//
// The now of Poll is the caller's clock, and so are all times that come back. Begun, AsOf and Ended of an Attempt are
// by the clock of its machine, or of the server that dates it; all three by the same. A machine's clock may be off: what it
// dates later than the call that tells of it, or earlier than the attempt was asked for, shows by how much, at least,
// and all times of the machine are moved by that ([Machines.ClockOffset]). A clock that may be right is not moved. The clock
// of a machine that is behind can be seen only by attempts that were submitted by this phase; at the first call, a machine
// that runs something and has dated nothing for five intervals is taken to be behind. What is told in one call is taken
// in the order of those times. At the first call they may lie anywhere in the past; later what was true before the last
// call counts as true at that one: the tracker's time never falls. So an attempt that turns up long after it began
// gives no sample of its time.
//
// # What an engine differs in
//
// A submitted copy waits in a queue before it runs. It holds a slot from then on, so that no other is made in the
// meantime, but it is neither judged nor does it have an age until it is seen to run: queueing is not straggling.
//
// A cancelled attempt runs on for a while. It holds its slot until it is seen to have ended, and if it succeeds before
// that, its result counts. A task that must not be duplicated waits for that end before it is submitted again.
//
// An engine may be away for a while. After a gap of more than five times what usually lies between two polls that see
// attempts run, all of them look silent. Then no copy is made, restarted or killed for twice what is usual between
// polls, in which they report.
//
// Some engines place a copy where they are told (a queue for each machine), others only where they are not told not to (an
// exclusion list). Machines with Slots are placed by this package: each Submit names its machine. Otherwise each Submit names
// the machines to Avoid.
//
// Some engines hold all tasks from the beginning, such as a job array: see Config.Preloaded. Some list nothing, such as
// a pull queue, and tell of begins and ends as they happen: see [Phase.Push].
//
// # Bad machines
//
// A task that was killed, lost, or failed on a machine does not go back there as long as there is another one that may get
// something new. A machine that loses an attempt rests: it gets nothing new for a while, and what waits in its queue is
// cancelled and submitted elsewhere. A machine that went down and is back ([Machines.SetDown]) rests no longer. A machine that
// the record of machines calls slow ([MachinesConfig.Record], package estimate/machines) gets nothing new as long as there
// are others, and neither does one that leaves at a known time ([Machines.SetLeaving]); what would not end there by then is
// copied. The paper's policies judge copies one at a time; without this a bad machine would take one waiting task after the
// other, which Hadoop and Spark prevent by their lists of excluded nodes. All that holds under [restart.Never], too. A
// race that a clone or a copy loses says no more about its machine than the time that it had run. [Machines] may be shared by
// the phases of one cluster, one after another or at once.
//
// # Cost and concurrency
//
// Poll takes O(log n) for each attempt that it is told of, a decision for each that runs, and O(log machines) for each
// submit, for each machine that has a free slot as long as copies are wanted, and for each machine that a task has to avoid.
// See BenchmarkPollMachines and BenchmarkFirstPoll. It allocates for what is new, attempts and actions, and little
// besides. Memory grows with the number of attempts, and with all that is told if there is a journal.
//
// Not safe for concurrent use; one Phase per phase.
package engine
