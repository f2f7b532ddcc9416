package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// Does a wait of 15 s for a local slot pay? A local slot comes every 4 s, and a task without its data takes 10 s longer.
func ExampleGain() {
	gain, err := delay.Gain(15*time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(gain.Round(time.Millisecond), err)
	_, err = delay.Gain(-time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(err)
	// Output:
	// 5.859s <nil>
	// delay: wait is -1s, want at least 0s
}
