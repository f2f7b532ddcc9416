// Package alike holds the one rule by which tasks are taken for alike. What a copy of a task would have taken is drawn
// from other tasks, and so a saving can be claimed only where one task says how long another would have taken.
package alike

import "fmt"

// Kin is what a log promises of how alike the tasks of a phase are.
type Kin uint8

// The kinds of kinship. The zero value promises most: it is what a phase is to an engine.
const (
	Alike  Kin = iota // the same work on different data: maps of a stage, instances of a task, indices of an array
	Named             // a name is the same work in every run, other names are not: tests of a report, nodes of a workflow
	Rerun             // so it is, and a name that stands in a phase several times ran several times: go test -count
	Unlike            // nothing is promised: spans of a timeline, calls of a function, actions of a build
)

var kinNames = [...]string{"alike", "named", "rerun", "unlike"}

func (k Kin) String() string {
	if int(k) < len(kinNames) {
		return kinNames[k]
	}
	return fmt.Sprintf("Kin(%d)", k)
}

// MarshalText writes the kinship as String does.
func (k Kin) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Parse reads a kinship.
func Parse(text []byte) (k Kin, ok bool) {
	for i, name := range kinNames {
		if name == string(text) {
			return Kin(i), true
		}
	}
	return 0, false
}

// Task is what is known of a task of a phase.
type Task struct {
	Seconds  float64
	Explains float64 // the seconds that its work explains; 0 if its work is not known
}

// What it takes to be alike without a promise.
const (
	// LeastRuns is how often the same work must have run for its runs to be a phase of their own, and of how many tasks
	// a phase must be whose work explains their times.
	LeastRuns = 10
	// near and mostOf: the work explains a time that is at most so many times off, for so many of the tasks.
	near, mostOf = 1.5, 0.75
)

// Judge says whether the tasks of a phase may be taken for alike: because the log promises it, or because the work of
// each is known, and explains how long most of them take. Runs of the same work are promised to be alike.
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
	"does not promise it; the work of the tasks is not known, or does not explain their times; and no task ran often enough " +
	"to be compared with its own other runs (10 times, in one log or in several logs given together)."
