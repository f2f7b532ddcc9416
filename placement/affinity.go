package placement

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
)

// Affinity appends to dst the machines that a task of the phase should prefer: at most length machines, spread over the
// racks in proportion to the tasks that an [Assignment] puts there [Mantri §6.1]. Affinity is experimental: no host of
// this repository calls it yet.
//
// The list is for a host that does not bind a task to a rack. The host tries the machines of the list in turn, or at
// random. If all machines of the list are busy, the host takes the first free slot anywhere.
//
// spread is the number of tasks of each rack, as [Assignment.Spread] returns it. machines lists the machines of each
// rack by the host's index. Every prefix of the result is nearly proportional to spread. A rack without a further
// machine leaves its share to the other racks. A rack without tasks is not in the list.
//
// turn rotates the machines of each rack, so that the lists of different tasks begin with different machines. The
// task's index is a good turn.
//
// The error names the rack with a negative count, or says that spread and machines differ in the number of racks.
// O(length r) for r racks. Affinity allocates one count for each rack, and more only if dst is too short.
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
			// Sainte-Laguë's divisors choose the rack with the smallest share. The current machine counts as half.
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
