package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// Which machine should get the copy? The first machine is fast and loses every fourth output. The second is slow and
// safe. The third is nearly as fast as the first and nearly as safe as the second, and it is the best choice.
func ExampleDecideTarget() {
	const copyTime = 3 * time.Second
	out := replicate.Candidate{Cost: replicate.Cost{Expected: 12 * time.Second}, Bytes: 60e6}
	target, d := replicate.DecideTarget(out, []replicate.Target{
		{CopyTime: copyTime, Loss: .25},
		{CopyTime: 4 * copyTime, Loss: .001},
		{CopyTime: copyTime + time.Second, Loss: .01},
	}, 80e6)
	fmt.Println(target, d)
	// Output:
	// 2 replicate saves-time saves=11.88s takes=4s bytes=60000000 tokens=80000000
}
