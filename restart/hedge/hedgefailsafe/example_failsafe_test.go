package hedgefailsafe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgefailsafe"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// How does the hedge policy of failsafe-go ask a rule of this library for its delay?
func ExampleDelay() {
	rule, err := hedgerules.New(hedgerules.Fixed(10 * time.Millisecond)) // or hedge.New(hedge.Config{})
	if err != nil {
		panic(err)
	}
	policy := hedgepolicy.NewWithDelayFunc(hedgefailsafe.Delay[string])
	ctx := hedgefailsafe.With(context.Background(), hedged.NewRoute(rule), hedge.Request{Safe: true})
	answer, err := failsafe.With(policy).WithContext(ctx).GetWithExecution(hedgefailsafe.Func(
		func(exec failsafe.Execution[string]) (string, error) {
			if !exec.IsHedge() {
				<-exec.Canceled() // the first run does not answer
			}
			return "hello", nil
		}))
	fmt.Println(answer, err)
	// Output: hello <nil>
}
