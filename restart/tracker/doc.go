// Package tracker is the state machine of one phase: the host tells it each event, and it answers with the decisions
// of package restart. It is for the author of a scheduler who does not want to keep the facts of a phase (ages,
// remaining times, free slots, trials). A host that keeps these facts itself calls restart.LeastCost.Decide directly.
//
//	t, err := tracker.New(tracker.Config{Tasks: 1000, Slots: 40, Interval: 10 * time.Second})
//	...
//	fill() // at the start, after each event below, and after each Sweep
//	...
//	carryOut(t.Report(now, task, attempt, tracker.Report{Done: 0.3})) // if attempts report progress
//	...
//	for _, other := range t.Finish(now, task, attempt) { // after a failure: t.Fail(now, task, attempt)
//		host.Kill(task, other) // this attempt came too late; the tracker already counts it as ended
//	}
//	...
//	t.Sweep(now, carryOut) // every Config.Interval: this finds hung attempts, which report nothing
//	...
//	t.Close(now) // the phase is done or cancelled: it gives back its part of a shared Budget and Record
//
// The host carries out each answer about a running attempt, and then tells the tracker:
//
//	func carryOut(a tracker.Answer) {
//		switch a.Action {
//		case restart.Restart:
//			host.Kill(a.Task, a.Attempt)
//			t.Restart(now, a.Task, a.Attempt) // the task waits, and Next starts it anew
//		case restart.Kill:
//			host.Kill(a.Task, a.Attempt)
//			t.Kill(now, a.Task, a.Attempt)
//		} // restart.Copy needs nothing here: Next gives the best such task to a slot
//	}
//
// The host fills every slot that is idle, and not only a slot that has just become free. A slot may find nothing to do
// when it becomes free; later a task may be worth a copy, because time has passed or a Sweep has found the task. A
// host that asks only for new slots leaves such a task without its copy. If no other slot becomes free, the task never
// gets the copy.
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
// Read the clock once for each call, under the lock that guards the tracker. If two calls pass their times in reversed
// order, the tracker counts a step of the clock.
//
// # Events and answers
//
// Each call is one [Event], which [Tracker.Apply] takes as well; the tracker returns one [Answer] to it. Events are
// plain data. [Config.OnEvent] sees each event with its answer, and package journal writes both down and reads them
// back. A new tracker that takes the same events in the same order gives the same answers.
//
// A [Ledger] counts the attempts that were launched and the copies that won, and the slot time that was wasted.
// [Tracker.Decisions] counts how often each answer was given.
//
// # Facts that only the host can give
//
//	Config.Record     how slow each machine is. Without Record and Config.Machines, one bad machine takes one
//	                  waiting task after another
//	Config.Experience how long tasks of this kind take, before tasks of this phase have ended. Without it, a phase
//	                  of few tasks knows almost nothing
//	Config.Path       that a task is slow on every machine, because of the way to its data. Without it, such tasks
//	                  are restarted in vain
//	Config.Work       that a task has more to do than its peers. 0 is no work, NaN is unknown work
//	Config.Clones     that a task starts as several clones. Without it, the third clone is killed as surplus
//	Config.Budget     that other phases make copies as well
//	Report.Saved      how much of a task a checkpoint holds. Without it, a new attempt is expected to start at zero
//	Submit, Begin     how long an attempt waits before it runs. A host that calls only Start should set Config.Lag
//	Leave             that a machine leaves at a known time
//	Report            how much of its work an attempt has done. Without it, Mantri goes by ages, and knows less;
//	                  Spark, Flink, Dryad and MapReduce of package rules go by ages
//
// The phases of a cluster may share a Record and a Budget. Both are interfaces, so that a host with trackers on
// several goroutines can guard them by a lock. Phases of one kind share an Experience. The page docs/sharing.md says
// which phases share each part, and in which order to save the parts.
//
// # Machines that come and go
//
// When a machine is gone, call [Tracker.LoseMachine], and take its slots off by [Tracker.SetSlots]. If the tracker
// still counts the lost slots, it asks for copies that no slot can run.
//
// When the machine is back, call only SetSlots. The tracker knows the machine again by its number, from the first Next
// or Start there. If [Tracker.Leave] had announced the departure, take it back by a zero time.
//
// A Record keeps its knowledge of the machine. It counts each attempt that was lost with the machine as a failure, so
// a machine that goes and comes often is avoided.
//
// # Limits
//
// An attempt that hangs for ever is copied or restarted by the policy, within its [restart.Limits], and no further.
// The rules of package rules make one copy, if a slot is free, and the copy may hang as well. If hung attempts hold
// all slots, these rules free no slot. Mantri restarts hung tasks until its Limits are reached. So keep a hard timeout
// of your own for each attempt, several times the longest expected run time. Kill an attempt that exceeds it, and call
// [Tracker.Fail].
//
// Progress in a wrong unit misleads every policy that reads progress. The tracker detects two cases:
//
//   - The unit of Done is larger than the unit of Work, so that an attempt reports more work than its task has. The
//     tracker detects this at once, and counts it in Ledger.BadUnits.
//   - The unit of Done is smaller than the unit of Work, such as MB where works are in kB. Healthy tasks look like
//     stragglers, and Mantri may restart and copy them. The tracker detects this when attempts end: hardly any work
//     was reported when most of the attempt's time had passed. After three such attempts, if they are the majority of
//     the attempts that reported, the tracker goes by ages (Ledger.SmallUnits). A unit that is too small by less than
//     about ten times is not detected.
//
// # Snapshots
//
// [Tracker.MarshalBinary] and [Restore] move a tracker from one process to the next. A journal of the events after the
// snapshot closes the gap: see journal.Resume.
//
// # Costs and concurrency
//
// BenchmarkTrackerReport measures a report and its decision. A decision costs most after tasks have ended, because
// t_rem is a distribution then. [Tracker.Record] takes a report without a decision. Neither call allocates. A running
// task takes some 150 bytes, a finished task 100 to 200. No function reads a clock, locks, or does I/O. A Tracker and
// a Budget are not safe for concurrent use.
package tracker
