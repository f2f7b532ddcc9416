package hedged_test

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// How does a program run a function a second time if the first run is slow?
func ExampleDo() {
	rule, err := hedgerules.New(hedgerules.Fixed(10 * time.Millisecond)) // or hedge.New(hedge.Config{})
	if err != nil {
		panic(err)
	}
	route := hedged.NewRoute(rule)
	request := hedge.Request{Safe: true, Machine: "a"}
	answer, err := hedged.Do(context.Background(), route, request, func(ctx context.Context) (string, error) {
		if avoid, ok := hedged.Second(ctx); ok {
			return "b answers in place of " + avoid, nil
		}
		<-ctx.Done() // machine a does not answer
		return "", ctx.Err()
	})
	fmt.Println(answer, err)
	// Output: b answers in place of a <nil>
}
