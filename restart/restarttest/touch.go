package restarttest

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Touch is the first action that a policy would take on a running task: a copy, a restart or a kill.
type Touch struct {
	// Phase is the index of the phase in the journal, from 0. Task is the index of the task in the phase.
	Phase, Task int
	// Line is the number of a line in the journal: the event at which the policy answered with this action.
	Line int
	// Decision is the decision to copy, restart or kill.
	Decision restart.Decision
}

// Touched replays a journal and returns the tasks that a policy would touch, that is, copy, restart or kill. The
// tasks are in the order of the journal. The policy is o.Policy; nil means the policy of the journal. Use Touched in
// a test that checks which stragglers a policy finds, and that the policy leaves healthy tasks alone.
//
// A journal that was recorded with [restart.Never] can be used for every policy. If another policy has acted on a
// task, the journal can be used for this task only up to the action, because nobody knows the events that would have
// followed without the action. If o.Policy has not touched the task by then, the test fails. The failure states the
// policy that acted, the line and the task.
func Touched(t *testing.T, o journal.Options, file string) []Touch {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("restarttest: %v", err)
	}
	touched, err := touches(file, data, o)
	if err != nil {
		t.Error(err)
	}
	return touched
}

// told is an event of a journal with the tracker's answer.
type told struct {
	line  int
	event tracker.Event
	acts  []Touch // the answers that act on a running task
}

// touches is Touched, with an error if the journal can't answer.
func touches(file string, data []byte, o journal.Options) ([]Touch, error) {
	var all []told
	o.OnDecision, o.OnAnswer = nil, func(line int, e tracker.Event, a tracker.Answer) {
		at := told{line: line, event: e}
		for _, a := range append([]tracker.Answer{a}, a.Found...) {
			switch a.Action {
			case restart.Copy, restart.Restart, restart.Kill:
				at.acts = append(at.acts, Touch{Task: a.Task, Line: line, Decision: a.Decision})
			}
		}
		all = append(all, at)
	}
	if _, err := journal.Replay(data, o); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	phases, err := journal.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var touched []Touch
	var foreign []error
	for phase, p := range phases {
		known := map[int]bool{} // tasks that the policy has touched, and tasks whose later decisions are unknown
		book, err := bookOf(p.Config)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for range p.Events {
			at := all[0]
			all = all[1:]
			for _, act := range at.acts {
				if act.Phase = phase; !known[act.Task] {
					known[act.Task] = true
					touched = append(touched, act)
				}
			}
			task := at.event.Task
			how := acted(book, at.event)
			book.Apply(at.event)
			if how != "" && !known[task] {
				known[task] = true
				if other(p.Config.Policy, o.Policy) {
					foreign = append(foreign, fmt.Errorf("%s:%d: the journal was recorded under %s, and here task %d %s; %s had "+
						"not touched the task before, so its later decisions are unknown", file, at.line, name(p.Config.Policy), task,
						how, name(o.Policy)))
				}
			}
		}
	}
	if n := len(foreign); n > 1 {
		return touched, fmt.Errorf("%w\n  this holds for %d more tasks; record under restart.Never to compare policies",
			foreign[0], n-1)
	}
	return touched, errors.Join(foreign...)
}

// other reports whether the asked policy may differ from the policy that a journal was recorded with. A recorded
// policy that has no text is assumed to be the asked policy.
func other(recorded, asked restart.Policy) bool {
	return asked != nil && rules.Text(recorded) != "" && rules.Text(recorded) != rules.Text(asked)
}

// name returns the text of a policy, or its Go type if it has no text.
func name(p restart.Policy) string {
	if text := rules.Text(p); text != "" {
		return text
	}
	return fmt.Sprintf("%T", p)
}

// bookOf returns a tracker that books the events of a phase, and decides nothing.
func bookOf(c tracker.Config) (*tracker.Tracker, error) {
	c.Policy, c.Knowledge, c.Budget, c.OnEvent = restart.Never{}, nil, nil, nil
	return tracker.New(c)
}

// acted returns what somebody does to a running task by an event that the book does not contain yet; "" if the event is
// no such action. To start the first attempts of a task, up to the number of clones, is not an action.
func acted(book *tracker.Tracker, e tracker.Event) string {
	task := book.Task(e.Task)
	if task.Finished {
		return ""
	}
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		for range book.Attempts(e.Task) {
			if task.Launched >= book.Config().Clones {
				return "was given a copy"
			}
		}
	case tracker.Killed, tracker.Restarted:
		if e.Attempt >= 0 && e.Attempt < task.Launched {
			return "was " + e.Kind.String() + "ed"
		}
	}
	return ""
}
