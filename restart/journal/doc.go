// Package journal is the text in which a host records what it told a tracker.Tracker, and reads it back: to ask later
// why a task was killed, to try another policy on what happened, and to keep it as a unit test (package restarttest).
//
//	phase tasks=3 slots=4 interval=1s policy=spark,quantile=0.6
//	0s start task=0 machine=0
//	0s start task=1 machine=1
//	0s start task=2 machine=2
//	10s finish task=0 attempt=0
//	10s finish task=1 attempt=0
//
//	# Task 2 has fallen silent. Three times the median of its peers is 30 s.
//	31s decide task=2
//	    copy beyond-peers run-seconds=31 threshold=30 gain=1s avoid=2
//
// A [Recorder] watches a tracker and writes such a text. [Replay] feeds a new tracker with the events of a text and
// writes the answers anew; where nothing has changed, the text comes back as it was. [Restore] returns the tracker, for
// a host that was stopped. [Parse] gives the events; [AppendPhase], [AppendEvent] and [AppendAnswer] write them.
//
// # The format
//
// An event stands on a line of its own, behind its time since the start of the journal: 10s, 0.25s, 1m30s. Fields may
// stand in any order. Below it, indented, stands what the tracker answered.
//
//	phase FIELDS                                 opens a phase, see below; a journal may hold several, one after another
//	work W,W,...                                 the next tasks' works, directly below the phase; ? is unknown
//	since 2010-10-04T09:00:00Z                   when the journal starts; without it, at the Unix epoch
//	slots N                                      SetSlots: how many copies may run at once
//	eligible task=T copy=no restart=no      SetEligible; what is left out is allowed
//	TIME start task=T machine=M                  Start; without a machine it is not known
//	TIME submit task=T machine=M                 Submit; without a machine it is for any
//	TIME begin task=T attempt=A machine=M        Begin; without a machine it is the one that it was submitted for
//	TIME report task=T attempt=A done=X score=X remaining=D saved=X
//	                                             Report; what is left out is not known, and A is 0
//	TIME progress task=T attempt=A done=X ...    Record: a report that asks nothing
//	TIME decide task=T                           Decide
//	TIME next machine=M                          Next; without a machine it does not matter
//	TIME sweep                                   Sweep
//	TIME finish task=T attempt=A                 Finish; so also fail, kill and restart
//	TIME give-up task=T                          GiveUp
//	TIME lose machine=M                          LoseMachine
//	TIME lose task=T                             LoseOutput
//	TIME leave machine=M in=D                    Leave: in that time from now; without it the machine stays
//	TIME merge delta=BASE64                      Merge: what another process has seen of the machines
//	TIME close                                   Close
//
// The answers are decisions, exactly as tracker.Answer prints them, without task=T where the event names the task;
// attempt=A, the number of a started or submitted copy, unless it is 0; "ends attempt=A,..." with the copies that a
// finish ends; "waits task=T,..." with the tasks that lost their last copy; and "ignored" where the tracker could make
// no sense of the event.
//
// Empty lines, and all from a word that begins with #, are for the reader. Rewriting keeps them.
//
// # The phase
//
// The fields of a phase are those of tracker.Config, left out where they are zero: tasks, work=W,W,..., slots,
// machines, interval, lag; window, grace and wrap-up of its Model; min-samples, floor, fixed-overhead and
// keep-first-wave of its UnitTimes; restarts, copies, free-trials and loss-share of its Limits, Off as off.
//
//	policy=mantri                                as rules.Parse reads it
//	policy=mantri,max-restarts=1,idle-gain=off   with the fields that are not zero, Off as off
//	policy=custom                                a policy of the host's own
//	budget=100,share=0.2,rate=off,floor=5        a budget of 100 slots, with what differs from its defaults
//	budget=custom                                a limiter of the host's own
//	prior=custom  record=custom  path=custom     a prior for the rates, a record of machines, a path
//	record=new                                   a record of machines with its defaults that has seen nothing
//
// What is custom has no text: replaying takes [Options] to supply it. A record of machines and a budget that earlier
// phases have taught are so. Marshal them when the phase begins, keep the bytes beside its journal, and have
// [Options.Configure] read them into a new record and a new budget; the example of Options does it. Of an engine's
// phase the record is that of its Machines.
//
// # Exactness
//
// Durations and numbers are written in the shortest form that reads back as the same value, so that a replay decides
// bit for bit as the recorded tracker did. ? stands for an unknown duration and for a number that is none. Any text
// that is not of this form gives an error with its line and what was wanted there.
//
// # When it is not enough
//
// A journal is one phase's. If phases share a tracker.Budget or a record of machines, what the others did to it is not
// in the journal, and a replay may decide otherwise: unless Options supply them it starts with a budget of its own, as
// it was configured. Phases that follow one another replay exactly with what they began with; phases at the same time
// need not. Events stand in the order in which they were told, also where a clock stepped back.
//
// Functions are pure and safe for concurrent use; a Recorder is not.
package journal
