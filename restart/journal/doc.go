// Package journal writes the events of a tracker.Tracker as text, and reads them back. Use it to ask later why
// a task was killed, to try another policy on recorded events, or to keep a recording as a unit test (package
// restarttest).
//
// In this journal Spark's rule copies task 2. The last line is the tracker's answer.
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
// A [Recorder] watches a tracker and writes such a text. [Replay] tells a new tracker the events of a text and
// writes the answers again; if nothing has changed, the text comes back as it was. [Restore] returns the
// tracker, for a scheduler that was stopped. [Parse] returns the events. [AppendPhase] and [AppendEvent]
// write single lines.
//
// # The format
//
// Each event has a line of its own. The line begins with the time since the start of the journal: 10s, 0.25s,
// 1m30s. The fields may have any order. The tracker's answer follows on indented lines.
//
//	phase FIELDS                                 opens a phase, see below; a journal may hold several phases
//	work W,W,...                                 the next tasks' works, directly below the phase; ? is unknown
//	since 2010-10-04T09:00:00Z                   the start of the journal; without it, the Unix epoch
//	slots N                                      SetSlots: how many attempts may run at once
//	eligible task=T copy=no restart=no           SetEligible; a field that is left out means yes
//	TIME start task=T machine=M                  Start; without machine=M it is unknown
//	TIME submit task=T machine=M                 Submit; without a machine, for any machine
//	TIME begin task=T attempt=A machine=M        Begin; without a machine, the machine of the submit
//	TIME report task=T attempt=A done=X score=X remaining=D saved=X
//	                                             Report; a field that is left out is unknown, and A is 0
//	TIME progress task=T attempt=A done=X ...    Record: a report that asks for no decision
//	TIME decide task=T                           Decide
//	TIME next machine=M                          Next; without a machine, for any machine
//	TIME sweep                                   Sweep
//	TIME finish task=T attempt=A                 Finish; likewise fail, kill and restart
//	TIME give-up task=T                          GiveUp
//	TIME lose machine=M                          LoseMachine
//	TIME lose task=T                             LoseOutput
//	TIME leave machine=M in=D                    Leave: after D from now; without D the machine stays
//	TIME merge delta=BASE64                      Merge: the experience of another process with the machines
//	TIME close                                   Close
//
// An answer has one of five forms:
//
//   - a decision, exactly as tracker.Answer prints it, without task=T where the event names the task,
//   - attempt=A, the number of a started or submitted attempt, unless A is 0,
//   - "ends attempt=A,..." with the attempts that a finish ends,
//   - "waits task=T,..." with the tasks that lost their last attempt,
//   - "ignored", if the event made no sense to the tracker.
//
// Empty lines and comments are for the reader. A comment is a word that begins with #, and the rest of its
// line. Replay keeps both.
//
// # The phase
//
// The fields of a phase are the fields of tracker.Config. A field that is zero is left out.
//
//   - of Config itself: tasks, slots, machines, interval, lag, clones, stream, work=W,W,...
//   - of its Model: window, grace and wrap-up
//   - of its UnitTimes: min-samples, floor, fixed-overhead and keep-first-wave
//   - of its Limits: restarts, copies, free-trials and loss-share, with Off as off
//
// Other fields have a value that is not a number:
//
//	policy=mantri                                as rules.Parse reads it
//	policy=mantri,max-restarts=1,idle-gain=off   with the fields that are not zero, Off as off
//	policy=custom                                a policy of your own
//	budget=100,share=0.2,rate=off,floor=5        a budget of 100 slots, and its fields that differ from the defaults
//	budget=custom                                a limiter of your own
//	record=new                                   a record of machines with its defaults and no experience
//	record=custom                                any other record of machines
//	prior=custom  path=custom                    a prior for the unit times; a path
//	shape=custom  experience=custom              a shape of progress; an experience of earlier phases
//
// A custom value has no text, so a replay needs it in its [Options]. A record of machines is custom if it has
// experience. A budget is written without its state, so a replay also needs a budget that earlier phases have
// used. Marshal the record and the budget when the phase begins, and keep the bytes beside the journal. For the
// replay, let [Options.Configure] read the bytes into a new record and a new budget, as the example of Options
// does. For a phase of package engine, the record is the record of its Machines.
//
// # Exactness
//
// A duration or a number is written in the shortest form that reads back as the same value. So a replay makes
// exactly the recorded decisions. ? stands for an unknown duration and for NaN. For any other text, [Parse] and
// [Replay] return an error that names the line and the expected form.
//
// # When a journal is not enough
//
// A journal holds one phase's events. If phases share a tracker.Budget or a record of machines, the journal
// does not show their changes to it. Then a replay may decide otherwise: without Options it starts
// with a new budget of the same configuration. Phases that run one after another replay exactly with the saved
// budget and record. Phases that run at the same time need not replay exactly. The events keep the order in
// which the tracker was told, also where a clock stepped back.
//
// The functions are pure and safe for concurrent use. A Recorder is not.
package journal
