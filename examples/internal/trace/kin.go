package trace

import "github.com/straggler-go/straggler/examples/internal/alike"

// kinOf has the promises of the formats that do not promise that tasks are alike. A reader may set another promise
// for a phase.
var kinOf = map[Format]alike.Kin{
	GoTest: alike.Rerun, Bazel: alike.Rerun, Kubernetes: alike.Rerun, Argo: alike.Named, Timeline: alike.Unlike,
	GitHubActions: alike.Named, JUnit: alike.Named, Nextflow: alike.Named, Slurm: alike.Rerun, Airflow: alike.Named,
	RayTasks: alike.Unlike, Traces: alike.Named,
}

// mostNames is the largest number of stored task names. Further tasks have only numbers.
const mostNames = 1 << 16

// nameTask stores the name of a task.
func (b *builder) nameTask(phase int, task int32, name []byte) {
	p := &b.log.Phases[phase]
	if len(name) == 0 || task < 0 || int(task) < len(p.Names) && p.Names[task] != "" {
		return
	}
	if b.names == mostNames || int(task) > 2*len(p.Names)+chunk {
		return
	}
	for len(p.Names) <= int(task) {
		p.Names = append(p.Names, "")
	}
	p.Names[task] = nameOf(name)
	b.names++
}
