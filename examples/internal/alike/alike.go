// Package alike has the rule that decides whether tasks are alike: whether they do the same work on different data.
// The time of a copy that never ran is drawn from other tasks. So a saving can be claimed only if tasks are alike.
package alike

import "fmt"

// Kin is the promise of a log about the tasks of a phase: whether they are alike.
type Kin uint8

// The promises. The zero value is Alike, because a phase of an engine has tasks that are alike.
const (
	Alike  Kin = iota // the tasks do the same work on different data: maps of a stage, indices of an array
	Named             // tasks of one name do the same work in every run, and other tasks do not: tests of a report, nodes of a workflow
	Rerun             // as Named, and a name that a phase has several times is several runs of the same work: go test -count
	Unlike            // no promise: spans of a timeline, calls of a function, actions of a build
)

var kinNames = [...]string{Alike: "alike", Named: "named", Rerun: "rerun", Unlike: "unlike"}

// String returns the name of the promise, such as "named".
func (k Kin) String() string {
	if int(k) < len(kinNames) {
		return kinNames[k]
	}
	return fmt.Sprintf("Kin(%d)", k)
}

// MarshalText returns the text of String. It never fails.
func (k Kin) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Parse returns the promise with a name, as String writes it. ok is false for an unknown name.
func Parse(text []byte) (k Kin, ok bool) {
	for i, name := range kinNames {
		if name == string(text) {
			return Kin(i), true
		}
	}
	return 0, false
}

// Task has the two times of a task by which Judge compares.
type Task struct {
	// Seconds is the time of the task.
	Seconds  float64
	Explains float64 // the time that the work of the task explains, in seconds; 0 if the work is not known
}

// The requirements for tasks to be alike if the log makes no promise.
const (
	// LeastRuns is the least number of runs of the same work that become a phase. It is also the least number of
	// tasks of a phase whose work explains their times.
	LeastRuns = 10
	// near and mostOf are the required accuracy: for at least the share mostOf of the tasks, the real time and the
	// time that the work explains differ by at most the factor near.
	near, mostOf = 1.5, 0.75
)

// Judge reports whether the tasks of a phase are alike. They are if the log promises it. They also are if the work of
// each task is known, and explains the times of at least three quarters of at least ten tasks, within a factor of
// 1.5. The runs of the same work are always alike.
func Judge(kin Kin, tasks []Task) bool {
	if kin == Alike {
		return true
	}
	explained := 0
	for _, t := range tasks {
		if t.Explains == 0 {
			return false
		}
		if t.Seconds <= near*t.Explains && t.Explains <= near*t.Seconds {
			explained++
		}
	}
	return len(tasks) >= LeastRuns && float64(explained) >= mostOf*float64(len(tasks))
}

// Why is the text that explains to a user why no saving is claimed.
const Why = "The time of a copy is drawn from other tasks. Here nothing shows that one task takes as long as another: the log " +
	"does not promise it; the work of the tasks is not known, or does not explain their times; and none of these tasks succeeded often " +
	"enough to be compared with its own other runs (10 times, in one log or in several logs given together)."
