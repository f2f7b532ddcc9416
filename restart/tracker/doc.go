// Package tracker keeps the books of a phase for a host: it is told what happens to the copies of its tasks, and
// answers with the decisions of package restart.
//
//	t, err := tracker.New(tracker.Config{Tasks: 1000, Slots: 40, Interval: 10 * time.Second})
//	...
//	fill() // at the start, after each event below, and after each Sweep
//	...
//	carryOut(t.Report(now, task, attempt, tracker.Report{Done: 0.3})) // if copies report how far they are
//	...
//	for _, other := range t.Finish(now, task, attempt) { // or t.Fail(now, task, attempt)
//		host.Kill(task, other) // overtaken; the tracker knows
//	}
//	...
//	t.Sweep(now, carryOut) // every Config.Interval: a copy that hangs tells nothing, and is found here
//	...
//	t.Close(now) // the phase is done or cancelled: it holds nothing any more of what it shares with others
//
// An answer about a running copy is carried out, and told:
//
//	func carryOut(a tracker.Answer) {
//		switch a.Action {
//		case restart.Restart:
//			host.Kill(a.Task, a.Attempt)
//			t.Restart(now, a.Task, a.Attempt) // the task waits, and Next starts it anew
//		case restart.Kill:
//			host.Kill(a.Task, a.Attempt)
//			t.Kill(now, a.Task, a.Attempt)
//		} // Duplicate needs nothing: Next gives the best such task to a slot
//	}
//
// And slots are filled: every slot that is idle, not only one that has just become so. A slot may have had nothing to
// do when it became free, and a task be worth a copy later, since time has passed or a Sweep has found it. A host that
// asks for new slots alone leaves such a task without its copy, for ever if that was the last slot to become free.
//
//	func fill() {
//		for machine := range host.Machines() {
//			for host.Idle(machine) {
//				a := t.Next(now, machine)
//				if a.Action == restart.Keep {
//					break // nothing for this machine
//				}
//				if a.Action == restart.Start || a.Action == restart.Copy {
//					attempt := t.Start(now, a.Task, machine)
//					host.Launch(a.Task, attempt, machine)
//				}
//				carryOut(a)
//			}
//		}
//	}
//
// Read the clock once for each call, under the lock that guards the tracker: times that come in another order than they
// were read count as steps of the clock. Each call is one [Event], which [Tracker.Apply] takes as well, and the
// tracker's [Answer] to it. Events are plain data: [Config.OnEvent] sees each with its answer, package journal writes
// them down and reads them back, and a new tracker that is told the same events is the same tracker.
//
// A [Ledger] says what was launched, won and wasted, and [Tracker.Decisions] how often each answer was given.
//
// # What it does not know unless it is told
//
//	Config.Record    how slow each machine is. Without it, and without Config.Machines, one bad machine takes one
//	                 waiting task after the other
//	Config.Experience how long such tasks take, before its own have ended. Without it a phase of few tasks knows
//	                 next to nothing
//	Config.Path      that a task is slow because of the way to its data, wherever it runs. Without it such tasks are
//	                 restarted for nothing
//	Config.Work      that a task has more to do than its peers; 0 is no work, NaN is unknown
//	Config.Clones    that a task's first copies are several. Without it the third is killed as one too many
//	Config.Budget    that other phases make copies as well
//	Report.Saved     how much of a task a checkpoint holds. Without it a new copy is taken to begin anew
//	Submit, Begin    what it takes until a copy runs. A host that tells only of Start should set Config.Lag
//	Leave            that a machine goes at a known time
//	Report           how far a copy is. Without it Mantri goes by ages, and knows less; Spark,
//	                 Flink, Dryad and MapReduce of package rules go by ages
//
// Record and Budget may be shared among the phases of a cluster; both are interfaces, so that a host with trackers on
// several goroutines can put a lock around them. An Experience is shared by phases of a kind. What is shared, by whom,
// and in which order it is saved: docs/sharing.md.
//
// # Machines that come and go
//
// Tell of a machine that is gone by [Tracker.LoseMachine], and of the slots that went with it by [Tracker.SetSlots]: as
// long as slots are counted that are gone, copies are asked for that have no place. When it is back, tell of its slots
// alone: the tracker knows the machine again by its number, from the first Next or Start there. If [Tracker.Leave] had
// said when it goes, take that back with a zero time. What a Record knows of the machine stays, and each copy that was
// lost with it counts there as one that failed: a machine that flaps often is avoided for that.
//
// # When it is wrong
//
// An attempt that hangs for ever is copied or restarted as the policy says, within its [restart.Limits], and no
// further. The rules of package rules make one copy, where a slot is free, and it may hang as well; where all slots
// hang they free none. Mantri restarts such tasks, until its Limits are reached. So keep a hard timeout of your own for
// each attempt, some times what the longest should take; kill what exceeds it, and tell by [Tracker.Fail].
//
// Progress in too large a unit is found out by the reports themselves, once one claims more work than its task has
// (Ledger.BadUnits). In too small a unit, MB where works are in kB, say, it makes healthy tasks look like stragglers
// until copies end: once three have, of which hardly anything was known to be done when most of their time had passed,
// and these are most of those that reported, the phase is decided by ages (Ledger.SmallUnits). Until then Mantri may
// restart and copy what is healthy. A unit that is too small by less than about ten times is not found out.
//
// # Stopping and going on
//
// [Tracker.MarshalBinary] and [Restore] take a tracker from one process to the next. A journal of what came after the
// snapshot closes the gap: see journal.Resume.
//
// # Costs and concurrency
//
// BenchmarkTrackerReport says what a report and its decision cost: most where tasks have ended, since t_rem is a
// distribution then. [Tracker.Record] spares the decision. Neither allocates; a running task takes some 150 bytes, a
// finished one 100 to 200. No function reads a clock, locks, or does I/O. A Tracker and a Budget are
// not safe for concurrent use.
package tracker
