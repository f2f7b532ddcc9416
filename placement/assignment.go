package placement

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/wire"
)

// Assignment is a rack for every task, with the length of the longest transfer and a proven lower bound.
type Assignment struct {
	// Rack is the rack of each task, indexed by task.
	Rack []int
	// Bottleneck is the link with the longest transfer, or any such link in a tie. Seconds is the duration of the
	// longest transfer: max_j c_j in the paper. If no byte crosses a link, Seconds is 0 and Bottleneck has no
	// meaning.
	Bottleneck Link
	Seconds    float64
	// Bound is a proven lower bound in seconds, from 0 to Seconds: every placement takes at least this long. If Optimal
	// is true, Bound equals Seconds and is proven only up to a billionth of Seconds.
	Bound float64
	// Optimal is true if no placement is shorter by more than a billionth of Seconds. Bound equals Seconds then.
	Optimal bool
}

// Gap returns by how much the placement exceeds the bound, as a share of the bound. The gap is 0 if the placement is
// optimal, and +Inf if the bound is 0 and Seconds is not.
func (a Assignment) Gap() float64 {
	if a.Seconds == a.Bound {
		return 0
	}
	return (a.Seconds - a.Bound) / a.Bound
}

// Spread returns the number of tasks in each of the given number of racks. O(tasks + racks); it allocates the result.
func (a Assignment) Spread(racks int) []int {
	count := make([]int, racks)
	for _, j := range a.Rack {
		if j >= 0 && j < racks {
			count[j]++
		}
	}
	return count
}

func (a *Assignment) wire(c *wire.Codec) {
	if c.Brief() {
		tasks := len(a.Rack)
		c.When(true).Int("tasks", &tasks)
	} else {
		wire.Numbers(c, "rack", &a.Rack)
	}
	c.When(true).Float("seconds", &a.Seconds)
	c.Enum("bottleneck", &a.Bottleneck)
	c.When(true).Float("bound", &a.Bound)
	c.When(true).Bool("optimal", &a.Optimal)
}

// String returns a summary of the assignment in one line, with the number of tasks in place of Rack. LogValue returns
// this summary for log/slog. MarshalJSON writes all fields.
func (a Assignment) String() string               { return wire.Line(a.wire) }
func (a Assignment) LogValue() slog.Value         { return wire.Log(a.wire) }
func (a Assignment) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }
