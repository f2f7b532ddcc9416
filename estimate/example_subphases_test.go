package estimate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// LATE's Figure 2, 20 s after the first of two equal tasks began: each task reads 5 % of its input per second up to
// half of the input, and 1 % per second after that.
func ExampleTimeLeft() {
	fmt.Println("T1:", estimate.TimeLeft(.6, 20*time.Second).Round(10*time.Millisecond))
	fmt.Println("T2:", estimate.TimeLeft(.5, 10*time.Second))
	// Output:
	// T1: 13.33s
	// T2: 10s
}

// The two tasks of LATE's Figure 2, subphase by subphase: T2 ends last, and the mean rate of the other task shows
// when.
func ExampleTimeLeftBySubphase() {
	const half = .5
	t1 := []estimate.Subphase{
		{Weight: half, Score: .5, Age: 10 * time.Second},
		{Weight: half, Score: .1, Age: 10 * time.Second},
	}
	t2 := []estimate.Subphase{
		{Weight: half, Score: .5, Age: 10 * time.Second},
		{Weight: half, PeerRate: .1 / 10}, // T1 has done 10 % in 10 s there,
	}
	fmt.Println("T1:", estimate.TimeLeftBySubphase(t1))
	fmt.Println("T2:", estimate.TimeLeftBySubphase(t2))
	// Output:
	// T1: 40s
	// T2: 50s
}
