package delay_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/delay"
)

// A slot is free on a node without the job's data. Launch there, or wait?
func ExampleLocality() {
	policy, err := delay.New(delay.Config{}) // node, rack, anywhere; 15 s at each of the first two
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	const node, rack, anywhere = 0, 1, 2
	for _, offer := range []struct{ second, level int }{{0, anywhere}, {4, node}, {5, rack}, {20, rack}, {22, anywhere}} {
		now := start.Add(time.Duration(offer.second) * time.Second)
		fmt.Printf("%2ds %v\n", offer.second, job.Offer(now, offer.level))
	}
	// Output:
	//  0s wait delayed level=2 allowed=0 next-level-in=15s
	//  4s launch local-enough level=0 allowed=0
	//  5s wait delayed level=1 allowed=0 next-level-in=15s
	// 20s launch local-enough level=1 allowed=1
	// 22s wait delayed level=2 allowed=1 next-level-in=15s
}

// When will the job take anything? Ask without an offer, to set a timer.
func ExampleLocality_Allowed() {
	policy, err := delay.New(delay.Config{Waits: []time.Duration{10 * time.Second}, Reset: delay.ToLaunched})
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	fmt.Println(job.Allowed(start.Add(4 * time.Second)))
	fmt.Println(job.Allowed(start.Add(10 * time.Second)))
	// Output:
	// 0 6s
	// 1 0s
}

// A job whose data is on one busy node must not leave the cluster idle: close each round of offers.
func ExampleLocality_EndRound() {
	policy, err := delay.New(delay.Config{Waits: []time.Duration{3 * time.Second}, Reset: delay.NoRejection})
	if err != nil {
		panic(err)
	}
	start := time.Unix(0, 0)
	job := policy.Start(start)
	for second := range 5 {
		now := start.Add(time.Duration(second) * time.Second)
		local := job.Offer(now, 0) // launched each second, which starts no new wait,
		other := job.Offer(now, 1) // because this was declined
		job.EndRound(now, true)
		fmt.Println(local.Action, other.Action)
	}
	// Output:
	// launch wait
	// launch wait
	// launch wait
	// launch launch
	// launch wait
}

// The last task that prefers a node is launched: there is nothing to wait for at that level.
func ExampleLocality_SetCandidates() {
	policy, err := delay.New(delay.Config{})
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	job := policy.Start(now)
	job.SetCandidates(now, 0b110) // rack and anywhere
	fmt.Println(job.Offer(now, 1))
	// Output:
	// launch local-enough level=1 allowed=1
}

// Is it worth waiting 15 s for a local slot, when one comes every 4 s and reading from afar costs 10 s?
func ExampleGain() {
	gain, err := delay.Gain(15*time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(gain.Round(time.Millisecond), err)
	_, err = delay.Gain(-time.Second, 4*time.Second, 10*time.Second)
	fmt.Println(err)
	// Output:
	// 5.859s <nil>
	// delay: wait is -1s, want at least 0s
}

// How likely is a local slot within 15 s, if 15 slots have the data and tasks take a minute?
func ExampleLocalWithin() {
	p, err := delay.LocalWithin(15*time.Second, time.Minute, 15)
	fmt.Printf("%.4f %v\n", p, err)
	// Output:
	// 0.9866 <nil>
}

// Jobs that read fast wait for their data, jobs that compute do not.
func ExampleByReadRate() {
	biased, err := delay.NewByReadRate(
		delay.Class{MinRate: 10e6, Config: delay.Config{Waits: []time.Duration{10 * time.Second}}},
		delay.Class{MinRate: 0, Config: delay.Config{Waits: []time.Duration{0}}},
	)
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0)
	for _, took := range []time.Duration{5 * time.Second, 25 * time.Second} {
		rate := 64e6 / took.Seconds() // bytes per second
		job := biased.For(rate).Start(now)
		fmt.Printf("%.2f MB/s: %v\n", rate/1e6, job.Offer(now, 1))
	}
	// Output:
	// 12.80 MB/s: wait delayed level=1 allowed=0 next-level-in=10s
	// 2.56 MB/s: launch local-enough level=1 allowed=1
}
