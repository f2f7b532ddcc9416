package wordcount

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// Job is the input of the workflow.
type Job struct {
	Chunks []string // files
	Sizes  []int    // of the chunks, in bytes
	// Reduces is the number of reduces, which is also the number of partitions of the words.
	Reduces  int
	Dir      string           // directory of the outputs
	Policy   string           // the argument of Workflow.Options
	Machines []engine.Machine // the name of a host is also the name of its task queue
}

// The names of the two fan-outs of the job.
const (
	Maps    = "map"
	Reduces = "reduce"
)

// Answer is the result of the workflow.
type Answer struct {
	Words, Distinct int
	Files           []string // the files with the counts of each partition
	Won             []string // the winning attempts
}

// Workflow counts words.
type Workflow struct {
	// Options returns the options of a fan-out under a policy. It must return the same options in each replay.
	Options func(policy string) (fanout.Options, error)
}

// WordCount is the workflow: a fan-out of maps, and then a fan-out of reduces.
func (w Workflow) WordCount(ctx workflow.Context, job Job) (Answer, error) {
	var answer Answer
	options, err := w.Options(job.Policy)
	if err != nil {
		return answer, err
	}
	if options.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: job.Machines}); err != nil {
		return answer, err
	}
	var host *Tasks // only for the names of the activities, which run on the hosts

	options.Name = Maps
	mapped, err := fanout.Map[MapOutput](ctx, host.Map, mapTasks(job), options)
	if err != nil {
		return answer, err
	}
	options.Name = Reduces
	reduced, err := fanout.Map[ReduceOutput](ctx, host.Reduce, reduceTasks(job, mapped), options)
	if err != nil {
		return answer, err
	}

	for _, m := range mapped {
		answer.Won = append(answer.Won, m.Attempt)
	}
	for _, r := range reduced {
		answer.Words += r.Words
		answer.Distinct += r.Distinct
		answer.Files = append(answer.Files, r.File)
		answer.Won = append(answer.Won, r.Attempt)
	}
	return answer, nil
}

func mapTasks(job Job) []fanout.Task {
	tasks := make([]fanout.Task, len(job.Chunks))
	for i, chunk := range job.Chunks {
		tasks[i].Input = MapInput{Chunk: chunk, Partitions: job.Reduces, Dir: job.Dir}
		tasks[i].Work = float64(job.Sizes[i])
	}
	return tasks
}

// reduceTasks returns the tasks of the reduces. The work of a reduce is the number of bytes that the maps wrote for it.
func reduceTasks(job Job, mapped []MapOutput) []fanout.Task {
	tasks := make([]fanout.Task, job.Reduces)
	attempts := make([]string, len(mapped))
	for i, m := range mapped {
		attempts[i] = m.Attempt
		for p, size := range m.Sizes {
			tasks[p].Work += float64(size)
		}
	}
	for p := range tasks {
		tasks[p].Input = ReduceInput{Partition: p, Maps: attempts, Dir: job.Dir}
	}
	return tasks
}

// Check compares the answer with a direct count, word by word. It returns a line for each difference; nil if the
// answer is right.
func (a Answer) Check(want Counts) ([]string, error) {
	got, err := fromFiles(a.Files, Counts.Add)
	if err != nil {
		return nil, err
	}
	wrong := got.Diff(want)
	if a.Words != want.Total() || a.Distinct != len(want) {
		wrong = append(wrong, fmt.Sprintf("%d words, %d of them distinct; there are %d and %d",
			a.Words, a.Distinct, want.Total(), len(want)))
	}
	return wrong, nil
}
