package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// Which hash function should the map tasks use? Each map task counts its keys in its own sketch and sends the sketch
// as bytes. The master merges the sketches, makes a plan for each hash function, and tells the map tasks the best
// row.
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
