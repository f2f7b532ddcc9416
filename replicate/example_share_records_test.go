package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// How do several schedulers share their records of the same machines? Scheduler b asks for the counts that it
// lacks, and merges the delta of scheduler a. Then both give the same answer.
func ExampleLosses_Merge() {
	member := func(origin string) *replicate.Losses {
		l, err := replicate.NewLosses(1, replicate.LossesConfig{Origin: origin})
		if err != nil {
			panic(err)
		}
		l.SetName(0, "node-17")
		return l
	}
	a, b := member("scheduler-a"), member("scheduler-b")
	now := time.Unix(1000, 0)
	a.Produced(now, 0, 500)
	b.Produced(now, 0, 500)
	a.Lost(now, 0, 20)
	fmt.Printf("before: a %.2f %%, b %.2f %%\n", 100*a.Probability(now, 0), 100*b.Probability(now, 0))

	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := b.Merge(now, delta); err != nil {
		fmt.Println(err)
		return
	}
	if delta, err = b.AppendDelta(nil, a.AppendVersion(nil)); err != nil {
		fmt.Println(err)
		return
	}
	if err := a.Merge(now, delta); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("after:  a %.2f %%, b %.2f %%\n", 100*a.Probability(now, 0), 100*b.Probability(now, 0))
	// Output:
	// before: a 3.89 %, b 0.00 %
	// after:  a 1.98 %, b 1.98 %
}
