package queue

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
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

// CheckBatch returns an error unless the name and the jobs can be a batch: the name is not empty, is UTF-8 and has no
// "/" and no NUL, each job passes [CheckJob], and all jobs have one kind.
func CheckBatch(name string, jobs []Job) error {
	if !isName(name) || strings.Contains(name, "/") {
		return fmt.Errorf("queue: Batch is %q, want UTF-8 without / and NUL", name)
	}
	for i, j := range jobs {
		if err := CheckJob(j); err != nil {
			return fmt.Errorf("%w: job %d of batch %s", err, i, name)
		}
		if j.Kind != jobs[0].Kind {
			return fmt.Errorf("queue: Job.Kind is %q, want %q, as job 0: job %d of batch %s", j.Kind, jobs[0].Kind, i, name)
		}
	}
	return nil
}

// CheckJob returns an error unless a job can be inserted: its kind is not empty, is UTF-8 and has no NUL, and its work
// is a positive number or 0.
func CheckJob(j Job) error {
	switch {
	case j.Kind == "":
		return errors.New(`queue: Job.Kind is "", want a kind`)
	case !isName(j.Kind):
		return fmt.Errorf("queue: Job.Kind is %q, want UTF-8 without NUL", j.Kind)
	case !isAmount(j.Work):
		return fmt.Errorf("queue: Job.Work is %v, want a positive number, or 0 if it is not known", j.Work)
	}
	return nil
}

// isName reports whether every store keeps a text as it is. The state as JSON keeps only UTF-8, and Postgres keeps no
// NUL.
func isName(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// isAmount reports whether a number is an amount of work. The state as JSON keeps no other number.
func isAmount(work float64) bool { return work >= 0 && !math.IsInf(work, 1) }

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
