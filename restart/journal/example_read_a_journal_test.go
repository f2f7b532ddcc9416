package journal_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart/journal"
)

// An error names the line and the expected form.
func ExampleParse() {
	_, err := journal.Parse([]byte("phase tasks=3 slots=3\n0s start taks=0\n"))
	fmt.Println(err)

	phases, _ := journal.Parse([]byte("phase tasks=3 slots=3\n1m30s start task=2 # on any machine\n"))
	fmt.Printf("%s\n", journal.AppendEvent(nil, time.Unix(0, 0), phases[0].Events[0]))

	// Output:
	// journal: line 2: start has no field "taks", want one of task, machine, each with = and a value
	// 90s start task=2
}
