package main

import (
	"fmt"
	"io"
	"os"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// runSteps reports who makes the others wait in a table of steps. No policy is replayed: a worker of a step cannot be
// copied.
func (o options) runSteps(stdout, stderr io.Writer) error {
	steps, err := o.readSteps()
	if err != nil {
		return usage("%v", err)
	}
	r, err := report.Build(nil, compare.Comparison{}, nil, report.Input{Name: o.input(), Logs: o.logs})
	if err != nil {
		return err
	}
	waits := why.Wait(steps)
	r.SetWaits(waits, true)
	whole := words.Counted(len(waits.Labels), "whole step")
	if len(waits.Labels) < len(steps.Labels) {
		whole = fmt.Sprintf("%d steps, %d of them whole", len(steps.Labels), len(waits.Labels))
	}
	r.Notes = []string{fmt.Sprintf("%s: table of %s, with %s; %v", o.input(), whole, words.Counted(waits.Tasks, "row"), steps.Faults)}
	r.Input.Hosts = len(waits.Machines)
	return o.write(r, stdout, stderr)
}

func (o options) readSteps() (*trace.Steps, error) {
	path := o.logs[0]
	if path == standardInput {
		return trace.ReadSteps(os.Stdin, "standard input", o.columns)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return trace.ReadSteps(f, path, o.columns)
}
