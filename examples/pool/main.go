// Command pool is a goroutine pool that knows only starts and ends, as most do: 200 tasks of about 20 ms, of which
// one attempt in twenty takes eight times as long. It runs them without and with straggler mitigation. pool.go is for
// copying.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/straggler-go/straggler/restart"
)

func main() {
	for _, policy := range []struct {
		name string
		restart.Policy
	}{{"never", restart.Never{}}, {"mantri", restart.Mantri{}}} {
		began, sum := time.Now(), 0
		ledger, err := run(context.Background(), 200, 40, 4*time.Millisecond, policy.Policy, square, func(_, result int) { sum += result })
		if err != nil {
			fmt.Fprintln(os.Stderr, "pool:", err)
			os.Exit(1)
		}
		fmt.Printf("%-6s  %5.0f ms  sum of squares %d  %v\n", policy.name, time.Since(began).Seconds()*1000, sum, ledger)
	}
}

// square takes its time, and now and then a lot of it.
func square(ctx context.Context, i int) (int, error) {
	takes := 20*time.Millisecond + time.Duration(rand.IntN(4))*time.Millisecond
	if rand.IntN(20) == 0 {
		takes *= 8
	}
	select {
	case <-time.After(takes):
		return i * i, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
