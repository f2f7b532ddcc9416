package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// Should a job wait up to 15 s for a slot on a machine with its data? Such a slot is offered every 4 s on average.
// On another machine a task takes 10 s longer.
func ExampleGain() {
	gain, err := delay.Gain(15*time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(gain.Round(time.Millisecond), err)
	_, err = delay.Gain(-time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(err)
	// Output:
	// 5.859s <nil>
	// delay: wait is -1s, want at least 0s
}
