package restarttest

import (
	"errors"
	"fmt"
	"os"
	"strings"
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
	// Line is the number of the line with the event for which the policy was asked.
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

// touches does the work of Touched. It returns an error if the journal cannot be used for the policy.
func touches(file string, data []byte, o journal.Options) ([]Touch, error) {
	o.OnDecision = nil
	fresh, err := journal.Replay(data, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	phases, err := journal.Parse(fresh)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []Touch
	var foreign []error
	phase, h, lines := -1, history{}, blocks(data)
	// Both journals have the same events.
	for i, b := range blocks(fresh) {
		first, _, _ := strings.Cut(b.text, " ")
		switch first {
		case "phase":
			phase++
			h = history{touched: map[int]bool{}, attempts: map[int][]int{}, over: map[int]bool{}}
			continue
		case "work", "since":
			continue
		}
		e := phases[phase].Events[h.events]
		h.events++
		for _, text := range b.answers {
			if task, d, ok := action(e, text); ok && !h.touched[task] {
				h.touched[task] = true
				all = append(all, Touch{Phase: phase, Task: task, Line: lines[i].line, Decision: d})
			}
		}
		c := phases[phase].Config
		if done := h.apply(e, c.Clones); done != "" && !h.touched[e.Task] {
			// The later decisions about this task are unknown.
			h.touched[e.Task] = true
			if other(c.Policy, o.Policy) {
				foreign = append(foreign, fmt.Errorf("%s:%d: the journal was recorded under %s, and here task %d %s; %s had "+
					"not touched the task before, so its later decisions are unknown", file, lines[i].line, name(c.Policy), e.Task, done,
					name(o.Policy)))
			}
		}
	}
	if n := len(foreign); n > 1 {
		return all, fmt.Errorf("%w\n  this holds for %d more tasks; record under restart.Never to compare policies",
			foreign[0], n-1)
	}
	return all, errors.Join(foreign...)
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

// action reads the answer to an event. It returns the task and the decision. Result ok is false if the answer is not
// an action on a running task.
func action(e tracker.Event, text string) (task int, d restart.Decision, ok bool) {
	var a tracker.Answer
	if a.UnmarshalText([]byte(text)) != nil {
		return 0, d, false
	}
	if task = a.Task; !strings.HasPrefix(text, "task=") {
		task = e.Task
	}
	switch a.Action {
	case restart.Copy, restart.Restart, restart.Kill:
		return task, a.Decision, true
	}
	return task, d, false
}

// history is the state of a phase's tasks after the events so far.
type history struct {
	// The number of events so far.
	events int
	// The tasks that the policy has touched, or whose later decisions are unknown.
	touched map[int]bool
	// For each task, the machine of each attempt. If the attempt has ended, it is the constant gone.
	attempts map[int][]int
	// The tasks that have finished.
	over map[int]bool
}

// gone is used in place of the machine of an attempt that has ended.
const gone = -2

// apply applies an event to the history. If the event shows that somebody acted on a running task, apply returns a
// description of the action; otherwise it returns "". To start the first attempts of a task, up to the number of
// clones, is not an action.
func (h *history) apply(e tracker.Event, clones int) string {
	runs := h.attempts[e.Task]
	if (e.Kind == tracker.Begun || e.Kind == tracker.Failed || e.Kind == tracker.Killed || e.Kind == tracker.Restarted) &&
		(e.Attempt < 0 || e.Attempt >= len(runs)) {
		return ""
	}
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		// The tracker ignores the event.
		if h.over[e.Task] {
			return ""
		}
		h.attempts[e.Task] = append(runs, e.Machine)
		for _, machine := range runs {
			if machine != gone && len(runs) >= clones {
				return "was given a copy"
			}
		}
	case tracker.Begun:
		if e.Machine >= 0 {
			runs[e.Attempt] = e.Machine
		}
	case tracker.Finished:
		h.over[e.Task] = true
	case tracker.OutputLost:
		h.over[e.Task], h.attempts[e.Task] = false, make([]int, len(runs))
		for i := range runs {
			h.attempts[e.Task][i] = gone
		}
	case tracker.Failed:
		runs[e.Attempt] = gone
	case tracker.Killed, tracker.Restarted:
		runs[e.Attempt] = gone
		if !h.over[e.Task] {
			return "was " + e.Kind.String() + "ed"
		}
	case tracker.MachineLost:
		for _, runs := range h.attempts {
			for i, machine := range runs {
				if machine == e.Machine {
					runs[i] = gone
				}
			}
		}
	}
	return ""
}
