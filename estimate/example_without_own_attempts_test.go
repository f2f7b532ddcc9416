package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// How long would a new attempt of the slow task take? In a phase of four tasks, the slow attempt itself would make
// the answer too long, so Peers leaves its sample out.
func ExampleUnitTimes_Peers() {
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		times.Finish(estimate.NoSample, estimate.Run{Age: 10 * time.Second, Work: 1})
	}
	slow := times.Running(estimate.NoSample, estimate.Run{Age: 35 * time.Second, Work: 1, Done: .5}) // 70 s in total

	var peers estimate.PeerTimes
	times.Peers(&peers, slow)
	fmt.Println("all samples:    ", estimate.Fresh{UnitTime: times, Work: 1}.Expected())
	fmt.Println("without its own:", estimate.Fresh{UnitTime: &peers, Work: 1}.Expected())
	// Output:
	// all samples:     25s
	// without its own: 10s
}
