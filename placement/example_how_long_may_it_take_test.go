package placement_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/placement"
)

// How do I get an answer within 10 ms? Pass an effort. Then Bound says how far the answer is, at most, from the
// optimum.
func ExampleWithin() {
	rng := rand.New(rand.NewPCG(1, 1))
	phase := placement.Problem{Up: make([]float64, 20), Down: make([]float64, 20)}
	for rack := range phase.Up {
		phase.Up[rack], phase.Down[rack] = 50e6, 50e6 // bytes per second
	}
	for range 40 { // tasks that each read about 100 MB from each rack
		input := make([]float64, 20)
		for rack := range input {
			input[rack] = float64(90e6 + rng.IntN(20e6))
		}
		phase.Input = append(phase.Input, input)
	}
	a, err := placement.Assign(phase, placement.Within(10*time.Millisecond))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f s, at most %.1f %% above the optimum\n", a.Seconds, 100*(a.Seconds/a.Bound-1))
	// Output:
	// 76.9 s, at most 1.9 % above the optimum
}
