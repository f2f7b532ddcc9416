package pool_test

import (
	"context"
	"fmt"
	"time"

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
	var l pool.Ledger
	_, err := pool.Map(context.Background(), files, load, pool.Goroutines(8), pool.Copies(), pool.Account(&l),
		pool.Work(func(f file) float64 { return float64(f.megabytes) }))
	fmt.Println("copies:", l.Copies, err)
	// Output: copies: 0 <nil>
}
