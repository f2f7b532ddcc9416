package placement_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/placement"
)

// Figure 10 of the paper: three reduce tasks read a shard of every map output, and the map outputs lie on three racks.
// One task per rack halves the time of the worst link against a placement that takes the first free slots.
func ExampleAssign() {
	const MB = 1e6
	shuffle := placement.Problem{
		Input: [][]float64{ // bytes of each task's input in each rack
			{100 * MB, 100 * MB, 100 * MB},
			{100 * MB, 100 * MB, 100 * MB},
			{100 * MB, 100 * MB, 100 * MB},
		},
		Up:   []float64{50 * MB, 50 * MB, 50 * MB}, // bytes per second
		Down: []float64{50 * MB, 50 * MB, 50 * MB},
	}
	a, err := placement.Assign(shuffle, placement.DefaultEffort)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("racks:", a.Rack)
	fmt.Println(a)
	// Output:
	// racks: [0 1 2]
	// tasks=3 seconds=4 bottleneck=rack-0-up bound=4 optimal=true
}

// A job manager that tries the machines of a list gets lists that lead to the wanted spread.
func ExampleAffinity() {
	a := placement.Assignment{Rack: []int{0, 0, 1, 0}} // three of four tasks in rack 0
	machines := [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}    // rack 0, rack 1
	for task := range 2 {
		list, err := placement.Affinity(nil, a.Spread(2), machines, 4, task)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("task %d prefers %v\n", task, list)
	}
	// Output:
	// task 0 prefers [0 1 4 2]
	// task 1 prefers [1 2 5 3]
}

// A phase that outlasts the passing differences between links is placed as if all links were alike.
func ExampleBandwidthConfig() {
	const GB = 1e9
	phase := placement.Problem{
		Input: [][]float64{{20 * GB, 20 * GB}, {20 * GB, 20 * GB}},
		Up:    []float64{0.1 * GB, 0.3 * GB}, // as measured when the phase starts
		Down:  []float64{0.2 * GB, 0.2 * GB},
	}
	p, rule, err := placement.BandwidthConfig{Short: time.Minute}.Estimate(phase)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rule, p.Up)
	// Output:
	// equal [2e+08 2e+08]
}

// A map task prefers a machine that holds a replica of its block.
func ExampleNearest() {
	replicas := []placement.Place{{Rack: 0, Machine: 7}, {Rack: 3, Machine: 31}}
	free := []placement.Place{{Rack: 1, Machine: 12}, {Rack: 3, Machine: 30}}
	i, level := placement.Nearest(free, replicas)
	fmt.Printf("machine %d, %v\n", free[i].Machine, level)
	// Output:
	// machine 30, same-rack
}

// Eight tasks at a time read from rack 1 into rack 0. What they achieve is what the two links can carry.
func ExampleLinkRates() {
	rates, err := placement.NewLinkRates(placement.LinkRatesConfig{Racks: 2})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for range 100 { // a read ends every 5 s, and has taken 40 s
		now = now.Add(5 * time.Second)
		rates.Observe(now, 0, []float64{0, 500e6}, 40*time.Second)
	}
	phase := placement.Problem{Up: []float64{1e9, 1e9}, Down: []float64{1e9, 1e9}} // nominally
	phase, known := rates.Fill(phase)
	fmt.Printf("%d links known: down %.0f, up %.0f\n", known, phase.Down, phase.Up)
	// Output: 2 links known: down [100000000 1000000000], up [1000000000 100000000]
}
