package skew_test

import (
	"fmt"

	"github.com/straggler-go/straggler/skew"
)

// How even are the partitions? The paper's skewness is 1 - Balance of the sizes.
func ExampleBalance() {
	fmt.Printf("%.2f %.2f\n", 1-skew.Balance([]int64{10, 10, 10}), 1-skew.Balance([]int64{40, 5, 5}))
	// Output:
	// 0.00 0.58
}
