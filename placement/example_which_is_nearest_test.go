package placement_test

import (
	"fmt"

	"github.com/straggler-go/straggler/placement"
)

// Which free machine is nearest to the input of a map task? A machine that stores the input is best. A machine in
// the same rack as such a machine is second best.
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
