package gate_test

import (
	"fmt"

	"github.com/straggler-go/straggler/fairshare/gate"
)

// May another reducer start, or begin to compute? The machine has two cores, as in section 5.2. At most six
// reducers may be on it, at most two may compute, and at most two reducers of the same job may copy their input.
func ExampleGate() {
	g, err := gate.New(gate.Config{MaxComputing: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	machine := gate.Machine{Reducers: 2}
	fmt.Println("third reducer of a job that copies:", g.Launch(machine, gate.Reducer{Running: 2, Copying: 2}))
	fmt.Println("first reducer of another job:", g.Launch(machine, gate.Reducer{}))
	machine = gate.Machine{Reducers: 3, Computing: 2}
	fmt.Println("first reducer of another job while the first job computes:", g.Launch(machine, gate.Reducer{}))
	fmt.Println("third reducer that wants to compute:", g.Compute(machine, gate.Reducer{}))
	// Output:
	// third reducer of a job that copies: wait job-copying have=2 limit=2
	// first reducer of another job: admit below-limits have=2 limit=6
	// first reducer of another job while the first job computes: admit below-limits have=3 limit=6
	// third reducer that wants to compute: wait machine-computing have=2 limit=2
}
