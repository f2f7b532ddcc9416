// Package tracker decides about the slow tasks of one phase: which task to copy, to restart or to start next. A phase
// is a set of tasks that do the same work on different data. The host, which is the program that embeds this library,
// tells the tracker each event of the phase, such as the start of an attempt. The tracker answers with the decisions
// of package restart.
//
// The package is for the author of a scheduler who does not want to record the facts of a phase: ages, remaining
// times, free slots, earlier copies. A host that records these facts itself calls restart.LeastCost.Decide directly.
//
//	t, err := tracker.New(tracker.Config{Tasks: 1000, Slots: 40, Interval: 10 * time.Second})
//	...
//	fill() // at the start, after each event below, and after each Sweep
//	...
//	carryOut(t.Report(now, task, attempt, tracker.Report{Done: 0.3})) // if attempts report progress
//	...
//	for _, other := range t.Finish(now, task, attempt) { // after a failure: t.Fail(now, task, attempt)
//		host.Kill(task, other) // another attempt of the task; for the tracker it has ended already
//	}
//	...
//	t.Sweep(now, carryOut) // every Config.Interval: this finds hung attempts, which report nothing
//	...
//	t.Close(now) // the phase is done or cancelled: free its part of a shared Budget and Knowledge
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
// The host asks Next for every idle slot, and not only for a slot that has just become free. The reason is that Next
// may find nothing to do when a slot becomes free. Later a task may be worth a copy, because time has passed or a
// Sweep has found that the task is slow. If the host asks only for new slots, and no other slot becomes free, this
// task never gets its copy.
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
// Read the clock for each call, and read it while you hold the lock that guards the tracker. Otherwise two goroutines
// may pass their times in the wrong order. The tracker then takes this for a clock that has stepped back, and counts
// it in Ledger.ClockSteps.
//
// # Events and answers
//
// Each call of the tracker is an [Event], to which the tracker gives an [Answer]. Events are plain data. An event can
// also be passed to [Tracker.Apply]. [Config.OnEvent] is called with each event and its answer, and package journal
// writes both to a log and reads them again. If a new tracker gets the same events in the same order, it gives the
// same answers.
//
// A [Ledger] counts the attempts that were launched and the copies that won. It also sums the slot time that was
// wasted. [Tracker.Decisions] returns how often each answer was given.
//
// # Facts that only the host can give
//
//	Config.Knowledge  what earlier phases have shown: how slow each machine is, and by Config.Kind how long tasks
//	                  take. Without it, a phase of few tasks knows almost nothing. Without Config.Machines as well, a
//	                  bad machine gets waiting tasks again and again
//	Config.Path       that a task is slow on every machine, because of the way to its data. Without it, such tasks
//	                  are restarted in vain
//	Config.Work       that a task has more to do than other tasks. 0 means no work, NaN means that the work is unknown
//	Config.Clones     that a task starts as several clones. Without it, the third clone is killed as surplus
//	Config.Budget     that other phases make copies as well
//	Report.Saved      how much of a task's work is stored in a checkpoint. Without it, a new attempt is expected to
//	                  start at zero
//	Submit, Begin     how long an attempt waits before it runs. A host that calls only Start should set Config.Lag
//	Leave             that a machine leaves at a known time
//	Report            how much of its work an attempt has done. Without it, decisions rest on the ages of attempts.
//	                  LeastCost, Spark, Flink, Dryad and MapReduce work without reports. Mantri does, too, but worse
//
// The phases of a cluster share a [Knowledge], and may share a Budget. Config declares the Budget as an interface. So a
// host with trackers on several goroutines can wrap it in a type that locks. The page docs/sharing.md says which phases
// share each part, and in which order to save the parts.
//
// # Machines that come and go
//
// When a machine is gone, call [Tracker.LoseMachine], and reduce the number of slots by [Tracker.SetSlots]. Otherwise
// the tracker asks for copies that no slot can run.
//
// When the machine is back, only increase the number of slots by SetSlots. The tracker recognises the machine by its
// number, at the first Next or Start on it. If [Tracker.Leave] had announced that the machine will leave, call Leave
// again with a zero time.
//
// A Knowledge does not forget a machine that is gone. It counts each attempt that was lost with the machine as a
// failure. So the tracker avoids a machine that goes and comes often.
//
// # Limits
//
// If an attempt hangs for ever, the policy copies or restarts its task, but only as often as [restart.Limits] allow.
// The policies of package rules make one copy, if a slot is free, and this copy may hang as well. If hung attempts
// occupy all slots, these policies free no slot. The policy Mantri restarts hung tasks until its Limits are reached.
//
// So set a hard timeout for each attempt in your own code, several times the longest expected run time. Kill an
// attempt that exceeds the timeout, and call [Tracker.Fail].
//
// Progress in a wrong unit misleads every policy that reads progress. The tracker detects two cases:
//
//   - Report.Done has a larger unit than Config.Work, so that an attempt reports more work than its task has. The
//     tracker detects this at once, and counts the report in Ledger.BadUnits.
//   - Report.Done has a smaller unit than Config.Work, for example MB where works are in kB, so that the numbers are
//     too small. Then healthy tasks look slow, and the policy may restart and copy them. The tracker detects this
//     when attempts end, because hardly any work was reported when most of the attempt's time had passed. It counts
//     such attempts in Ledger.SmallUnits. After three such attempts, if they are the majority of the attempts that
//     reported, the tracker uses ages instead of progress. If the numbers are too small by less than about ten times,
//     the tracker does not detect it.
//
// # Snapshots
//
// [Tracker.MarshalBinary] and [Restore] move a tracker from one process to the next. The new process also needs the
// events that came after the snapshot. A journal can supply them: see journal.Resume.
//
// # Costs and concurrency
//
// BenchmarkTrackerReport measures a report and its decision. A decision costs most after tasks have ended, because
// the remaining time is then a distribution and not a single number. [Tracker.Record] records a report without a
// decision. Neither call allocates. A running task takes some 150 bytes, and a finished task 100 to 200 bytes. No
// function of the package reads a clock, locks, or does I/O. A Tracker and a Budget are not safe for concurrent use.
package tracker
