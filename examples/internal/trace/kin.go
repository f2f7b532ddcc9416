package trace

// Kin is what a log promises of how alike the tasks of a phase are. Only of tasks that are alike does one say how long
// another would have taken.
type Kin uint8

// The kinds of kinship. The zero value promises most: it is what a phase is to an engine.
const (
	Alike  Kin = iota // the same work on different data: maps of a stage, instances of a task, indices of an array
	Named             // tasks of one name are runs of the same work, tasks of two names are not: tests, targets, nodes
	Unlike            // nothing is promised: spans of a timeline, calls of a function, actions of a build
)

var kinNames = [...]string{"alike", "named", "unlike"}

func (k Kin) String() string { return name(kinNames[:], int(k), "Kin") }

// MarshalText writes the kinship as String does.
func (k Kin) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// kinOf is what the formats promise that do not promise likeness; a reader may know more of a phase.
var kinOf = map[Format]Kin{GoTest: Named, Bazel: Named, Kubernetes: Named, Argo: Named, Timeline: Unlike}

// mostNames is how many names of tasks a log keeps. Beyond it tasks are known by their numbers.
const mostNames = 1 << 16

// nameTask keeps the name of a task.
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
