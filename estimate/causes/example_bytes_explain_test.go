package causes_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
)

// Which model fits tasks of 2 s and half a second for each megabyte?
func ExampleModel() {
	var p causes.Phase
	for mb := range 20 {
		p.Tasks = append(p.Tasks, causes.Task{Took: time.Duration(2000+500*mb) * time.Millisecond, Bytes: float64(mb)})
	}
	fmt.Println(causes.Explain(p).Model)
	// Output:
	// base=2s per-byte=0.5 per-remote=0 explained=1
}
