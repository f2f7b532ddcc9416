package pool_test

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/engine/pool"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// The option Shadow shows what copies would save, before the function is ever called twice for an item. Here one item
// takes ten times as long as the others. The program cannot know whether this item is large, or its call was slow.
func ExampleShadow() {
	calls := make(chan int, 20)
	double := func(ctx context.Context, item int) (int, error) {
		calls <- item
		if item == 7 {
			time.Sleep(180 * time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		return 2 * item, nil
	}
	var bill shadow.Bill
	_, err := pool.Map(context.Background(), []int{1, 2, 3, 4, 5, 6, 7, 8}, double, pool.Goroutines(4), pool.Shadow(&bill))
	fmt.Println(bill.Tasks, "items,", len(calls), "calls,", err)
	fmt.Println("copies would save much if the slow call was bad luck:", bill.AtMost > 0.3)
	fmt.Println("copies would save much if the item is large:", bill.Saved > 0.3)
	// Output:
	// 8 items, 8 calls, <nil>
	// copies would save much if the slow call was bad luck: true
	// copies would save much if the item is large: false
}
