package skew_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/skew"
)

// Two workers, one twice as fast as the other. The fast one gets two thirds of the data, the largest partition included.
func ExampleAssign() {
	plan, err := skew.Assign(skew.Problem{
		Sizes:    []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{{Rate: .002}, {Rate: .001}},
	})
	fmt.Println(plan.Reducer, plan.Load, plan.End, err)
	fmt.Printf("ends after %v, balance %.0f%%\n", plan.Duration(), plan.Balance())
	// Output:
	// [0 1 0 1] [300 600] [0.6 0.6] <nil>
	// ends after 600ms, balance 75%
}

// The fast worker has to be free for another job's task after half a second.
func ExampleAssign_limit() {
	problem := skew.Problem{
		Sizes:    []int64{100, 400, 200, 200},
		Reducers: []skew.Reducer{{Rate: .002, Limit: 600 * time.Millisecond}, {Rate: .001, Limit: 500 * time.Millisecond}},
	}
	plan, _ := skew.Assign(problem)
	fmt.Println(plan.Reducer, "left out:", plan.Unfit)
	plan, _ = skew.Policy{PlaceAll: true}.Assign(problem)
	fmt.Printf("%v beyond a limit: %v %.1f\n", plan.Reducer, plan.Unfit, plan.End)
	// Output:
	// [1 1 0 -1] left out: [3]
	// [1 1 0 1] beyond a limit: [3] [0.4 0.7]
}

// Times from past reduce tasks on each worker, by nearest neighbours, in place of rates.
func ExampleProblem() {
	const partitions = 6
	problem := skew.Problem{Sizes: []int64{900, 100, 500, 300, 200, 400}, Reducers: make([]skew.Reducer, 2)}
	for worker, secondsPerValue := range []float64{.001, .003} {
		runs, err := estimate.NewKNN(estimate.KNNConfig{Dimensions: 1, Neighbours: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		for size := 50.; size <= 1000; size += 50 { // what the worker has done so far
			if err := runs.Add([]float64{size}, size*secondsPerValue); err != nil {
				fmt.Println(err)
			}
		}
		var p estimate.Prediction
		row := make([]float64, partitions)
		for i, size := range problem.Sizes {
			if err := runs.Predict(&p, []float64{float64(size)}); err != nil {
				fmt.Println(err)
			}
			row[i] = p.Mean() // +Inf, which Assign rejects, if the worker has done nothing yet
		}
		problem.Seconds = append(problem.Seconds, row)
		problem.Reducers[worker].Limit = 2 * time.Second
	}
	plan, err := skew.Assign(problem)
	fmt.Println(plan, err)
	fmt.Println(plan.Reducer)
	// Output:
	// partitions=6 reducers=2 ends=1.8s balance=66.7% unfit=0 <nil>
	// [0 0 0 0 1 1]
}

func ExamplePolicy() {
	problem := skew.Problem{
		Sizes:    []int64{900, 100, 500, 300, 200, 400},
		Reducers: []skew.Reducer{{Rate: .001}, {Rate: .004}},
	}
	for _, rule := range []skew.Rule{skew.EarliestEnd, skew.LoadBalance, skew.Hash} {
		plan, _ := skew.Policy{Rule: rule}.Assign(problem)
		fmt.Printf("%-12v ends after %v, balance %.0f%%\n", rule, plan.Duration(), plan.Balance())
	}
	// Output:
	// earliest-end ends after 2s, balance 60%
	// load-balance ends after 4.8s, balance 100%
	// hash         ends after 3.2s, balance 75%
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

// Each map task counts its keys in a sketch of its own and sends it as bytes. The master adds the sketches up, tries each
// hash function, and tells the map tasks which to use.
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
	row, plan, err := skew.Policy{}.AssignSketch(master, []skew.Reducer{{Rate: 1}, {Rate: 1}})
	fmt.Println("values", master.Total(), "loads", plan.Load, err)
	fmt.Println("be is reduced by", plan.Reducer[master.Partition(row, skew.HashKey("be"))])
	// Output:
	// values 10 loads [5 5] <nil>
	// be is reduced by 0
}

func ExampleSkewness() {
	fmt.Printf("%.0f %.0f\n", skew.Skewness([]int64{10, 10, 10}), skew.Skewness([]int64{40, 5, 5}))
	// Output:
	// 0 58
}

func ExampleLargestFirst() {
	fmt.Println(skew.LargestFirst(nil, []int64{3, 9, 3, 5}))
	fmt.Printf("%.3f\n", skew.GrahamBound(2))
	// Output:
	// [1 3 0 2]
	// 1.167
}
