package trace_test

import (
	"fmt"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

func ExampleRead() {
	log, err := trace.Read(strings.NewReader(`
{"phase":"maps","task":0,"start":0,"finish":4000,"host":"n1","input":0}
{"phase":"maps","task":1,"start":0,"finish":9500,"host":"n2"}
{"phase":"maps","task":1,"attempt":1,"start":6000,"state":"killed","speculative":true}
{"phase":"maps","task":2,"st`), "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, phase := range log.Phases {
		fmt.Println(phase.Name, phase.Tasks, "tasks")
		for _, a := range phase.Attempts {
			d, known := a.Duration()
			fmt.Println(a.Task, a.Number, a.State, d, known, log.Hosts[a.Host].Name, a.Input)
		}
	}
	fmt.Println(log.Faults)
	// Output:
	// maps 2 tasks
	// 0 0 succeeded 4s true n1 0
	// 1 0 succeeded 9.5s true n2 unknown
	// 1 1 killed 0s false  unknown
	// last lines or objects that stop halfway, dropped: 1; ended attempts without a finish time, kept: 1
}
