package assign_test

import (
	"fmt"

	"github.com/straggler-go/straggler/delay/assign"
)

// Which upstream tasks does downstream task 1 read? There are ten upstream tasks and four downstream tasks.
func ExamplePattern() {
	for p := assign.AllToAll; p <= assign.OneToOne; p++ {
		first, end, err := p.Inputs(1, 10, 4)
		fmt.Println(p, first, end, err)
	}
	// Output:
	// all-to-all 0 10 <nil>
	// many-to-one 3 6 <nil>
	// one-to-one 0 0 delay/assign: upstream is 10, want the number of downstream tasks, which is 4
}
