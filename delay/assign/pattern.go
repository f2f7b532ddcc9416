package assign

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Pattern says which upstream tasks a downstream task reads [Dolly §4]. The values and the names of the constants
// will not change.
type Pattern uint8

const (
	// AllToAll means that every downstream task reads every upstream task, as in a shuffle. AllToAll is the zero
	// value.
	AllToAll Pattern = iota
	// ManyToOne means that each upstream task is read by exactly one downstream task. A downstream task may read
	// several upstream tasks.
	ManyToOne
	// OneToOne means that each downstream task reads the upstream task with the same index.
	OneToOne
)

var patternNames = [...]string{AllToAll: "all-to-all", ManyToOne: "many-to-one", OneToOne: "one-to-one"}

// String returns the name of the pattern.
func (p Pattern) String() string { return enum.Name(patternNames[:], p) }

// MarshalText returns the name of the pattern. It returns an error if the value has no name.
func (p Pattern) MarshalText() ([]byte, error) { return enum.Text(patternNames[:], p) }

// UnmarshalText sets the pattern to the constant whose name is text. It returns an error if no constant has this name.
func (p *Pattern) UnmarshalText(text []byte) error { return enum.Parse(patternNames[:], text, p) }

// Inputs returns the indices of the upstream tasks that a downstream task reads: first, first+1, ..., end-1. task
// is the index of the downstream task. upstream and downstream are the numbers of tasks in the two phases. For
// example, with the pattern ManyToOne, ten upstream tasks and four downstream tasks, task 1 reads the upstream
// tasks 3, 4 and 5.
//
// ManyToOne divides the upstream tasks among the downstream tasks in order, and as evenly as possible. The first
// downstream tasks may read one task more. If the host pairs the tasks in another way, do not use Inputs.
//
// Inputs returns an error if the task does not exist. With OneToOne it returns an error if the two phases have
// different numbers of tasks. With ManyToOne it returns an error if there are fewer upstream tasks than downstream
// tasks. Cost: O(1), no allocation except for the error.
func (p Pattern) Inputs(task, upstream, downstream int) (first, end int, err error) {
	switch {
	case upstream < 1:
		return 0, 0, check.Bad("delay/assign", "upstream", upstream, "1 task or more")
	case task < 0 || task >= downstream:
		return 0, 0, check.Badf("delay/assign", "task", task,
			"at least 0 and less than the number of downstream tasks, which is %d", downstream)
	}
	switch p {
	case AllToAll:
		return 0, upstream, nil
	case OneToOne:
		if upstream != downstream {
			return 0, 0, check.Badf("delay/assign", "upstream", upstream, "the number of downstream tasks, which is %d", downstream)
		}
		return task, task + 1, nil
	case ManyToOne:
		if upstream < downstream {
			return 0, 0, check.Badf("delay/assign", "upstream", upstream,
				"at least the number of downstream tasks, which is %d", downstream)
		}
		each, more := upstream/downstream, upstream%downstream
		first = task*each + min(task, more)
		end = first + each
		if task < more {
			end++
		}
		return first, end, nil
	}
	return 0, 0, check.Bad("delay/assign", "the pattern", p, "AllToAll, ManyToOne or OneToOne")
}
