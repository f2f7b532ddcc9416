package machines_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
)

// Are machines without a GPU slow? Machines 0 and 1 have a GPU and take 4 s, machines 2 to 5 take 20 s. When
// machines 2 to 5 are in a class of their own, each machine is compared with its class, and all are normal.
func ExampleRecord_SetClass() {
	record, err := machines.New(machines.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	const gpu = 1
	record.SetClass(0, gpu)
	record.SetClass(1, gpu)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for task := range 18 {
		machine, ran := task%6, 20*time.Second
		if machine < 2 {
			ran = 4 * time.Second
		}
		record.End(now, machine, uint64(task), machines.Attempt{Ran: ran, Usual: 20 * time.Second}, machines.Finished)
	}
	fmt.Printf("with a GPU:    %v factor %.1f\n", record.Judge(0).Standing, record.Factor(0))
	fmt.Printf("without a GPU: %v factor %.1f\n", record.Judge(2).Standing, record.Factor(2))
	// Output:
	// with a GPU:    normal factor 0.2
	// without a GPU: normal factor 1.0
}
