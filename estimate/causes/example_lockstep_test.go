package causes_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// Who makes the others wait? Four workers take a step together, again and again. Worker 2 takes 1.2 times as long as the others.
func ExampleLockstep() {
	var l causes.Lockstep
	for step := range 100 {
		var members []causes.Member
		for worker := range 4 {
			took := time.Second + time.Duration((step*7+worker*3)%5)*time.Millisecond
			if worker == 2 {
				took += took / 5
			}
			members = append(members, causes.Member{Machine: worker, Replica: worker, Took: took})
		}
		l.Add(members)
	}
	w := l.Waiting()
	fmt.Printf("the slowest costs %.1f%% of the time\n", 100*w.Wait)
	for _, f := range w.Findings {
		fmt.Printf("%v %d: %.2f times the others, %.1f%% would be saved\n", f.Reason, f.Machine, f.Times, 100*f.Share)
	}
	// Output:
	// the slowest costs 16.7% of the time
	// worker 2: 1.20 times the others, 16.6% would be saved
}
