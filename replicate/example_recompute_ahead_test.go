package replicate_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/replicate"
)

// Which outputs should be recomputed before a task asks for them? A machine has lost two outputs within minutes.
// Its other outputs are recomputed within a budget. The output that saves the most time per second of cluster time
// is first.
func ExampleChooseRecompute() {
	bursts, err := replicate.NewLossBursts(100, replicate.LossBurstsConfig{Losses: 2, Window: 10 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, err := replicate.NewTimeBudget(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget.Grant(time.Hour) // cluster time that the job has used

	start := time.Unix(0, 0)
	fmt.Println(bursts.Lost(start, 17))
	fmt.Println(bursts.Lost(start.Add(3*time.Minute), 17))
	missing, _ := bursts.Missing(start.Add(3*time.Minute), 17) // 0.93 before more is known
	cost := func(redo, work time.Duration) replicate.Cost {
		return replicate.Cost{Redo: redo * time.Second, ClusterTime: work * time.Second}
	}
	held := []replicate.AtRisk{
		{Cost: cost(50, 50), Missing: missing, Readers: 20},
		{Cost: cost(80, 200), Missing: missing, Readers: 20},
		{Cost: cost(70, 90), Missing: missing, Readers: 20},
		{Cost: cost(99, 99), Missing: missing, Readers: 20, Copies: 1},
	}
	for _, i := range replicate.ChooseRecompute(nil, held, budget.Left()) {
		d := replicate.DecideRecompute(held[i], budget.Left())
		budget.Spend(d.Takes)
		fmt.Printf("output %d: %v\n", i, d)
	}
	// Output:
	// false
	// true
	// output 0: recompute loss-foreseen saves=46.5s takes=50s allowed=180s
	// output 2: recompute loss-foreseen saves=65.1s takes=90s allowed=130s
}
