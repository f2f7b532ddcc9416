package skew_test

import (
	"fmt"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/skew"
)

// Two workers, one twice as fast as the other. The fast one gets two thirds of the data, the largest partition
// included.
func ExampleAssign() {
	plan, err := skew.Assign(skew.Problem{
		Sizes:    []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{{SecondsPerUnit: .002}, {SecondsPerUnit: .001}},
	})
	fmt.Println(plan.Reducer, plan.Load, plan.End, err)
	fmt.Printf("ends after %v, balance %.2f\n", plan.Duration(), plan.Balance())
	// Output:
	// [0 1 0 1] [300 600] [0.6 0.6] <nil>
	// ends after 600ms, balance 0.75
}

// The fast worker has to be free for another job's task after half a second.
func ExampleAssign_deadline() {
	problem := skew.Problem{
		Sizes: []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{
			{SecondsPerUnit: .002, Deadline: 600 * time.Millisecond},
			{SecondsPerUnit: .001, Deadline: 500 * time.Millisecond},
		},
	}
	plan, _ := skew.Assign(problem)
	fmt.Println(plan.Reducer, "left out:", plan.Unfit)
	plan, _ = skew.Policy{PlaceAll: true}.Assign(problem)
	fmt.Printf("%v beyond a deadline: %v %.1f\n", plan.Reducer, plan.Unfit, plan.End)
	// Output:
	// [1 1 0 -1] left out: [3]
	// [1 1 0 1] beyond a deadline: [3] [0.4 0.7]
}

// Times from past reduce tasks on each worker, by nearest neighbours. Each worker needs 0.2 s to start, whatever the
// size.
func ExampleReducer_seconds() {
	problem := skew.Problem{Sizes: []int64{900, 100, 500, 300, 200, 400}}
	for _, secondsPerValue := range []float64{.001, .003} {
		runs, err := knn.New(knn.Config{Dimensions: 1, Neighbours: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		for size := 50.; size <= 1000; size += 50 { // what the worker has done so far
			if err := runs.Observe([]float64{size}, .2+size*secondsPerValue); err != nil {
				fmt.Println(err)
			}
		}
		var p knn.Prediction
		problem.Reducers = append(problem.Reducers, skew.Reducer{
			Seconds: func(size int64) float64 {
				if runs.Predict(&p, []float64{float64(size)}) != nil {
					return math.NaN() // which Assign rejects
				}
				return p.Mean() // +Inf, which it rejects as well, if the worker has done nothing yet
			},
			KnownTo: 1000, // k-NN levels off after the largest run
		})
	}
	plan, err := skew.Assign(problem)
	fmt.Println(plan, err)
	fmt.Println(plan.Reducer, plan.Load)
	// Output:
	// partitions=6 reducers=2 ends=2.12143s balance=0.666667 unfit=0 <nil>
	// [0 0 0 0 1 1] [1800 600]
}

func ExamplePolicy() {
	problem := skew.Problem{
		Sizes:    []int64{900, 100, 500, 300, 200, 400},
		Reducers: []skew.Reducer{{SecondsPerUnit: .001}, {SecondsPerUnit: .004}},
	}
	for _, rule := range []skew.Rule{skew.EarliestEnd, skew.LoadBalance, skew.ByHash} {
		plan, _ := skew.Policy{Rule: rule}.Assign(problem)
		fmt.Printf("%-12v ends after %v, balance %.2f\n", rule, plan.Duration(), plan.Balance())
	}
	// Output:
	// earliest-end ends after 2s, balance 0.60
	// load-balance ends after 4.8s, balance 1.00
	// by-hash      ends after 3.2s, balance 0.75
}

func ExampleSizes() {
	sizes, err := skew.NewSizes(3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sizes.Report(0, []int64{5, 0, 1}))
	fmt.Println(sizes.Report(0, []int64{5, 0, 1})) // a second copy of the same map task
	fmt.Println(sizes.Report(1, []int64{1, 2, 3}))
	fmt.Println(sizes.Append(nil), "missing", sizes.Missing())
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
	// [6 2 4] missing 0
}

// Each map task counts its keys in a sketch of its own and sends it as bytes. The master adds the sketches up, tries
// each hash function, and tells the map tasks which to use.
func ExampleSketch() {
	const rows, partitions, seed = 4, 6, 1
	master, _ := skew.NewSketch(rows, partitions, seed)
	for _, words := range [][]string{{"to", "be", "or", "not", "to", "be"}, {"that", "is", "the", "question"}} {
		ofMap, _ := skew.NewSketch(rows, partitions, seed)
		for _, word := range words {
			if err := ofMap.Add(skew.HashKey(word), 1); err != nil {
				fmt.Println(err)
			}
		}
		data, _ := ofMap.MarshalBinary()

		var received skew.Sketch
		if err := received.UnmarshalBinary(data); err != nil {
			fmt.Println(err)
		}
		if err := master.Merge(&received); err != nil {
			fmt.Println(err)
		}
	}
	row, plan, err := skew.Policy{}.AssignSketch(master, []skew.Reducer{{SecondsPerUnit: 1}, {SecondsPerUnit: 1}})
	fmt.Println("values", master.Total(), "loads", plan.Load, err)
	fmt.Println("be is reduced by", plan.Reducer[master.Partition(row, skew.HashKey("be"))])
	// Output:
	// values 10 loads [5 5] <nil>
	// be is reduced by 0
}

// The paper's skewness of partitions is 1 - Balance of their sizes.
func ExampleBalance() {
	fmt.Printf("%.2f %.2f\n", 1-skew.Balance([]int64{10, 10, 10}), 1-skew.Balance([]int64{40, 5, 5}))
	// Output:
	// 0.00 0.58
}

func ExampleLargestFirst() {
	fmt.Println(skew.LargestFirst(nil, []int64{3, 9, 3, 5}))
	// Output:
	// [1 3 0 2]
}
