package placement

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/wire"
)

// Assignment is the answer of [Assign]: a rack for every task, the time of the longest transfer, and a proven
// lower bound for this time.
type Assignment struct {
	// Rack[k] is the index of the rack of task k.
	Rack []int
	// Bottleneck is the link with the longest transfer. If several links have it, Bottleneck is any such link.
	// Seconds is the duration of this transfer, which the paper calls max_j c_j. If no byte crosses a link,
	// Seconds is 0, and Bottleneck has no meaning.
	Bottleneck Link
	Seconds    float64
	// Bound is a proven lower bound in seconds, from 0 to Seconds: in every placement the longest transfer takes
	// at least this long. If Optimal is true, Bound equals Seconds; then the true bound may be smaller by a
	// billionth of Seconds.
	Bound float64
	// Optimal is true if no placement is shorter by more than a billionth of Seconds. Then Bound equals Seconds.
	Optimal bool
}

// Spread returns the number of tasks in each rack. racks is the number of racks. Cost: O(tasks + racks); Spread
// allocates the result.
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

// String returns a summary of the assignment in one line. It contains the number of tasks and not the rack of each
// task. LogValue returns the same summary for log/slog. MarshalJSON writes all fields.
func (a Assignment) String() string               { return wire.Line(a.wire) }
func (a Assignment) LogValue() slog.Value         { return wire.Log(a.wire) }
func (a Assignment) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }
