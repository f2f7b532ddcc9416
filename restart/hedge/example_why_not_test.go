package hedge_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

// Why was the second request not sent? Late requests are slow by themselves here, so second requests lose.
func ExampleDecision() {
	h, err := hedge.New(hedge.Config{Percentile: 0.99, Budget: 0.1})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	var last hedge.Decision
	for i := range 2000 {
		took := 4*time.Millisecond + time.Duration(i%19)*100*time.Microsecond
		if i%20 == 0 {
			took = 60 * time.Millisecond
		}
		began := now
		id, d := h.Start(now, hedge.Request{Safe: true})
		if d.Action == hedge.Wait && d.After < took {
			if d = h.Late(began.Add(d.After), id); d.Reason != last.Reason {
				fmt.Println(d)
			}
			last = d
		}
		now = began.Add(took) // the second request would take 60 ms, too
		h.Done(now, id, hedge.First, hedge.Answered)
		h.Done(now, id, hedge.Second, hedge.Cancelled)
	}
	l := h.Ledger()
	fmt.Println(l.Sent, "sent,", l.Lost, "lost,", l.Refused[hedge.RequestLong], "refused")
	trials := h.Trials() // lost trials fade
	fmt.Printf("%.0f won, %.2f lost: slow by itself with probability %.2f\n", trials.Won, trials.Lost, trials.Long(0))
	// Output:
	// send late value=0.00570679 threshold=0.00570679
	// none request-long value=0.785255 threshold=0.759231
	// send late value=0.00570679 threshold=0.00570679
	// none request-long value=0.802782 threshold=0.773148
	// 6 sent, 6 lost, 184 refused
	// 0 won, 5.04 lost: slow by itself with probability 0.79
}
