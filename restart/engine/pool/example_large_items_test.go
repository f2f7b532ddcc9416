package pool_test

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/pool"
)

// A file of 20 MB takes 20 times as long as a file of 1 MB. With the size of each file, the pool does not copy the
// attempt of a large file.
func ExampleWork() {
	type file struct{ megabytes int }
	files := make([]file, 40)
	for i := range files {
		files[i] = file{1 + i/39*19}
	}
	load := func(_ context.Context, f file) (int, error) {
		time.Sleep(time.Duration(f.megabytes) * 10 * time.Millisecond)
		return f.megabytes, nil
	}
	touched := map[int]bool{}
	_, err := pool.Map(context.Background(), files, load, pool.Goroutines(8), pool.Copies(),
		pool.OnAction(func(index int, _ restart.Decision) { touched[index] = true }),
		pool.Work(func(f file) float64 { return float64(f.megabytes) }))
	fmt.Println("the large file was copied or restarted:", touched[39], err)
	// Output: the large file was copied or restarted: false <nil>
}
