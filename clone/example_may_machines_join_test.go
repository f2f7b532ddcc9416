package clone_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/clone"
)

// May machines join and leave the cluster? Resize changes the number of machines. A new machine has no
// observations.
func ExampleBlacklist_Resize() {
	blacklist, err := clone.NewBlacklist(10, clone.BlacklistConfig{})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for range 5 {
		blacklist.Observe(now, 3, true) // every task on machine 3 straggles
	}
	now = now.Add(5 * time.Minute)
	fmt.Println(blacklist.AppendBanned(nil, now))
	fmt.Println(blacklist.Predicted(3))

	blacklist.Resize(12)
	fmt.Println(blacklist.Predicted(11))
	blacklist.Resize(3) // the machines 3 to 11 leave
	fmt.Println(blacklist.AppendBanned(nil, now))
	// Output:
	// [3]
	// 1 true
	// 0 false
	// []
}
