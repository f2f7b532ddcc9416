package pool_test

import (
	"context"
	"fmt"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The sequence of numbers is endless. The loop looks for a number whose square ends in 444. It leaves the loop when
// it has found one: then EachSeq ends all running calls, and reads no more numbers.
func ExampleEachSeq() {
	numbers := func(yield func(int) bool) {
		for i := 1; yield(i); i++ {
		}
	}
	square := func(_ context.Context, n int) (int, error) { return n * n, nil }
	for _, r := range pool.EachSeq(context.Background(), numbers, square, pool.Goroutines(1), pool.Copies()) {
		if r.Err == nil && r.Value%1000 == 444 {
			fmt.Println(r.Value)
			break
		}
	}
	// Output: 1444
}
