package outlier_test

import (
	"fmt"

	"github.com/straggler-go/straggler/laxity/outlier"
)

// What happens if many values are equal? A different value near them has an infinite factor, unless the argument
// floor is above 0.
func ExampleScorer_Score() {
	values := []float64{7, 7, 7, 7, 8, 20} // milliseconds
	var s outlier.Scorer
	factors, _ := s.Score(nil, values, 2, 0)
	fmt.Println(factors)
	factors, _ = s.Score(factors[:0], values, 2, 1) // distances below 1 ms count as 1 ms
	fmt.Println(factors)
	// Output:
	// [1 1 1 1 +Inf +Inf]
	// [1 1 1 1 1 12.8]
}
