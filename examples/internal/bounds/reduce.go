package bounds

import (
	"errors"
	"fmt"
	"math"

	"github.com/straggler-go/straggler/placement"
)

// Bandwidths are the bandwidths of the links of all racks, from an instant on.
type Bandwidths struct {
	// From is the instant, in seconds since the phase began.
	From float64
	// Up and Down are the bandwidths of the uplink and downlink of each rack, in bytes per second.
	Up, Down []float64
}

// IdealReduce places a reduce phase with knowledge of all future bandwidths [Mantri §6.4]. It returns the assignment,
// and the seconds that its longest transfer takes while the bandwidths change. The last bandwidths stay for ever. The
// bandwidths in the problem are not used.
//
// An assignment is computed for constant bandwidths. So IdealReduce guesses the length of the phase, uses the mean
// bandwidths over this length, and corrects the guess by the time that the assignment takes. The result is the best
// of all computed assignments. It is never worse than the best assignment for the first bandwidths alone, or for the
// last. It is not a proven optimum.
func IdealReduce(p placement.Problem, changes []Bandwidths, effort placement.Effort) (placement.Assignment, float64, error) {
	if err := checkChanges(changes, p); err != nil {
		return placement.Assignment{}, 0, err
	}
	var best placement.Assignment
	least := math.Inf(1)
	try := func(up, down []float64) (float64, error) {
		p.Up, p.Down = up, down
		a, err := placement.Assign(p, effort)
		if err != nil {
			return 0, fmt.Errorf("bounds: %w", err)
		}
		takes := transfer(p, a.Rack, changes)
		if takes < least {
			best, least = a, takes
		}
		return takes, nil
	}
	last := changes[len(changes)-1]
	if _, err := try(last.Up, last.Down); err != nil {
		return best, 0, err
	}
	length, err := try(changes[0].Up, changes[0].Down)
	for range 8 {
		if err != nil || math.IsInf(length, 1) {
			break
		}
		before := length
		length, err = try(meanOver(changes, length))
		if length == before {
			break
		}
	}
	return best, least, err
}

func checkChanges(changes []Bandwidths, p placement.Problem) error {
	if len(changes) == 0 || changes[0].From != 0 {
		return errors.New("bounds: the first Bandwidths must be From 0")
	}
	for i, c := range changes {
		if i > 0 && !(c.From > changes[i-1].From) {
			return fmt.Errorf("bounds: Bandwidths[%d].From is %v, want more than %v", i, c.From, changes[i-1].From)
		}
		if racks := len(changes[0].Up); len(c.Up) != racks || len(c.Down) != racks {
			return fmt.Errorf("bounds: Bandwidths[%d] has %d and %d racks, want %d", i, len(c.Up), len(c.Down), racks)
		}
	}
	for k, row := range p.Input {
		if len(row) != len(changes[0].Up) {
			return fmt.Errorf("bounds: Input[%d] has %d racks, Bandwidths have %d", k, len(row), len(changes[0].Up))
		}
	}
	return nil
}

// meanOver returns the mean bandwidth of each link over the first seconds.
func meanOver(changes []Bandwidths, seconds float64) (up, down []float64) {
	up, down = make([]float64, len(changes[0].Up)), make([]float64, len(changes[0].Up))
	for j := range up {
		up[j] = carried(changes, seconds, func(b *Bandwidths) float64 { return b.Up[j] }) / seconds
		down[j] = carried(changes, seconds, func(b *Bandwidths) float64 { return b.Down[j] }) / seconds
		if seconds == 0 {
			up[j], down[j] = changes[0].Up[j], changes[0].Down[j]
		}
	}
	return up, down
}

// carried returns the number of bytes that a link carries in the first seconds.
func carried(changes []Bandwidths, seconds float64, of func(*Bandwidths) float64) float64 {
	bytes := 0.0
	for i := range changes {
		end := seconds
		if i+1 < len(changes) {
			end = min(end, changes[i+1].From)
		}
		if end > changes[i].From {
			bytes += of(&changes[i]) * (end - changes[i].From)
		}
	}
	return bytes
}

// transfer returns the seconds that the longest transfer takes while the bandwidths change.
func transfer(p placement.Problem, rack []int, changes []Bandwidths) float64 {
	longest := 0.0
	for j := range changes[0].Up {
		out, in := 0.0, 0.0
		for k, row := range p.Input {
			for i, bytes := range row {
				switch {
				case i == j && rack[k] != j:
					out += bytes
				case i != j && rack[k] == j:
					in += bytes
				}
			}
		}
		longest = max(longest, takes(changes, out, func(b *Bandwidths) float64 { return b.Up[j] }),
			takes(changes, in, func(b *Bandwidths) float64 { return b.Down[j] }))
	}
	return longest
}

// takes returns the seconds until a link has carried the bytes.
func takes(changes []Bandwidths, bytes float64, of func(*Bandwidths) float64) float64 {
	if bytes <= 0 {
		return 0
	}
	for i := range changes {
		b := &changes[i]
		if i+1 == len(changes) {
			return b.From + bytes/of(b)
		}
		span := changes[i+1].From - b.From
		if can := of(b) * span; can < bytes {
			bytes -= can
			continue
		}
		return b.From + bytes/of(b)
	}
	return 0
}
