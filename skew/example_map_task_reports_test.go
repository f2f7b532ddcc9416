package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// How do I add up the reports of map tasks? Two map tasks report the sizes of three partitions. The report of the
// second copy of map task 0 is ignored.
func ExampleSizes() {
	sizes, err := skew.NewSizes(3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sizes.Report(0, []int64{5, 0, 1}))
	fmt.Println(sizes.Report(0, []int64{5, 0, 1})) // a second copy of map task 0
	fmt.Println(sizes.Report(1, []int64{1, 2, 3}))
	fmt.Println(sizes.Append(nil), "missing", sizes.Missing())
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
	// [6 2 4] missing 0
}
