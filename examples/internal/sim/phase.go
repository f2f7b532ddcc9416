// Package sim replays one phase of a job under a straggler-mitigation policy. It is a host like any other: it tells a
// tracker.Tracker of all events, and carries out the answers.
//
// A phase is replayed with its slots, its waves and its recorded durations. Under a policy that never acts, the
// replay gives back the recorded schedule: slots open at their recorded times, a slot rests between two tasks as long
// as in the recording, and tasks start in the recorded order. If a policy acts, these assumptions hold:
//
//   - Attempts report the progress of the model Options.Progress, by default linear in time.
//   - A copy that never ran takes its time from [Phase.Draw].
//   - A killed attempt ends at once. Its slot rests before it takes the next task, as it did after the recorded
//     attempt.
//   - If a slot of the recording ran no more tasks of the phase while tasks still waited, it was given to other
//     work. Such a slot takes no task after that time. Other slots stay open to the end of the phase.
//   - The clones of a task start together with its first attempt, each on a further slot of its own.
//   - An attempt that failed in the recording fails in the replay after the same time. Until then it reports half of
//     the progress that a successful attempt of this length would report. Copies that never ran do not fail.
package sim

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// Phase is a phase to replay. A replay does not change it, so several goroutines may replay it at once.
type Phase struct {
	Log       string // number of its log, if there are several
	Job, Name string
	// Kin is the promise of the log about the tasks: whether they are alike. Family is a name that the phase shares
	// with the phases of other runs; if it is empty, the name is the job.
	Kin    alike.Kin
	Family string
	// Apart is true if the tasks are independent runs, such as the runs of one test in several runs of its suite. The
	// time of the phase is then the sum of the times at which the tasks end.
	Apart bool
	// DependsOn lists the phases whose output this phase reads. They are indexes into the list of phases, and smaller
	// than the index of this phase.
	DependsOn []int
	// Source is the index of the phase in its log.
	Source int
	Tasks  []Task
	Slots  []Slot
	// Order lists the task of each recorded attempt, in the order of the starts. A task with a failed attempt is in
	// the list twice.
	Order []int32
	// Machines is the number of machines of the slots; 0 if it is not known. Hosts are the names of the machines, if
	// they are known.
	Machines int
	Hosts    []string
	// Interval is the time between two reports of an attempt, Δ in Mantri's paper.
	Interval time.Duration
	// Rest is the time that a slot rests between two tasks after its recorded rests.
	Rest time.Duration
	// Draw returns the time of a copy that never ran, on a machine, which is negative if it is not known. late is
	// true if the copy starts after the first wave of the phase. The same state of r gives the same time.
	Draw func(r *rand.Rand, task, machine int, late bool) time.Duration
	// Begins is the start of the phase, measured from the start of the workload. Phases are still replayed one by
	// one.
	Begins time.Duration
	// Recorded is the time of the phase in the log, from the first start to the last success; 0 if there is no log.
	Recorded time.Duration
	// Engine is the time of the phase that the engine recorded, from submission to completion; 0 if it recorded none.
	Engine time.Duration
}

// Task is a task of a phase.
type Task struct {
	// Name is the name of the task; empty if it has none. Number is its number in the log.
	Name   string
	Number int32
	// Host is the machine of the task's last attempt; empty if it is not known.
	Host string
	// Start is the beginning of the task's last attempt in the recording, measured from the first start of the phase.
	Start time.Duration
	// Work is the size of the input, in a unit that is the same for all tasks of the phase; 0 if it is not known.
	Work float64
	// First is true if the task is in the first wave: its last attempt was the first on its slot.
	First bool
	// Attempts are the recorded attempts in order. The last attempt succeeds, and all others fail.
	Attempts []Attempt
	// Compared is true if the task is also in another phase, which has all runs of the same work.
	Compared bool
}

// Compared reports whether all tasks are also in other phases, of the runs of their work.
func (p *Phase) Compared() bool {
	return !slices.ContainsFunc(p.Tasks, func(t Task) bool { return !t.Compared })
}

// TaskName returns the name of a task in the log, or its number if it has no name.
func (p *Phase) TaskName(i int) string {
	if name := p.Tasks[i].Name; name != "" {
		return name
	}
	return strconv.Itoa(int(p.Tasks[i].Number))
}

// Attempt is a recorded attempt.
type Attempt struct {
	Duration time.Duration
	// Wait is the time from the failure of the attempt before to the return of the task to the queue.
	Wait time.Duration
	// Splits are the times of the parts of the attempt; nil if they are not known. Several attempts may share them.
	Splits *Splits
}

// Slot is a slot: it runs one attempt at a time.
type Slot struct {
	Machine int // number of its machine; negative if it is not known
	// Opens is when the slot is free for the first time, measured from the first start of the phase.
	Opens time.Duration
	// Closes is when the slot stops taking attempts; 0 if it stays open.
	Closes time.Duration
	// Declines is true if the slot was free after its last attempt in the recording while tasks waited, and took none. After Last it
	// takes a recorded attempt only if it has run fewer of them than in the recording, where it ran one more than it has Rests.
	Declines bool
	Last     time.Duration
	// Rests are the times that the slot rested before its second, third, ... recorded attempt.
	Rests []time.Duration
}

// mostReports is the largest number of reports of an attempt that is as long as the longest attempt of its phase.
const mostReports = 10_000

// mostPhase is how many reports the attempts of a phase make at most, as recorded, unless that leaves a task fewer than
// leastReports.
const (
	// mostPhase is the largest number of reports of all recorded attempts of a phase. leastReports is the number of
	// reports of a task that is allowed in any case.
	mostPhase    = 1 << 20
	leastReports = 20
)

// Interval returns the time between two reports for tasks of a typical time: 10 s, or a tenth of the typical time if
// that is shorter [Mantri §5]. The interval is longer if the longest attempt would report more than 10,000 times:
// otherwise a task of an hour among tasks of milliseconds would slow the replay down. It is also longer if the
// attempts of the phase would make more than about a million reports in all, or twenty for each task. total is the
// sum of the times of all attempts.
func Interval(typical, longest, total time.Duration, tasks int) time.Duration {
	return max(min(10*time.Second, typical/10), longest/mostReports, total/time.Duration(max(mostPhase, leastReports*tasks)), time.Millisecond)
}
