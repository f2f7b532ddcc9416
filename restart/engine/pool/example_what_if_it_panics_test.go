package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/restart/engine/pool"
)

// The function panics for the item 0. The panic is an error of Map, and its stack names the line that panicked.
func ExamplePanicError() {
	divide := func(_ context.Context, by int) (int, error) { return 60 / by, nil }
	_, err := pool.Map(context.Background(), []int{3, 2, 1, 0}, divide)
	var panicked *pool.PanicError
	if errors.As(err, &panicked) {
		fmt.Println(panicked.Value)
		fmt.Println(strings.Contains(string(panicked.Stack), "example_what_if_it_panics_test.go"))
	}
	// Output:
	// runtime error: integer divide by zero
	// true
}
