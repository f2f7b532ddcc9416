package clone_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// A host that simulates a phase: a task ends with its first copy, and cloning costs what the others ran until then.
func Example() {
	// How long each copy of each task would take, in seconds. The third task's first copy straggles.
	durations := [][]float64{{10, 11, 9}, {9, 10, 12}, {80, 10, 11}, {10, 9, 10}}
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		panic(err)
	}
	d := budget.Admit(clone.Job{Tasks: len(durations)}, clone.Cluster{Capacity: 400, Busy: 200, Straggler: 0.15})
	end, single, extra := 0.0, 0.0, 0.0
	for i, copies := range durations {
		first := slices.Min(copies[:d.CopiesOf(i)])
		end, single = max(end, first), max(single, copies[0])
		extra += first * float64(d.CopiesOf(i)-1)
		budget.Release(d.Grant, 1)
	}
	fmt.Println(d)
	fmt.Printf("%v s instead of %v s, for %v slot-seconds of clones\n", end, single, extra)
	// Output:
	// clone room-for-all copies=3 tasks=4 wanted=3 spent=12/20 busy=212/320
	// 10 s instead of 80 s, for 74 slot-seconds of clones
}

// How many copies does each task of a ten-task job need, if one task in ten straggles and one job in twenty may?
func ExampleCount() {
	c, err := clone.Count(10, 0.1, 0.05)
	fmt.Println(c, err)
	_, err = clone.Count(10, 1.5, 0.05)
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// clone: p is 1.5, want a probability in [0, 1)
}

// May this job be cloned? Small jobs fit into the budget, large ones do not.
func ExampleBudget() {
	budget, err := clone.NewBudget(clone.Config{}) // ε = β = 5 %, τ = 80 %
	if err != nil {
		panic(err)
	}
	cluster := clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1}

	small := budget.Admit(clone.Job{Tasks: 10}, cluster)
	fmt.Println(small)
	fmt.Println(budget.Admit(clone.Job{Tasks: 400}, cluster))
	fmt.Println(budget.Admit(clone.Job{Tasks: 5, NoCopy: true}, cluster))

	// The phase that reads the first one's output gets no more copies than that.
	fmt.Println(budget.Admit(clone.Job{Tasks: 10, Upstream: small.Copies}, cluster))

	// Four tasks have ended, and their other copies are killed.
	budget.Release(small.Grant, 4)
	fmt.Println(budget.Spent(), "slots charged")
	// Output:
	// clone room-for-all copies=3 tasks=10 wanted=3 spent=30/90 busy=930/1440
	// single over-budget wanted=4 spent=1630/90 busy=2500/1440
	// single not-eligible
	// clone room-for-all copies=3 tasks=10 wanted=3 spent=60/90 busy=930/1440
	// 48 slots charged
}

// Partial cloning: where there is no room for all copies, all tasks get fewer.
func ExampleConfig() {
	budget, err := clone.NewBudget(clone.Config{Shortage: clone.FewerCopies})
	if err != nil {
		panic(err)
	}
	fmt.Println(budget.Admit(clone.Job{Tasks: 30}, clone.Cluster{Capacity: 1600, Straggler: 0.1}))
	_, err = clone.NewBudget(clone.Config{Ceiling: 80})
	fmt.Println(err)
	// Output:
	// clone room-for-fewer copies=2 tasks=30 wanted=3 spent=60/80 busy=60/1280
	// clone: Config.Ceiling is 80, want a share in (0, 1], 0 for the default, or Off
}

// Whose clones make room for a small job?
func ExampleBudget_Victims() {
	budget, err := clone.NewBudget(clone.Config{})
	if err != nil {
		panic(err)
	}
	cluster := clone.Cluster{Capacity: 1800, Busy: 900, Straggler: 0.1}
	large := budget.Admit(clone.Job{Tasks: 25}, cluster)
	cluster.Busy += 25 * large.Copies

	small := clone.Job{Tasks: 10}
	fmt.Println(budget.Admit(small, cluster))
	for _, victim := range budget.Victims(nil, small, cluster) {
		// Here the host kills all but the best copy of each task of the job that has this grant.
		cluster.Busy -= 25 * (large.Copies - 1)
		fmt.Println(budget.Cancel(victim), "slots given back")
	}
	fmt.Println(budget.Admit(small, cluster))
	// Output:
	// single over-budget wanted=3 spent=105/90 busy=1005/1440
	// 75 slots given back
	// clone room-for-all copies=3 tasks=10 wanted=3 spent=30/90 busy=955/1440
}

// The host was started again. Its clones run on, and the new budget is told of them.
func ExampleBudget_Readmit() {
	var budget clone.Budget
	grant := budget.Readmit(10, 6, 3) // a job of ten tasks, six of which still run, in three copies each
	fmt.Println(budget.Spent(), "slots charged")
	cluster := clone.Cluster{Capacity: 400, Busy: 200, Straggler: 0.1}
	fmt.Println(budget.Admit(clone.Job{Tasks: 5}, cluster))
	budget.Release(grant, 5)
	fmt.Println(budget.Admit(clone.Job{Tasks: 5}, cluster))
	// Output:
	// 18 slots charged
	// single over-budget wanted=2 spent=28/20 busy=210/320
	// clone room-for-all copies=2 tasks=5 wanted=2 spent=13/20 busy=210/320
}

// How likely is a task to straggle? One of ten was at less than half the median rate.
func ExampleEstimator() {
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{MinTasks: 10})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	fmt.Println(estimator.P(now))
	slow := estimator.Observe(now, []float64{11, 10, 9, 12, 10, 10, 11, 9, 10, 1.3})
	fmt.Println("below", slow, "MB/s a task straggles")
	fmt.Println(estimator.P(now))
	// Output:
	// NaN false
	// below 5 MB/s a task straggles
	// 0.1 true
}

// Which machines are to be avoided in the next five minutes? One runs its tasks at a third of the others' rate.
func ExampleBlacklist() {
	blacklist, err := clone.NewBlacklist(20, clone.BlacklistConfig{})
	if err != nil {
		panic(err)
	}
	estimator, err := clone.NewEstimator(clone.EstimatorConfig{})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	rates := make([]float64, 20) // MB/s, of a phase with a task on each machine
	for machine := range rates {
		rates[machine] = 12
	}
	rates[13] = 4
	for range 4 {
		slow := estimator.Observe(now, rates)
		for machine, rate := range rates {
			blacklist.Observe(now, machine, rate < slow)
		}
	}
	fmt.Println(blacklist.AppendBanned(nil, now.Add(5*time.Minute)))
	fmt.Println(blacklist.AppendBanned(nil, now.Add(10*time.Minute)))
	// Output:
	// [13]
	// []
}
