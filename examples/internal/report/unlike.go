package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Apart is what can be said of tasks that are not known to be alike: which of them to look at, what order they should
// start in, and what waited for what. What a policy would have saved of their time can't be said.
type Apart struct {
	// Phases counts the phases of tasks that the log does not promise to be alike, and Tasks those of their tasks that are
	// compared with no other. Compared counts the tasks that ran often enough: their runs are phases of their own.
	Phases   int `json:"phases"`
	Tasks    int `json:"tasks"`
	Compared int `json:"compared_with_own_runs"`
	// Why says why no saving is claimed; empty if there is no such task.
	Why string `json:"why"`
	// Longest are the longest tasks, that first.
	Longest []LongTask `json:"longest"`
	// Packing is what starting the longest tasks first would make of phases that have more tasks than slots.
	Packing []Packed `json:"packing,omitempty"`
	// Chain is what the phase that ended last waited for, in order, each with its longest task; of several phases only.
	Chain []LongTask `json:"chain,omitempty"`
	left  int        // phases with one of Tasks
}

// LongTask is a task that took long.
type LongTask struct {
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Task    string  `json:"task"`
	Host    string  `json:"host,omitempty"`
	Seconds float64 `json:"seconds"`
	// PhaseSeconds is the time of the whole phase.
	PhaseSeconds float64 `json:"phase_seconds"`
}

// Packed is a phase by the order of its tasks.
type Packed struct {
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Tasks   int     `json:"tasks"`
	Slots   int     `json:"slots"`
	Seconds float64 `json:"seconds"`
	// LargestFirst is its time with the longest task first, and Floor that of the longest task.
	LargestFirst float64 `json:"largest_first_seconds"`
	Floor        float64 `json:"floor_seconds"`
}

const mostLongest = 10

// Describe says what can be said of phases whose tasks are not known to be alike.
func Describe(phases []*sim.Phase) (*Apart, error) {
	if len(phases) == 0 {
		return nil, nil
	}
	a := &Apart{Phases: len(phases)}
	for _, p := range phases {
		var own []LongTask
		for i := range p.Tasks {
			if p.Tasks[i].Compared {
				a.Compared++
			} else {
				own = append(own, longTask(p, i))
			}
		}
		if a.Tasks += len(own); len(own) > 0 {
			a.left++
			a.Why = alike.Why
		}
		slices.SortStableFunc(own, byLength)
		a.Longest = append(a.Longest, own[:min(len(own), mostLongest)]...)
		if len(a.Longest) > 100*mostLongest {
			a.keepLongest()
		}
	}
	a.keepLongest()
	packed, err := compare.Pack(phases)
	if err != nil {
		return nil, err
	}
	for _, b := range packed[:min(len(packed), mostLongest)] {
		p := phases[b.Phase]
		a.Packing = append(a.Packing, Packed{
			p.Job, p.Name, len(p.Tasks), len(p.Slots), b.Time.Seconds(), b.Largest.Seconds(), b.Longest.Seconds(),
		})
	}
	if chain := compare.Chain(phases); len(chain) > 1 {
		for _, i := range chain {
			longest := 0
			for k := range phases[i].Tasks {
				if compare.Last(phases[i], k) > compare.Last(phases[i], longest) {
					longest = k
				}
			}
			a.Chain = append(a.Chain, longTask(phases[i], longest))
		}
	}
	return a, nil
}

func byLength(a, b LongTask) int { return cmp.Compare(b.Seconds, a.Seconds) }

func (a *Apart) keepLongest() {
	slices.SortStableFunc(a.Longest, byLength)
	a.Longest = a.Longest[:min(len(a.Longest), mostLongest)]
}

func longTask(p *sim.Phase, i int) LongTask {
	return LongTask{p.Job, p.Name, p.TaskName(i), p.Tasks[i].Host, compare.Last(p, i).Seconds(), p.Recorded.Seconds()}
}

// headline says in two or three sentences what there is to do.
func (a *Apart) headline() string {
	text := fmt.Sprintf("No saving can be claimed for %s of %s: the tasks are not known to be alike.",
		counted(a.Tasks, "task"), counted(a.Phases, "phase"))
	if len(a.Longest) == 0 {
		return text
	}
	l := a.Longest[0]
	text += fmt.Sprintf(" Look first at task %s of phase %s: the task alone takes %s of the phase's %s.", l.Task, l.Phase, Span(l.Seconds), Span(l.PhaseSeconds))
	if len(a.Packing) > 0 {
		if b := a.Packing[0]; Span(b.LargestFirst) != Span(b.Seconds) {
			text += fmt.Sprintf(" If no task waits for another and the longest tasks start first on the same %s, phase %s takes %s "+
				"instead of %s.", counted(b.Slots, "slot"), b.Phase, Span(b.LargestFirst), Span(b.Seconds))
		}
	}
	return text
}

// lines says the rest for people.
func (a *Apart) lines() []string {
	var lines []string
	if a.Why != "" {
		lines = append(lines, a.Why)
	}
	if len(a.Chain) > 0 {
		steps := make([]string, len(a.Chain))
		for i, s := range a.Chain {
			steps[i] = fmt.Sprintf("%s %s (%s %s)", s.Phase, Span(s.PhaseSeconds), s.Task, Span(s.Seconds))
		}
		lines = append(lines, "The phase that ended last, after the phases that it waited for, each with its longest task: "+strings.Join(steps, ", then ")+".")
	}
	for i, l := range a.Longest {
		if i == 0 {
			lines = append(lines, "The longest tasks:")
		}
		line := fmt.Sprintf("  %8s  %s, %s", Span(l.Seconds), l.Task, l.Phase)
		if l.Host != "" {
			line += " on " + l.Host
		}
		lines = append(lines, line)
	}
	for i, b := range a.Packing {
		if i == 0 {
			lines = append(lines, "Times of phases if no task waits for another and the longest tasks start first, on the same slots:")
		}
		lines = append(lines, fmt.Sprintf("  %8s instead of %s  %s, %s on %s; no order takes less than %s",
			Span(b.LargestFirst), Span(b.Seconds), b.Phase, counted(b.Tasks, "task"), counted(b.Slots, "slot"), Span(b.Floor)))
	}
	return lines
}

// counted writes a number with what it counts.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
