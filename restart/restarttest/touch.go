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

// Touch is the first thing that a policy would do about a task that runs.
type Touch struct {
	// Phase counts the phases of the journal from 0.
	Phase, Task int
	// Line is that of the event by which the policy was asked.
	Line int
	// Decision is to duplicate, restart or kill.
	Decision restart.Decision
}

// Touched replays a journal under the policy of the options, or under its own if that is nil, and returns which tasks
// the policy would touch, in the order of the journal: to say in a test which stragglers it finds, and that it leaves
// what is healthy alone.
//
// A journal that was recorded under [restart.Never] answers for every policy. One in which another policy has acted
// answers for a task up to that action alone: what it would have done without the action, nobody has seen. If by then
// the policy that is asked about has not touched the task, the test fails, and says which policy acted, where, and on
// what.
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

// touches returns what Touched does, and an error if the journal can't say.
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
	for i, b := range blocks(fresh) { // both have the same events
		first, _, _ := strings.Cut(b.text, " ")
		switch first {
		case "phase":
			phase++
			h = history{touched: map[int]bool{}, runs: map[int][]int{}, over: map[int]bool{}}
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
		if what := h.happen(e, c.Clones); what != "" && !h.touched[e.Task] {
			h.touched[e.Task] = true // whatever follows, it is not known
			if other(c.Policy, o.Policy) {
				foreign = append(foreign, fmt.Errorf("%s:%d: the journal was recorded under %s, and here task %d %s; by then %s "+
					"had not touched it, and what it would have done is not known", file, lines[i].line, name(c.Policy), e.Task, what,
					name(o.Policy)))
			}
		}
	}
	if n := len(foreign); n > 1 {
		return all, fmt.Errorf("%w\n  so it is with %d more tasks; record under restart.Never to ask about other policies",
			foreign[0], n-1)
	}
	return all, errors.Join(foreign...)
}

// other reports whether a policy may be another one than a journal was recorded under. A policy without a text is taken
// for the one that is supplied.
func other(recorded, asked restart.Policy) bool {
	return asked != nil && rules.Text(recorded) != "" && rules.Text(recorded) != rules.Text(asked)
}

func name(p restart.Policy) string {
	if text := rules.Text(p); text != "" {
		return text
	}
	return fmt.Sprintf("%T", p)
}

// action reads an answer that does something about a task that runs.
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

// history is what the events of a phase show that was done.
type history struct {
	events  int
	touched map[int]bool
	runs    map[int][]int // by task, the machine of each attempt that goes on, and gone
	over    map[int]bool
}

const gone = -2

// happen takes an event, and says what it shows that somebody has done about a task that runs. So many first copies, if
// there are any, each task has anyway.
func (h *history) happen(e tracker.Event, clones int) string {
	runs := h.runs[e.Task]
	if (e.Kind == tracker.Begun || e.Kind == tracker.Failed || e.Kind == tracker.Killed || e.Kind == tracker.Restarted) &&
		(e.Attempt < 0 || e.Attempt >= len(runs)) {
		return ""
	}
	switch e.Kind {
	case tracker.Started, tracker.Submitted:
		if h.over[e.Task] { // the tracker ignores it
			return ""
		}
		h.runs[e.Task] = append(runs, e.Machine)
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
		h.over[e.Task], h.runs[e.Task] = false, make([]int, len(runs))
		for i := range runs {
			h.runs[e.Task][i] = gone
		}
	case tracker.Failed:
		runs[e.Attempt] = gone
	case tracker.Killed, tracker.Restarted:
		runs[e.Attempt] = gone
		if !h.over[e.Task] {
			return "was " + e.Kind.String() + "ed"
		}
	case tracker.MachineLost:
		for _, runs := range h.runs {
			for i, machine := range runs {
				if machine == e.Machine {
					runs[i] = gone
				}
			}
		}
	}
	return ""
}
