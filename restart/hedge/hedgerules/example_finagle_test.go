package hedgerules_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// What would Finagle do? A rule of another system stands in the place of a Hedger, to be compared with it.
func Example() {
	var rule hedge.Rule
	rule, err := hedgerules.New(hedgerules.Finagle(0.01))
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for i := range 100 {
		id, _ := rule.Start(now, hedge.Request{Safe: true})
		now = now.Add(time.Duration(i+1) * time.Millisecond)
		rule.Done(now, id, hedge.First, hedge.Answered)
	}
	id, d := rule.Start(now, hedge.Request{Safe: true})
	fmt.Println(d)
	fmt.Println(rule.Late(now.Add(d.After), id))
	// Output:
	// wait not-late after=0.08s threshold=0.08
	// send late value=0.08 threshold=0.08
}
