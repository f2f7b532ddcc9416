package assign

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Pattern says which upstream tasks a downstream task reads [Dolly §4]. The names and values are stable.
type Pattern uint8

const (
	// AllToAll: every downstream task reads every upstream task, as in a shuffle. AllToAll is the zero value.
	AllToAll Pattern = iota
	// ManyToOne: one downstream task reads each upstream task, and a downstream task may read several.
	ManyToOne
	// OneToOne: every downstream task reads the upstream task with the same index.
	OneToOne
)

var patternNames = [...]string{"all-to-all", "many-to-one", "one-to-one"}

// String returns the pattern's name.
func (p Pattern) String() string { return enum.Name(patternNames[:], p) }

// MarshalText returns the pattern's name.
func (p Pattern) MarshalText() ([]byte, error) { return enum.Text(patternNames[:], p) }

// UnmarshalText sets the pattern by its name.
func (p *Pattern) UnmarshalText(text []byte) error { return enum.Parse(patternNames[:], text, p) }

// Inputs returns the upstream tasks that a downstream task reads: the indices from first up to, but not including, end.
// task is the index of the downstream task, from 0. upstream and downstream are the numbers of tasks in the two phases. For
// example, under ManyToOne with ten upstream and four downstream tasks, task 1 reads the upstream tasks 3, 4 and 5.
//
// ManyToOne deals the upstream tasks out in order and as evenly as possible; the first downstream tasks may get one more. A
// host that pairs the tasks in another way does not need Inputs.
//
// The error names a task that does not exist. Under OneToOne, the error says that the phases differ in their numbers
// of tasks. Under ManyToOne, the error says that the upstream phase has fewer tasks than the downstream phase. O(1),
// no allocation except for the error.
func (p Pattern) Inputs(task, upstream, downstream int) (first, end int, err error) {
	switch {
	case upstream < 1:
		return 0, 0, check.Bad("delay/assign", "upstream", upstream, "1 task or more")
	case task < 0 || task >= downstream:
		return 0, 0, check.Badf("delay/assign", "task", task, "at least 0 and less than the number of downstream tasks, which is %d", downstream)
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
			return 0, 0, check.Badf("delay/assign", "upstream", upstream, "at least the number of downstream tasks, which is %d", downstream)
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
