package hedge_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

// When is a second request sent, and to which machine?
func ExampleHedger() {
	h, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.1})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for i := range 1000 { // nineteen of twenty requests take 4 to 6 ms, and one takes 60 ms
		took := 4*time.Millisecond + time.Duration(i%19)*100*time.Microsecond
		if i%20 == 0 {
			took = 60 * time.Millisecond
		}
		id, _ := h.Start(now, hedge.Request{Safe: true})
		now = now.Add(took)
		h.Done(now, id, hedge.First, hedge.Answered)
	}

	id, d := h.Start(now, hedge.Request{Safe: true, Machine: "a"})
	fmt.Println(d)
	now = now.Add(d.After) // no answer has come
	d = h.Late(now, id)
	fmt.Println(d)
	now = now.Add(5 * time.Millisecond)
	h.Done(now, id, hedge.Second, hedge.Answered)
	h.Done(now, id, hedge.First, hedge.Cancelled) // it would have taken at least 10 ms
	fmt.Println(h.Ledger())
	fmt.Println(h.Plan(0, 0))
	// Output:
	// wait not-late after=0.00570679s threshold=0.00570679
	// send late value=0.00570679 threshold=0.00570679 avoid=a
	// started=1001 answered=1001 sent=1 won=1 expected=0.479504 busy=0.005s
	// send delay=0.00570679 probability=0.945066 load=0.0949963 time=0.011322 alone=0.0600586
}
