package placement

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/wire"
)

// Assignment is a placement of every task, and how good it is.
type Assignment struct {
	// Rack is the rack of each task, by the task's index.
	Rack []int
	// Bottleneck is the link that takes longest, or one of several, and Seconds how long that is: max_j c_j of the paper.
	// If nothing moves, Seconds is 0 and the link means nothing.
	Bottleneck Link
	Seconds    float64
	// Bound is a proven lower bound: no placement takes less, or, if Optimal, less by more than a billionth. It is never
	// above Seconds.
	Bound float64
	// Optimal is true if no placement is shorter by more than a billionth of Seconds. Bound then equals Seconds.
	Optimal bool
}

// Gap is how much longer than the bound the placement takes at most, as a share of the bound: 0 if it is optimal, +Inf
// if nothing but 0 could be proven.
func (a Assignment) Gap() float64 {
	if a.Seconds == a.Bound {
		return 0
	}
	return (a.Seconds - a.Bound) / a.Bound
}

// Spread counts the tasks of each rack, of the given number of racks. It allocates the result; O(tasks + racks).
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

// String returns a summary of the assignment as one line, and LogValue the same for log/slog; MarshalJSON writes it
// whole, and UnmarshalJSON reads that.
func (a Assignment) String() string                   { return wire.Line(a.wire) }
func (a Assignment) LogValue() slog.Value             { return wire.Log(a.wire) }
func (a Assignment) MarshalJSON() ([]byte, error)     { return wire.JSON(a.wire) }
func (a *Assignment) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Assignment).wire) }
