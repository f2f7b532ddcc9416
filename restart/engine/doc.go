// Package engine keeps a [tracker.Tracker] in step with an engine that is polled: a workflow server, a batch scheduler,
// a build farm, whatever lists the attempts that it runs. The adapter of an engine is then the loop around it:
//
//	phase, err := engine.New(engine.Config{Config: tracker.Config{Tasks: 64, Slots: 16, Interval: time.Second}})
//	for !phase.Done() {
//		for _, a := range phase.Observe(time.Now(), cluster.List()) { // all attempts, also those that ended since
//			switch a.Op {
//			case engine.Submit:
//				cluster.Submit(a.Task, a.ID, a.Avoid)
//			case engine.Cancel:
//				cluster.Cancel(a.ID)
//			}
//		}
//		time.Sleep(time.Second)
//	}
//	phase.Close(time.Now()) // or before it is done: then it says what to cancel
//
// It starts tasks where there are slots, asks the policy about those that run, launches copies and restarts, lets the
// first result of a task win and cancels the others, and runs again what was lost. It acts on nothing itself, and reads
// no clock: the same observations give the same actions, so it may run in deterministic workflow code.
//
// Report each end at least once: an attempt that is left out of a list stays as it was, and is not taken as ended. Do
// not call Observe within the loop over its actions. Call [Phase.Close] when a phase is done, or when its job is
// cancelled, so that it holds nothing more of a shared budget, and [Phase.Release] once it is no longer observed, so
// that hosts that it shares are free for others.
//
// # What an engine differs in
//
// A poll sees the past. Each attempt may say when it began, as of when its progress was true, and when it ended; what
// is told in one call is taken in the order of those times. What was true before the last call counts as true at that
// one: the tracker's time never falls.
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
// Some engines place a copy where they are told (a queue for each host), others only where they are not told not to (an
// exclusion list). Hosts with Slots are placed by this package: each Submit names its host. Otherwise each Submit names
// the hosts to Avoid.
//
// Some engines hold all tasks from the beginning, such as a job array: see Config.Queued.
//
// # Bad hosts
//
// A task that was killed, lost, or failed on a host does not go back there as long as there is another one that may get
// something new. A host that loses an attempt rests: it gets nothing new for a while, and what waits in its queue is
// cancelled and submitted elsewhere. A host that the record of machines calls slow ([HostsConfig.Record], package
// estimate/machines) gets nothing new as long as there are others, and neither does one that leaves at a known time
// ([Hosts.SetLeaving]); what would not end there by then is copied. The paper's policies judge copies one at a time;
// without this a bad host would take one waiting task after the other, which Hadoop and Spark prevent by their lists of
// excluded nodes. A race that a clone or a copy loses says no more about its host than the time that it had run.
// [Hosts] may be shared by the phases of one cluster, one after another or at once.
//
// # Cost and concurrency
//
// Observe takes O(log n) for each attempt that it is told of, a decision for each that runs, and O(log hosts) for each
// submit, for each host that has a free slot, and for each host that a task has to avoid. Where tasks wait and a slot
// is free it sorts them. A poll of 1,000,000 attempts on 10,000 hosts takes some 0.6 s of one core, the one that
// submits them all twice as long: see BenchmarkObserveHosts and BenchmarkFirstObserve. It allocates for what is new,
// attempts and actions, and little besides. Memory grows with the number of attempts, and with all that is told if
// there is a journal.
//
// Not safe for concurrent use; one Phase per phase.
package engine
