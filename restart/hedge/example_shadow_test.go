package hedge_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

// What would second requests cost and gain, before any is sent?
func ExampleConfig_shadow() {
	h, err := hedge.New(hedge.Config{Shadow: true})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for i := range 10_000 {
		took := 4*time.Millisecond + time.Duration(i%19)*100*time.Microsecond
		if i%25 == 0 {
			took = 60 * time.Millisecond
		}
		id, d := h.Start(now, hedge.Request{Safe: true})
		if d.Action == hedge.Wait && d.After < took {
			h.Late(now.Add(d.After), id) // never hedge.Send
		}
		now = now.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
	}
	fmt.Println(h.Ledger())
	fmt.Println(h.Plan(0, 0))
	// Output:
	// started=10000 answered=10000 sent=389 expected=373.367 not-drawn=7 busy=2.7742s
	// send delay=0.00582886 probability=0.989969 load=0.0396785 time=0.0112305 alone=0.0600586
}
