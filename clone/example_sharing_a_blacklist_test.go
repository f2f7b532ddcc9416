package clone_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// How do two schedulers share a blacklist? Each scheduler observes too few tasks on node-b, and both together observe
// enough.
func ExampleBlacklist_Merge() {
	scheduler := func(origin string) *clone.Blacklist {
		b, err := clone.NewBlacklist(2, clone.BlacklistConfig{Origin: origin, MaxShare: 0.5})
		if err != nil {
			panic(err)
		}
		b.SetName(0, "node-a")
		b.SetName(1, "node-b")
		return b
	}
	first, second := scheduler("first"), scheduler("second")
	now := time.Unix(0, 0)
	for range 2 {
		first.Observe(now, 1, true)
		second.Observe(now, 1, true)
	}
	now = now.Add(5 * time.Minute)
	fmt.Println(second.AppendBanned(nil, now))

	delta, err := first.AppendDelta(nil, second.AppendVersion(nil))
	if err != nil {
		panic(err)
	}
	if err := second.Merge(now, delta); err != nil {
		panic(err)
	}
	fmt.Println(second.AppendBanned(nil, now))
	// Output:
	// []
	// [1]
}
