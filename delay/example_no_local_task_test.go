package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// The last task that prefers certain machines was launched. So the job need not wait at level 0 any more.
func ExampleLocality_SetCandidates() {
	policy, err := delay.New(delay.Config{})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	job := policy.Start(now)
	job.SetCandidates(now, 0b110) // candidates at the levels rack and anywhere
	fmt.Println(job.Offer(now, 1))
	// Output:
	// launch local-enough level=1 allowed=1
}
