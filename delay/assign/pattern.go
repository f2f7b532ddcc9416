package assign

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

// Pattern says which upstream tasks a downstream task reads [Dolly §4]. The names and values are stable.
type Pattern uint8

const (
	// AllToAll: every downstream task reads every upstream task, as in a shuffle. It is the zero value.
	AllToAll Pattern = iota
	// ManyToOne: every upstream task is read by one downstream task, which may read several.
	ManyToOne
	// OneToOne: every downstream task reads the upstream task of the same number.
	OneToOne
)

var patternNames = [...]string{"all-to-all", "many-to-one", "one-to-one"}

// String returns the pattern's name.
func (p Pattern) String() string { return enum.Name(patternNames[:], p) }

// MarshalText returns the pattern's name.
func (p Pattern) MarshalText() ([]byte, error) { return enum.Text(patternNames[:], p) }

// UnmarshalText sets the pattern by its name.
func (p *Pattern) UnmarshalText(text []byte) error { return enum.Parse(patternNames[:], text, p) }

// Inputs returns which upstream tasks the downstream task reads: those from first up to, and not including, end. The
// tasks are counted from 0; upstream and downstream say how many there are. ManyToOne deals the upstream tasks out in
// order and as evenly as can be, the first downstream tasks getting one more where that does not come out; a host that
// pairs them otherwise knows better.
//
// It is an error if there is no such task, if OneToOne phases differ in their number of tasks, or if a ManyToOne phase
// has fewer tasks than the one that reads it. O(1), no allocation except for the error.
func (p Pattern) Inputs(task, upstream, downstream int) (first, end int, err error) {
	switch {
	case upstream < 1:
		return 0, 0, check.Bad("delay/assign", "upstream", upstream, "1 task or more")
	case task < 0 || task >= downstream:
		return 0, 0, check.Badf("delay/assign", "task", task, "0 to less than downstream, which is %d", downstream)
	}
	switch p {
	case AllToAll:
		return 0, upstream, nil
	case OneToOne:
		if upstream != downstream {
			return 0, 0, check.Badf("delay/assign", "upstream", upstream, "as many tasks as downstream, which is %d", downstream)
		}
		return task, task + 1, nil
	case ManyToOne:
		if upstream < downstream {
			return 0, 0, check.Badf("delay/assign", "upstream", upstream, "no fewer tasks than downstream, which is %d", downstream)
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
