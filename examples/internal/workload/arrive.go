package workload

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// blockBytes is the input of a task of an arriving job: a block in a file system of that time.
const blockBytes = 64 << 20

// Arrive returns a phase for each job in the list of arrivals. The phase has a task for each block of the job's
// input. The times of the tasks are generated as in Generate. The same seed gives the same phases. Jobs without a
// time of arrival are left out.
func Arrive(jobs []trace.Arrival, seed uint64) []*sim.Phase {
	var phases []*sim.Phase
	for i, job := range jobs {
		submitted, known := job.Submitted.Get()
		if !known {
			continue
		}
		tasks := int(min(max(job.Input.Or(0)+blockBytes-1, blockBytes)/blockBytes, maxTasks))
		slots := min(int(math.Ceil(float64(tasks)/medianTasksPerSlot)), maxSlots)
		p := generatePhase(i, rand.New(rand.NewPCG(seed, uint64(i))), slots, tasks)
		p.Job, p.Name = job.Job, "maps"
		p.Begins = time.Duration(submitted) * time.Millisecond
		phases = append(phases, p)
	}
	fromZero(phases)
	return phases
}
