package machines

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// For any numbers, the type numbers gives the same answers as a map, and its slice dense is not too long.
func TestNumbersAreAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 3))
	for range 50 {
		n, want, machines := numbers{sparse: map[int]int32{}}, map[int]int32{}, 0
		most := []int{20, 200, math.MaxInt}[random.IntN(3)]
		for step := range 400 {
			number := random.IntN(most)
			if random.IntN(4) == 0 {
				n.drop(number)
				delete(want, number)
			} else {
				machines = max(machines, len(want)+1)
				n.set(number, int32(step), machines)
				want[number] = int32(step)
			}
			require.LessOrEqual(t, len(n.dense), 2*machines+spare)
			for _, number := range []int{number, random.IntN(most), random.IntN(300), -1} {
				place, ok := n.get(number)
				at, known := want[number]
				require.Equal(t, known, ok, "%d", number)
				require.Equal(t, at, place, "%d", number)
			}
		}
	}
}
