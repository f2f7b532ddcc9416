package gate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/fairshare/gate"
)

// Which job should lose its intermediate results when the disks are full? A rule never chooses the leader. With
// LatestSubmitted the leader is job 0, which was submitted first. With LeastProgress the leader is job 1, of which
// 90 % of the tasks have finished.
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
