package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// How likely is it that a slot on a machine with the data becomes free within 15 s? There are fifteen such slots,
// and each runs a task of one minute.
func ExampleLocalWithin() {
	p, err := delay.LocalWithin(15*time.Second, time.Minute, 15)
	fmt.Printf("%.4f %v\n", p, err)
	// Output:
	// 0.9866 <nil>
}
