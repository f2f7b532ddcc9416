package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// The parameters of a generated phase. A figure from Mantri's paper has its section; all others are choices of this
// program.
const (
	medianTasksPerSlot = 2.11 // [Mantri §3.1]
	sigmaTasksPerSlot  = 1.0  // choice: milder than the paper's standard deviation of 12.37, which 1.36 would make
	medianSlots        = 20   // choice
	sigmaSlots         = 0.8  // choice
	maxSlots           = 200  // choice
	maxTasks           = 2000 // choice
	medianSeconds      = 60   // choice: the median task of the median phase
	sigmaSeconds       = 0.7  // choice

	// 25 % of phases have more than 15 % of outliers, tasks over 1.5 times the median [Mantri §4.1]; exponential is a
	// choice.
	outlierShare, outlierPhases = 0.15, 0.25
	mildOutliers                = 0.8             // are 1.5 to 2.5 times the median, uniformly [Mantri §4.1]
	heavyOutliers               = 0.1             // are over 10 times the median [Mantri §4.1]
	heaviest                    = 12.0            // choice
	dataPhases                  = 0.4             // of phases have outliers that their data fully explain [Mantri §4.2]
	runtimePhases               = 0.18            // have outliers that their data explain not at all [Mantri §4.2]
	sigmaNormal                 = 0.15            // choice: the scatter of tasks that are not stragglers
	arrivalGap                  = 9 * time.Second // choice: the mean time between phases; they use about half of Capacity

	// Capacity is the number of slots of the cluster that the generated phases share. It is about the size of the
	// cluster in Dolly's paper: 150 machines with 12 cores [Dolly §5.1].
	Capacity = 1800
)

// Generate returns n phases. Their stragglers are as frequent, as long and as much explained by their data as in the
// cluster of [Mantri §3, §4]. Each slot is a machine, all machines have the same speed, and the first wave is as fast
// as later waves. The same seed gives the same phases. A copy of a task that is long because of its data takes as
// long as the task: without this, every policy would look several times too good.
func Generate(n int, seed uint64) []*sim.Phase {
	phases := make([]*sim.Phase, n)
	arrivals := rand.New(rand.NewPCG(seed, math.MaxUint64))
	begins := time.Duration(0)
	for i := range phases {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		slots := int(min(max(math.Round(logNormal(r, medianSlots, sigmaSlots)), 1), maxSlots))
		tasks := int(min(max(math.Round(float64(slots)*logNormal(r, medianTasksPerSlot, sigmaTasksPerSlot)), 1), maxTasks))
		phases[i] = generatePhase(i, r, slots, tasks)
		begins += time.Duration(arrivals.ExpFloat64() * float64(arrivalGap))
		phases[i].Begins = begins
	}
	return phases
}

func generatePhase(index int, r *rand.Rand, slots, tasks int) *sim.Phase {
	typical := logNormal(r, medianSeconds, sigmaSeconds)
	share := min(r.ExpFloat64()*outlierShare/-math.Log(outlierPhases), 1)
	explained := explainedShare(r)

	phase := &sim.Phase{Job: "generated", Name: fmt.Sprintf("phase-%d", index), Machines: slots}
	longest, total := time.Duration(0), time.Duration(0)
	samples := make([]sample, tasks)
	works := make([]float64, tasks)
	for i := range samples {
		work, slowness := 1.0, normal(r)
		if r.Float64() < share {
			if factor := outlier(r); r.Float64() < explained {
				work, slowness = factor, 1
			} else {
				slowness = factor
			}
		}
		works[i] = work
		samples[i] = sample{work: work, seconds: typical * work * slowness}
		duration := time.Duration(samples[i].seconds * float64(time.Second))
		longest = max(longest, duration)
		total += duration
		phase.Tasks = append(phase.Tasks, sim.Task{
			Number: int32(i), Work: work, First: i < slots, Attempts: []sim.Attempt{{Duration: duration}},
		})
		phase.Order = append(phase.Order, int32(i))
	}
	for i := range slots {
		phase.Slots = append(phase.Slots, sim.Slot{Machine: i})
	}
	phase.Interval = sim.Interval(time.Duration(typical*float64(time.Second)), longest, total, tasks)
	phase.Draw = newDrawer(samples, works, line{slope: typical}).draw
	return phase
}

// explainedShare returns the share of a phase's stragglers that have more data in proportion to their time.
func explainedShare(r *rand.Rand) float64 {
	switch kind := r.Float64(); {
	case kind < dataPhases:
		return 1
	case kind < dataPhases+runtimePhases:
		return 0
	}
	return 0.5
}

// outlier returns the time of a straggler as a multiple of the median.
func outlier(r *rand.Rand) float64 {
	switch kind := r.Float64(); {
	case kind < mildOutliers:
		return 1.5 + r.Float64()
	case kind < 1-heavyOutliers:
		return 2.5 + 7.5*r.Float64()
	}
	return 10 + (heaviest-10)*r.Float64()
}

// normal returns the time of a task that is not a straggler, as a multiple of the median.
func normal(r *rand.Rand) float64 { return min(logNormal(r, 1, sigmaNormal), 1.5) }

func logNormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}

// median returns the median of the durations, the larger of the two middle values if there are two.
func median(durations []time.Duration) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[len(sorted)/2]
}
