package gate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare/gate"
)

// The dual-core machine of section 5.2: six reducers at most, two of them computing, two of a job copying.
func ExampleGate() {
	g, err := gate.New(gate.Config{MaxComputing: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	node := gate.Node{Reducers: 2}
	fmt.Println("third reducer of a job that copies:", g.Launch(node, gate.Reducer{Running: 2, Copying: 2}))
	fmt.Println("first reducer of another job:", g.Launch(node, gate.Reducer{}))
	node = gate.Node{Reducers: 3, Computing: 2}
	fmt.Println("once the first job computes:", g.Launch(node, gate.Reducer{}))
	fmt.Println("a third to compute:", g.Compute(node, gate.Reducer{}))
	// Output:
	// third reducer of a job that copies: wait job-copying have=2 limit=2
	// first reducer of another job: admit below-limits have=2 limit=6
	// once the first job computes: admit below-limits have=3 limit=6
	// a third to compute: wait node-computing have=2 limit=2
}

// Disks are full: which job's intermediate results should go?
func ExampleEvictRule_Evict() {
	start := time.Unix(0, 0)
	jobs := []gate.Job{
		{Submitted: start, Done: 10, Tasks: 100, Bytes: 900},
		{Submitted: start.Add(time.Hour), Done: 90, Tasks: 100, Bytes: 100},
		{Submitted: start.Add(2 * time.Hour), Done: 20, Tasks: 100, Bytes: 50},
	}
	fmt.Println(gate.LatestSubmitted.Evict(jobs))
	fmt.Println(gate.LeastProgress.Evict(jobs))
	// Output:
	// evict latest-submitted job=2 leader=0 bytes=50
	// evict least-progress job=0 leader=1 bytes=900
}
