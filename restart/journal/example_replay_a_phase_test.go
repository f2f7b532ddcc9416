package journal_test

import (
	"fmt"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
)

// How would another policy have answered the same reports?
func ExampleReplay() {
	recorded := []byte(`phase tasks=3 slots=3 interval=1s policy=mantri
0s start task=0
0s start task=1
0s start task=2
10s finish task=0
10s finish task=1
# Task 2 has fallen silent.
31s decide task=2
    keep no-estimate remaining=? fresh=?
`)
	replayed, err := journal.Replay(recorded, journal.Options{Policy: rules.Spark{Quantile: 0.6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", replayed)

	// Output:
	// phase tasks=3 slots=3 interval=1s policy=mantri
	// 0s start task=0
	// 0s start task=1
	// 0s start task=2
	// 10s finish task=0
	// 10s finish task=1
	// # Task 2 has fallen silent.
	// 31s decide task=2
	//     copy beyond-peers run-seconds=31 threshold=30 gain=1s
}
