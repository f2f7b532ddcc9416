package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// How likely is a local slot within 15 s? Fifteen slots are local, and tasks take one minute.
func ExampleLocalWithin() {
	p, err := delay.LocalWithin(15*time.Second, time.Minute, 15)
	fmt.Printf("%.4f %v\n", p, err)
	// Output:
	// 0.9866 <nil>
}
