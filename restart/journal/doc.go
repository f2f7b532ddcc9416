// Package journal writes the events of a tracker.Tracker as text, and reads the text back. A tracker decides which
// slow tasks are copied or killed. Use a journal to find out later why a task was killed, to try another policy on
// recorded events, or to keep a recording as a unit test (package restarttest).
//
// An example of a journal, in which Spark's rule copies task 2. Each line that begins with a time is an event. The
// last line is the tracker's answer to the event above.
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
// A [Recorder] observes a tracker and writes such a text. [Replay] applies the events of a text to a new tracker and
// writes the new answers. If nothing has changed, the result equals the original text. [Resume] applies
// events to a tracker that was restored from a snapshot, so that a scheduler that was stopped can continue. [Parse]
// returns the events. [AppendEvent] writes a single line.
//
// # The format
//
// Each event has a line of its own. The line begins with the time since the start of the journal, such as 10s, 0.25s
// or 1m30s. The fields may have any order. The tracker's answer is on indented lines below the event. In the table,
// the name of the tracker's method for each event is on the right.
//
//	phase FIELDS                                 opens a phase, see below; a journal may hold several phases
//	work W,W,...                                 the next tasks' works, directly below the phase; ? is unknown
//	since 2010-10-04T09:00:00Z                   the start of the journal; without it, the Unix epoch
//	slots N                                      SetSlots: how many attempts may run at once
//	eligible task=T copy=no restart=no           SetEligible; a field that is left out means yes
//	add work=W                                   Add: a task of a growing phase; without work=W its work is unknown
//	forget task=T                                Forget
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
//	TIME retry task=T                            Retry
//	TIME lose machine=M                          LoseMachine
//	TIME lose task=T                             LoseOutput
//	TIME leave machine=M in=D                    Leave: after D from now; without D the machine stays
//	TIME merge delta=BASE64                      Merge: the observations of another process
//	TIME close                                   Close
//
// An answer has one of six forms:
//
//   - A decision, exactly as tracker.Answer prints it. If the event has task=T, the decision is printed without it.
//   - task=T, the index of the task that was added.
//   - attempt=A, the number of the attempt that was started or submitted. Number 0 is not written.
//   - "ends attempt=A,...", the attempts that the host must end because the task has finished.
//   - "waits task=T,...", the tasks that lost their last attempt, so that they wait again.
//   - "ignored", if the event made no sense to the tracker.
//
// Empty lines and comments are for people. A comment begins with a word that begins with #, and extends to the end
// of the line. Replay copies empty lines and comments.
//
// # The phase
//
// A phase is a group of tasks that do the same work on different data. The line of a phase contains the fields of
// tracker.Config. Fields that are zero are left out. The numbers and flags are:
//
//   - Fields of Config itself: tasks, slots, machines, interval, lag, clones, stream, recent, kind,
//     work=W,W,...
//   - Fields of Config.Model: window, grace and wrap-up.
//   - Fields of Config.UnitTimes: min-samples, floor, fixed-overhead and keep-first-wave.
//   - Fields of Config.Limits: restarts, copies, free-trials and loss-share. The value Off is written as off.
//
// Other fields have a value that is not a number:
//
//	policy=mantri                                as rules.Parse reads it
//	policy=mantri,max-restarts=1,idle-gain=off   with the fields that are not zero, Off as off
//	policy=custom                                a policy of your own
//	budget=100,share=0.2,rate=off,floor=5        a budget of 100 slots, and its fields that differ from the defaults
//	budget=custom                                a limiter of your own
//	kind="daily"  kind="a\x20b"                  the kind of the phase, as Go quotes a text; \x20 is a space
//	knowledge=new                                a Knowledge with its defaults and no observations
//	knowledge=custom                             any other Knowledge
//	prior=custom  path=custom                    a prior for the unit times; a path
//
// The value custom means that the real value has no text. So a replay needs the value in its [Options]. A Knowledge
// (what earlier phases have shown) is custom if it is not empty. A budget is written without its state. So if earlier
// phases have used the budget, a replay needs the budget itself, too.
//
// To replay such a journal, marshal the Knowledge and the budget when the phase begins, and keep the bytes beside the
// journal. For the replay, let [Options.Configure] read the bytes into a new Knowledge and a new budget, as the
// example of Options does. For a phase of package engine, the Knowledge is that of its Machines.
//
// # Exactness
//
// A duration or a number is written in the shortest form from which the same value is read. So a replay makes exactly
// the recorded decisions. The text ? means an unknown duration or NaN. If a text has no valid form, [Parse] and
// [Replay] return an error that states the line and the expected form.
//
// # When a journal is not enough
//
// A journal contains the events of one phase. If several phases share a tracker.Budget or a tracker.Knowledge, the
// journal does not show how the other phases change it. Then a replay may make other decisions: without Options it
// starts with a new budget of the same configuration. Phases that run one after another replay exactly with the saved
// budget and Knowledge. Phases that run at the same time need not replay exactly. The events are in the order in which
// the tracker received them, even if a clock was set back.
//
// The functions are pure and safe for concurrent use. A Recorder is not safe for concurrent use.
package journal
