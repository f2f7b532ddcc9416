package placement

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// oneByOne equals a search that tries each rack: the rack with the shortest longest transfer, in a tie the rack where the
// task's own read ends first, then the lowest rack. A task stays unplaced only if no rack can take it.
func TestOneByOneEqualsTryingEachRack(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 300 {
		p := randomProblem(rng, 1+rng.IntN(7), 1+rng.IntN(4))
		placed, rack := Problem{Up: p.Up, Down: p.Down, Slots: p.Slots}, []int(nil)
		for k, got := range oneAtATime(p) {
			placed.Input, rack = append(placed.Input, p.Input[k]), append(rack, nowhere)
			last := len(rack) - 1
			best, least, first := nowhere, math.Inf(1), math.Inf(1)
			for j := range p.Up {
				rack[last] = j
				if longest, _ := transfer(placed, rack); fits(placed, rack) && !math.IsInf(longest, 1) {
					reads := reading(placed, rack, j)
					if longest < least-1e-9 || longest < least+1e-9 && reads < first-1e-9 {
						best, least, first = j, longest, reads
					}
				}
			}
			require.Equal(t, best, got, "task %d of %+v goes to a wrong rack after %v", k, p, rack[:last])
			if rack[last] = got; got == nowhere {
				placed.Input, rack = placed.Input[:last], rack[:last]
			}
		}
	}
}

// reading returns the seconds of the downlink of rack j.
func reading(p Problem, rack []int, j int) float64 {
	bytes := 0.0
	for k, row := range p.Input {
		if rack[k] == j {
			bytes += sum(row) - row[j]
		}
	}
	return over(bytes, p.Down[j])
}
