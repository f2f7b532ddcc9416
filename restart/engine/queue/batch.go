package queue

import (
	"fmt"
	"strings"
)

// Batch returns the jobs of a batch: one job of a kind for each input. A store sets their IDs.
func Batch(kind string, inputs ...[]byte) []Job {
	jobs := make([]Job, len(inputs))
	for i, input := range inputs {
		jobs[i] = Job{Kind: kind, Input: input}
	}
	return jobs
}

// Result is the result of a job, or its final failure.
type Result struct {
	// Output is the output of the winning attempt's handler.
	Output []byte
	// Attempt is the name of the attempt that won.
	Attempt string
	// Err is the error of the last attempt, if the job has failed for good.
	Err error
}

// CheckBatch returns an error unless the name and the jobs can be a batch: the name is not empty and has no "/", and all
// jobs have one kind.
func CheckBatch(name string, jobs []Job) error {
	if name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("queue: Batch is %q, want a name without /", name)
	}
	for i, j := range jobs {
		if j.Kind == "" {
			return fmt.Errorf("queue: Job.Kind is \"\", want a kind: job %d of batch %s", i, name)
		}
		if j.Kind != jobs[0].Kind {
			return fmt.Errorf("queue: Job.Kind is %q, want %q, as job 0: job %d of batch %s", j.Kind, jobs[0].Kind, i, name)
		}
	}
	return nil
}

// FirstError returns an error if some jobs of a batch have failed for good, and else nil. It has the error of the first
// of them.
func FirstError(name string, results []Result) error {
	failed, first := 0, -1
	for i, r := range results {
		if r.Err != nil {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("queue: %d of %d jobs of batch %s have failed for good; job %d: %w", failed, len(results), name, first,
		results[first].Err)
}
