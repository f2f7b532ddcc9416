// Package sim replays one phase of a job under a straggler-mitigation policy. It is a host like any other: it holds a
// tracker.Tracker, tells it what happens, and does what it is told.
//
// A phase is replayed with its slots, its waves and its recorded durations. Under a policy that never acts the replay
// gives back the recorded schedule: slots open when they did, a slot rests between two tasks for as long as it did, and
// tasks start in the order in which they did. What a policy changes is replayed by these assumptions:
//
//   - Progress is that of Options.Progress, at first linear in time.
//   - A copy that was never run takes its time from [Phase.Draw].
//   - Killing a copy is immediate; its slot rests, as it did after the recorded attempt, before it takes the next task.
//   - A slot that had no more of the phase's tasks in the recording while some still waited was lost to others: it takes
//     none after that time. Other slots stay open to the end of the phase.
//   - A task that is cloned gets its further copies at its first start, on slots of their own.
//   - Attempts that failed in the recording fail in the replay, after the same time; drawn copies do not fail.
//     Until then they report half of the progress that their time would mean for a success.
package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// Phase is a phase to replay. It is not modified, and may be replayed by several goroutines at once.
type Phase struct {
	Log       string // of which log, if there are several
	Job, Name string
	// Kin is what is promised of the tasks' likeness, and Family what the phase has in common with those of other runs;
	// empty: its job.
	Kin    alike.Kin
	Family string
	// Apart says that the tasks ran apart from one another, as a test does in each run of its suite: the phase's time is
	// then the sum of the times at which they end.
	Apart bool
	// DependsOn lists the phases whose output this one reads, as indexes into the list that it stands in itself, behind
	// them.
	DependsOn []int
	// Source is the phase's index in its log.
	Source int
	Tasks  []Task
	Slots  []Slot
	// Order lists, by task index, which attempts were started in which order: a task with a failed attempt stands in it
	// twice.
	Order []int32
	// Machines is how many machines the slots are on; 0 if that is not known. Hosts are their names, if they are.
	Machines int
	Hosts    []string
	// Interval is Δ, the time between two reports of a copy.
	Interval time.Duration
	// Rest is how long a slot rests between two tasks beyond those recorded.
	Rest time.Duration
	// Draw returns how long a copy of the task takes that was never run, on a machine (negative if not known); late says
	// that it starts after the phase's first wave. It returns the same for the same state of r.
	Draw func(r *rand.Rand, task, machine int, late bool) time.Duration
	// Begins is when the phase starts, since the start of the workload. Phases are replayed one by one all the same.
	Begins time.Duration
	// Recorded is the completion time in the log, from the first start to the last success; 0 if there was no log.
	Recorded time.Duration
	// Engine is the completion time that the engine itself recorded, from submission to completion; 0 if it did not.
	Engine time.Duration
}

// Task is one task of a phase.
type Task struct {
	// Name is the task's own; empty if it has none. Number is its number in the log.
	Name   string
	Number int32
	// Host is the machine of its last attempt; empty if it is not known.
	Host string
	// Start is when its last attempt began in the recording, since the phase's first start.
	Start time.Duration
	// Work is the size of its input in units that are the same for the whole phase; 0 if not known.
	Work float64
	// First says that it is of the phase's first wave: its last attempt was the first on its slot.
	First bool
	// Attempts are the recorded attempts, in order: the last one succeeds, those before it fail.
	Attempts []Attempt
	// Compared says that the task is also one of a phase of runs of the same work.
	Compared bool
}

// TaskName is what the log calls a task: by its name, or its number.
func (p *Phase) TaskName(i int) string {
	if name := p.Tasks[i].Name; name != "" {
		return name
	}
	return strconv.Itoa(int(p.Tasks[i].Number))
}

// Attempt is a recorded attempt.
type Attempt struct {
	Duration time.Duration
	// Wait is how long the task was not yet back in the queue after the attempt before this one had failed.
	Wait time.Duration
	// Splits is how its time was spent; nil if that is not known. Attempts may share it.
	Splits *Splits
}

// Slot is a place where one copy runs at a time.
type Slot struct {
	Machine int // negative if not known
	// Opens is when the slot first was there, since the phase's first start.
	Opens time.Duration
	// Closes is when it takes no more copies; 0 if it stays open.
	Closes time.Duration
	// Rests are how long it rested before its second, third, ... recorded attempt.
	Rests []time.Duration
}

// mostReports is how often a copy that is as long as the phase's longest attempt reports at most.
const mostReports = 10_000

// mostPhase is how many reports the attempts of a phase make at most, as recorded, unless that leaves a task fewer than
// leastReports.
const (
	mostPhase    = 1 << 20
	leastReports = 20
)

// Interval returns Δ for tasks of a typical duration: every 10 s or ten times in a lifetime, whichever is more often
// [Mantri §5]. It is longer if the longest attempt would report more than 10,000 times: a task of an hour among tasks of a
// few milliseconds would keep the replay busy with nothing else. So would thousands of tasks of days: the phase makes about
// a million reports at most, or twenty a task. Total is the time of all its attempts.
func Interval(typical, longest, total time.Duration, tasks int) time.Duration {
	return max(min(10*time.Second, typical/10), longest/mostReports, total/time.Duration(max(mostPhase, leastReports*tasks)), time.Millisecond)
}
