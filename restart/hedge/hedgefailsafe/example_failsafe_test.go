package hedgefailsafe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgefailsafe"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// How does a rule of this library decide for the hedge policy of failsafe-go?
func ExampleNew() {
	rule, err := hedgerules.New(hedgerules.Fixed(10 * time.Millisecond)) // or hedge.New(hedge.Config{})
	if err != nil {
		panic(err)
	}
	safe := func(context.Context) hedge.Request { return hedge.Request{Safe: true} }
	policy := hedgefailsafe.New[string](hedged.NewRoute(rule), safe)
	retries := retrypolicy.NewWithDefaults[string]()
	answer, err := failsafe.With(retries, policy).GetWithExecution(func(exec failsafe.Execution[string]) (string, error) {
		if !exec.IsHedge() {
			<-exec.Canceled() // the first run does not answer
			return "", context.Canceled
		}
		return "hello", nil
	})
	fmt.Println(answer, err)
	// Output: hello <nil>
}
