package hedged_test

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedged"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// logged is a rule that says what is done about each late request. If it embeds a *hedge.Hedger, Route.Ledger has the
// Hedger's counts.
type logged struct{ hedge.Rule }

// Late decides whether the second request is sent now.
func (l logged) Late(now time.Time, id hedge.ID) hedge.Decision {
	d := l.Rule.Late(now, id)
	fmt.Println(d.Action, d.Reason) // d itself has the numbers that were compared, too
	return d
}

// Why was a second request sent?
func ExampleNewRoute() {
	rule, err := hedgerules.New(hedgerules.Fixed(10 * time.Millisecond)) // or hedge.New(hedge.Config{})
	if err != nil {
		panic(err)
	}
	route := hedged.NewRoute(logged{rule})
	answer, err := hedged.Do(context.Background(), route, hedge.Request{Safe: true}, func(ctx context.Context) (string, error) {
		if _, ok := hedged.Second(ctx); ok {
			return "hello", nil
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	fmt.Println(answer, err)
	// Output:
	// send late
	// hello <nil>
}
