package main

import (
	"fmt"

	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/trace"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// load reads the log at a path, or all logs of a directory, and returns the phases of all of them.
func load(path string) (all []*sim.Phase, err error) {
	sources, _, err := trace.Find(path)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		log, err := source.Read()
		if err != nil {
			return nil, err
		}
		phases, _ := workload.FromLog(log)
		for _, p := range phases {
			for i := range p.DependsOn {
				p.DependsOn[i] += len(all)
			}
		}
		all = append(all, phases...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no phase has a successful attempt with known times within a year", trace.Printable(path))
	}
	return all, nil
}
