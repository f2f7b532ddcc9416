package placement

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
)

// Affinity appends to dst the machines that a task of the phase should prefer, and returns dst. It appends at most
// length machines. They are spread over the racks in proportion to the tasks that an [Assignment] puts into each
// rack [Mantri §6.1]. Affinity is experimental: no host in this repository calls it yet.
//
// Use the list in a scheduler that does not bind a task to a rack. The scheduler tries the machines of the list in
// order, or in random order. If all machines of the list are busy, it uses the first free slot of any machine.
//
// spread[j] is the number of tasks in rack j, as [Assignment.Spread] returns it. machines[j] lists the machines of
// rack j by their indices in the scheduler. If the list is cut after any length, the numbers of machines are still
// nearly proportional to spread. If all machines of a rack are in the list, only the other racks add further
// machines. A rack without tasks adds no machine.
//
// turn rotates the machines of each rack, so that the lists of different tasks begin with different machines. For
// example, pass the index of the task.
//
// Affinity returns an error if a number in spread is negative, or if spread and machines have different lengths.
// The error contains the index of the rack, or the two lengths. Cost: O(length r) for r racks. Affinity allocates
// a number for each rack, and it allocates more only if dst is too short.
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
			// This is the method of Sainte-Laguë: the next machine is in the rack with the smallest have. The
			// machine that would be added is included as half a machine.
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
