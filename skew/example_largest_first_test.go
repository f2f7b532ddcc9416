package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// In which order should tasks start? The largest task is first, and equal tasks are ordered by index.
func ExampleLargestFirst() {
	fmt.Println(skew.LargestFirst(nil, []int64{3, 9, 3, 5}))
	// Output:
	// [1 3 0 2]
}
