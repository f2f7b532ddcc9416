package fanout_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// countWords is an activity that reports its progress in megabytes.
func countWords(ctx context.Context, name string) (words int, err error) {
	for done := range 64 {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		fanout.Report(ctx, float64(done)) // of 64 MB
	}
	return words, nil
}

// The workflow counts the words of two files on two workers, each with four slots.
func ExampleMap() {
	count := func(ctx workflow.Context) ([]int, error) { // a workflow to register
		workers, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{
			{Name: "ann", Slots: 4}, {Name: "bob", Slots: 4},
		}})
		if err != nil {
			return nil, err
		}
		return fanout.Map[int](ctx, countWords, []fanout.Task{
			{Input: "a.txt", Work: 64},
			{Input: "b.txt", Work: 64, NoCopy: true}, // two attempts would write to the same file
		}, fanout.Options{Machines: workers})
	}
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, "workflows", worker.Options{})
	w.RegisterWorkflow(count)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}

// The process on machine "ann" is a worker with four slots and a task queue of its own.
func ExampleWorkerOptions() {
	c, err := client.Dial(client.Options{Identity: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(c, "ann", fanout.WorkerOptions(4, time.Second))
	w.RegisterActivity(countWords)
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}

// Watch observes a running workflow from outside. In shadow mode it prints each action that the policy wants, and the
// time that all actions would have saved. It carries out none.
func ExampleWatch() {
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	workers, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "ann", Slots: 4}, {Name: "bob", Slots: 4}}})
	if err != nil {
		log.Fatal(err)
	}
	ledger, err := fanout.Watch(context.Background(), c, "nightly-count", "", fanout.WatchOptions{
		Type: "countWords", Machines: workers, Shadow: true,
		OnEnd:    func(s fanout.Summary) { fmt.Println(s.Bill) },
		OnAction: func(e fanout.Event) { fmt.Println(e.At, e.Kind, e.ID, "on", e.Machine, e.Why) },
	})
	fmt.Println(ledger, err)
}
