package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"straggler-examples/internal/sim"
	"straggler-examples/internal/trace"
	"straggler-examples/internal/workload"
)

// load reads the logs, or generates phases. The notes say what was found and what was left out.
func (o options) load() (phases []*sim.Phase, notes []string, err error) {
	if len(o.logs) == 0 {
		return workload.Generate(o.phases, o.seed), nil, nil
	}
	for _, path := range o.logs {
		files, inside := expand(path)
		for _, file := range files {
			log, err := open(file, inside)
			switch {
			case err != nil && inside: // a directory may hold other things, too
				notes = append(notes, fmt.Sprintf("left out: %v", err))
				continue
			case err != nil:
				return nil, nil, usage("%v", err)
			}
			own, left := workload.FromLog(log)
			phases = append(phases, own...)
			notes = append(notes, describe(file, log, left)...)
		}
	}
	if len(phases) == 0 {
		const shown = 3
		if more := len(notes) - shown; more > 0 {
			notes = append(notes[:shown], fmt.Sprintf("and %d more such lines", more))
		}
		return nil, nil, usage("no phase has a successful attempt with known times; %s", strings.Join(append(notes, empty(o.logs, notes)...), "; "))
	}
	return phases, notes, nil
}

// empty names the logs if there is nothing else to say of them: they are empty directories.
func empty(logs, notes []string) []string {
	if len(notes) > 0 {
		return nil
	}
	return logs
}

// open reads a log. In a directory it passes over what may never end, such as a pipe.
func open(file string, inside bool) (*trace.Log, error) {
	if info, err := os.Stat(file); inside && err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%s: no regular file", file)
	}
	return trace.Open(file)
}

// expand lists what is in a directory, unless that is one rolling log.
func expand(path string) (files []string, inside bool) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return []string{path}, false
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "events_") {
			return []string{path}, false
		}
		if !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, true
}

func describe(file string, log *trace.Log, left workload.Left) []string {
	attempts := 0
	for i := range log.Phases {
		attempts += len(log.Phases[i].Attempts)
	}
	notes := []string{fmt.Sprintf("%s: %v, %d phases, %d attempts; %v", filepath.Base(file), log.Format, len(log.Phases), attempts, log.Faults)}
	if left.Phases+left.Tasks > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %d phases and %d tasks without a success of known times", left.Phases, left.Tasks))
	}
	if left.Long > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %d phases that last over a year: some time of theirs is wrong", left.Long))
	}
	if left.Attempts > 0 {
		notes = append(notes, fmt.Sprintf("not replayed: %d attempts that lost against another of their task; they keep their slots busy", left.Attempts))
	}
	return notes
}
