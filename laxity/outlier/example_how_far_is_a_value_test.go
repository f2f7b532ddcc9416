package outlier_test

import (
	"fmt"

	"github.com/straggler-go/straggler/laxity/outlier"
)

// How far is a value from its neighbours? Four values are close together, and the fifth value, 30, is an outlier.
func ExampleLOF() {
	factors, err := outlier.LOF([]float64{10, 11, 12, 13, 30}, 2)
	fmt.Printf("%.2f %v\n", factors, err)
	_, err = outlier.LOF([]float64{10, 11}, 2)
	fmt.Println(err)
	// Output:
	// [1.00 1.00 1.00 1.00 11.67] <nil>
	// laxity/outlier: l is 2, want 1 to 1, less than the number of values
}
