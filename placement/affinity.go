package placement

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
)

// Experimental: no host of this repository calls it yet.
//
// Affinity appends to dst the machines that a task of the phase should prefer: at most length of them, spread over the
// racks in proportion to the tasks that an [Assignment] puts there [Mantri §6.1]. It is for a host that does not bind a
// task to a rack but tries the machines of its list in turn, or at random, and takes the first free slot if all fail.
//
// spread has the number of tasks of each rack (Assignment.Spread), machines the machines of each rack by the host's
// index. Every prefix of the list is nearly proportional; a rack whose machines are used
// up leaves its share to the others, and a rack without tasks is not in the list. turn, the task's index say, rotates
// the machines of each rack, so that the lists of different tasks begin with different machines.
//
// An error names the rack with a negative count, or tells that the racks differ in number. O(length r), and it
// allocates one count per rack besides what dst needs.
func Affinity(dst, spread []int, machines [][]int, length, turn int) ([]int, error) {
	if len(spread) != len(machines) {
		return dst, fmt.Errorf("placement: machines has %d racks, spread has %d", len(machines), len(spread))
	}
	for j, count := range spread {
		if count < 0 {
			return dst, check.Bad("placement", check.At("spread", j, ""), count, "at least 0")
		}
	}
	taken := make([]int, len(spread))
	for range length {
		best, least := nowhere, 0.0
		for j, count := range spread {
			if count == 0 || taken[j] == len(machines[j]) {
				continue
			}
			// Sainte-Laguë's divisors: the rack that has least for what it should have, half a machine from now.
			have := (float64(taken[j]) + 0.5) / float64(count)
			if best == nowhere || have < least {
				best, least = j, have
			}
		}
		if best == nowhere {
			break
		}
		n := len(machines[best])
		dst = append(dst, machines[best][(taken[best]+(turn%n+n)%n)%n])
		taken[best]++
	}
	return dst, nil
}
