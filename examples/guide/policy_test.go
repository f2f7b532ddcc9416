package main

import (
	"slices"
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
	"github.com/straggler-go/straggler/restart/rules"
)

func TestTwice(t *testing.T) {
	restarttest.Run(t, "testdata/twice/*.txt", restarttest.Policy(Twice{}))
}

func TestThePoliciesFindTheSlowTasks(t *testing.T) {
	for _, policy := range []restart.Policy{Twice{}, restart.LeastCost{}, restart.Mantri{}, rules.Spark{Quantile: 0.75}} {
		options := journal.Options{Policy: policy}
		var tasks []int
		for _, touch := range restarttest.Touched(t, options, "testdata/never/batch.txt") {
			t.Logf("%T, task %d: %v", policy, touch.Task, touch.Decision)
			tasks = append(tasks, touch.Task)
		}
		slices.Sort(tasks)
		if !slices.Equal(tasks, []int{3, 7}) {
			t.Errorf("%T acts on the tasks %v, want 3 and 7", policy, tasks)
		}
	}
}
