package pool_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The first call of fetch for "c" hangs. A call of fetch changes nothing, so Map may call it twice for an item.
func ExampleMap() {
	hangs := make(chan struct{}, 1)
	hangs <- struct{}{}
	fetch := func(ctx context.Context, name string) (string, error) {
		if name == "c" {
			select {
			case <-hangs:
				<-ctx.Done()
				return "", ctx.Err()
			default:
			}
		}
		time.Sleep(5 * time.Millisecond)
		return strings.ToUpper(name), nil
	}
	pages, err := pool.Map(context.Background(), strings.Split("abcdefgh", ""), fetch, pool.Goroutines(4), pool.Copies())
	fmt.Println(pages, err)
	// Output: [A B C D E F G H] <nil>
}
