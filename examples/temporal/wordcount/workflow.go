package wordcount

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// Job is a word count to be done.
type Job struct {
	Chunks []string // files
	Sizes  []int    // of the chunks, in bytes
	// Reduces is how many reduces there are, and partitions of the words.
	Reduces int
	Dir     string           // for the outputs
	Policy  string           // what the workflow's Options are asked for
	Hosts   []engine.Machine // the name of each is that of its task queue
}

// The names of the job's fan-outs.
const (
	Maps    = "map"
	Reduces = "reduce"
)

// Answer is what a job returns.
type Answer struct {
	Words, Distinct int
	Files           []string // the counts, by partition
	Won             []string // the attempts whose results count
}

// Workflow counts words.
type Workflow struct {
	// Options says how a fan-out is run under a policy. It must always say the same of the same policy.
	Options func(policy string) (fanout.Options, error)
}

// WordCount is the workflow: a fan-out of maps, and one of reduces when all maps have ended.
func (w Workflow) WordCount(ctx workflow.Context, job Job) (Answer, error) {
	var answer Answer
	options, err := w.Options(job.Policy)
	if err != nil {
		return answer, err
	}
	if options.Hosts, err = engine.NewMachines(engine.MachinesConfig{Machines: job.Hosts}); err != nil {
		return answer, err
	}
	var host *Tasks // names the activities; the hosts have the real ones

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

// reduceTasks knows how much each reduce has to read, as the maps have said how much they wrote.
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

// Check compares the answer, its files word by word, with a direct count. It returns what differs, nothing if all is
// right.
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
