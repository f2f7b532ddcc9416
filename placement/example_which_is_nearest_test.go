package placement_test

import (
	"fmt"

	"github.com/straggler-go/straggler/placement"
)

// A map task prefers a machine that holds a replica of its block, and then a machine in the rack of a replica.
func ExampleNearest() {
	replicas := []placement.Location{{Rack: 0, Machine: 7}, {Rack: 3, Machine: 31}}
	free := []placement.Location{{Rack: 1, Machine: 12}, {Rack: 3, Machine: 30}}
	i, locality := placement.Nearest(free, replicas)
	fmt.Printf("machine %d, %v\n", free[i].Machine, locality)
	fmt.Println(placement.Distance(placement.Location{Rack: 0, Machine: 7}, replicas))
	// Output:
	// machine 30, same-rack
	// same-machine
}
