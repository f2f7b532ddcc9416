package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// A chain: what is lost late costs more, since what it was made from may be lost too.
func ExampleGraph_chain() {
	var job replicate.Graph
	for k, inputs := range [][]int{nil, {0}, {1}} {
		if _, err := job.Add(replicate.Output{Run: 20 * time.Second, Loss: 0.1, Inputs: inputs}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.Cost(k))
	}
	// Output:
	// redo=20s stall=0s expected=2s cluster-time=20s
	// redo=22s stall=2s expected=2.2s cluster-time=22s
	// redo=22.2s stall=2.2s expected=2.22s cluster-time=22.2s
}

// costsOf returns the costs of a job's outputs, which are listed inputs first.
func costsOf(job []replicate.Output) (costs []replicate.Cost) {
	var g replicate.Graph
	for _, o := range job {
		if k, err := g.Add(o); err != nil {
			fmt.Println(err)
		} else {
			costs = append(costs, g.Cost(k))
		}
	}
	return costs
}

// Many to one: any of a hundred map outputs that is lost makes the reduce task's recomputation wait.
func ExampleGraph_fanIn() {
	reduce := replicate.Output{Run: 30 * time.Second, Loss: 0.01}
	var maps []replicate.Output
	for m := range 100 {
		maps = append(maps, replicate.Output{Run: 20 * time.Second, Loss: 0.01})
		reduce.Inputs = append(reduce.Inputs, m)
	}
	costs := costsOf(append(maps, reduce))
	fmt.Println("map:   ", costs[0].Expected)
	fmt.Println("reduce:", costs[100].Expected, "of", costs[100].Redo)
	// Output:
	// map:    200ms
	// reduce: 426.793532ms of 42.679353175s
}

// A diamond, and an output with a second copy on another machine, which is lost only if both machines lose it.
func ExampleGraph_diamond() {
	const extract, left, right, join = 0, 1, 2, 3
	job := []replicate.Output{
		extract: {Run: 10 * time.Second, Loss: 0.5},
		left:    {Run: 20 * time.Second, Loss: 0.5, Inputs: []int{extract}},
		right:   {Run: 30 * time.Second, Loss: 0.5, Inputs: []int{extract}},
		join:    {Run: 40 * time.Second, Loss: 0.5, Inputs: []int{left, right}},
	}
	costs := costsOf(job)
	fmt.Println(costs[join])

	job[right].Loss = replicate.AllLost(0.5, 0.1)
	costs = costsOf(job)
	fmt.Println(costs[join])
	// Output:
	// redo=63.75s stall=23.75s expected=31.875s cluster-time=70s
	// redo=53.625s stall=13.625s expected=26.8125s cluster-time=54.25s
}

// A host's loop: as each task of a chain finishes, its output is copied if that is worth it and the tokens suffice.
func Example() {
	const MB = int64(1e6)
	tokens, err := replicate.NewByteBudget(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	var job replicate.Graph
	for task := range 6 {
		// The task has finished: it read 400 MB and left 60 MB on a machine that loses every fourth output.
		tokens.Grant(400 * MB)
		out := replicate.Output{Run: 40 * time.Second, Loss: 0.25}
		if task > 0 {
			out.Inputs = []int{task - 1}
		}
		k, err := job.Add(out)
		if err != nil {
			fmt.Println(err)
			return
		}
		d := replicate.Decide(replicate.Candidate{
			Cost: job.Cost(k), CopyTime: 6 * time.Second, Bytes: 60 * MB,
		}, tokens.Left())
		fmt.Printf("task %d: %v\n", task, d)
		if d.Action == replicate.Replicate {
			tokens.Spend(d.Bytes) // and copy the output to a machine that loses one in a hundred
			job.SetLoss(k, replicate.AllLost(0.25, 0.01))
		}
	}
	// Output:
	// task 0: leave over-budget saves=10s takes=6s bytes=60000000 tokens=40000000
	// task 1: replicate saves-time saves=12.5s takes=6s bytes=60000000 tokens=80000000
	// task 2: replicate saves-time saves=10.0312s takes=6s bytes=60000000 tokens=60000000
	// task 3: leave over-budget saves=10.0251s takes=6s bytes=60000000 tokens=40000000
	// task 4: replicate saves-time saves=12.5063s takes=6s bytes=60000000 tokens=80000000
	// task 5: replicate saves-time saves=10.0313s takes=6s bytes=60000000 tokens=60000000
}

// What lies on one machine is lost together. The reduce task read three map outputs from its own disk and one from
// another machine: if its output is gone, so are those three.
func ExampleGraph_domain() {
	const here, there = 1, 2 // machine numbers plus 1
	job := []replicate.Output{
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: here},
		{Run: 20 * time.Second, Loss: 0.1, Domain: there},
		{Run: 30 * time.Second, Loss: 0.1, Domain: here, Inputs: []int{0, 1, 2, 3}},
	}
	costs := costsOf(job)
	fmt.Println("together:     ", costs[4])
	for i := range job {
		job[i].Domain = 0
	}
	costs = costsOf(job)
	fmt.Println("independently:", costs[4])
	// Output:
	// together:      redo=50s stall=20s expected=5s cluster-time=92s
	// independently: redo=36.878s stall=6.878s expected=3.6878s cluster-time=38s
}

// Three machines of the rack could take a copy: a fast one that loses every fourth output, a slow safe one, and one
// that is both in part.
func ExampleDecideTarget() {
	const usual = 3 * time.Second // what copies of this size take
	out := replicate.Candidate{Cost: replicate.Cost{Expected: 12 * time.Second}, Bytes: 60e6}
	target, d := replicate.DecideTarget(out, []replicate.Target{
		{CopyTime: usual, Loss: .25},
		{CopyTime: 4 * usual, Loss: .001},
		{CopyTime: usual + time.Second, Loss: .01},
	}, 80e6)
	fmt.Println(target, d)
	// Output:
	// 2 replicate saves-time saves=11.88s takes=4s bytes=60000000 tokens=80000000
}

// A machine has lost two outputs within minutes. What else it holds is recomputed before anyone asks for it, the most
// valuable first, within a budget of cluster time.
func ExampleChooseRecompute() {
	bursts, err := replicate.NewLossBursts(100, replicate.LossBurstsConfig{Losses: 2, Window: 10 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, err := replicate.NewTimeBudget(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget.Grant(time.Hour) // cluster time that the job has used

	start := time.Unix(0, 0)
	fmt.Println(bursts.Lost(start, 17))
	fmt.Println(bursts.Lost(start.Add(3*time.Minute), 17))
	missing, _ := bursts.Missing(start.Add(3*time.Minute), 17) // 0.93 until it has been seen
	cost := func(redo, work time.Duration) replicate.Cost {
		return replicate.Cost{Redo: redo * time.Second, ClusterTime: work * time.Second}
	}
	held := []replicate.AtRisk{
		{Cost: cost(50, 50), Missing: missing, Readers: 20},
		{Cost: cost(80, 200), Missing: missing, Readers: 20},
		{Cost: cost(70, 90), Missing: missing, Readers: 20},
		{Cost: cost(99, 99), Missing: missing, Readers: 20, Copies: 1},
	}
	for _, i := range replicate.ChooseRecompute(nil, held, budget.Left()) {
		d := replicate.DecideRecompute(held[i], budget.Left())
		budget.Spend(d.Takes)
		fmt.Printf("output %d: %v\n", i, d)
	}
	// Output:
	// false
	// true
	// output 0: recompute loss-foreseen saves=46.5s takes=50s allowed=180s
	// output 2: recompute loss-foreseen saves=65.1s takes=90s allowed=130s
}
