package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/alike"
	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// Apart describes the tasks that are not known to be alike: the longest tasks, a better order of the tasks, and the
// phases that waited for each other. It has no saving of a policy, which is not known for such tasks.
type Apart struct {
	// Phases is the number of phases with tasks that the log does not promise to be alike. Tasks is the number of
	// their tasks that are compared with no other task. Compared is the number of tasks that ran often enough: their
	// runs are further phases.
	Phases   int `json:"phases"`
	Tasks    int `json:"tasks"`
	Compared int `json:"compared_with_own_runs"`
	// Why explains why no saving is claimed; empty if all tasks are compared.
	Why string `json:"why"`
	// Longest are the longest tasks, the longest first.
	Longest []LongTask `json:"longest"`
	// Packing are phases with more tasks than slots, with their times if the longest tasks start first.
	Packing []Packed `json:"packing,omitempty"`
	// Chain has the phase that ended last and the phases that it waited for, in order, each with its longest task;
	// only if there are several.
	Chain []LongTask `json:"chain,omitempty"`
	left  int        // number of phases with one of Tasks
}

// LongTask is a long task.
type LongTask struct {
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Task    string  `json:"task"`
	Host    string  `json:"host,omitempty"`
	Seconds float64 `json:"seconds"`
	// PhaseSeconds is the time of the whole phase.
	PhaseSeconds float64 `json:"phase_seconds"`
	// Part is the longest task of which this task consists, such as the longest test of a package; null if it consists of
	// no other tasks.
	Part *LongTask `json:"longest_part,omitempty"`
}

// Packed is a phase with its times in two orders of its tasks.
type Packed struct {
	Job     string  `json:"job"`
	Phase   string  `json:"phase"`
	Tasks   int     `json:"tasks"`
	Slots   int     `json:"slots"`
	Seconds float64 `json:"seconds"`
	// LargestFirst is its time if the longest tasks start first. Floor is the time of its longest task.
	LargestFirst float64 `json:"largest_first_seconds"`
	Floor        float64 `json:"floor_seconds"`
}

// mostLongest is the largest number of listed tasks and of listed phases.
const mostLongest = 10

// Describe describes phases with tasks that are not known to be alike; nil for no phases. whole is as in [Report.Add].
func Describe(phases []*sim.Phase, whole map[*sim.Phase][]string) (*Apart, error) {
	if len(phases) == 0 {
		return nil, nil
	}
	a := &Apart{Phases: len(phases)}
	parts := longestParts(phases, whole)
	for _, p := range phases {
		var own []LongTask
		for i := range p.Tasks {
			if p.Tasks[i].Compared {
				a.Compared++
			} else {
				t := longTask(p, i)
				t.Part = parts[wholeTask{p.Log, p.Job, t.Task}]
				own = append(own, t)
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
			a.Chain = append(a.Chain, longTask(phases[i], compare.Slowest(phases[i])))
		}
	}
	return a, nil
}

// byLength orders tasks by their time, the longest first.
func byLength(a, b LongTask) int { return cmp.Compare(b.Seconds, a.Seconds) }

func (a *Apart) keepLongest() {
	slices.SortStableFunc(a.Longest, byLength)
	a.Longest = a.Longest[:min(len(a.Longest), mostLongest)]
}

// longTask returns a task of a phase as a LongTask.
func longTask(p *sim.Phase, i int) LongTask {
	return LongTask{
		Job: p.Job, Phase: p.Name, Task: p.TaskName(i), Host: p.Tasks[i].Host, Seconds: compare.Last(p, i).Seconds(),
		PhaseSeconds: p.Recorded.Seconds(),
	}
}

// wholeTask names a task that consists of the tasks of another phase.
type wholeTask struct{ log, job, task string }

// longestParts returns the longest part of each task that consists of other tasks.
func longestParts(phases []*sim.Phase, whole map[*sim.Phase][]string) map[wholeTask]*LongTask {
	parts := map[wholeTask]*LongTask{}
	for _, p := range phases {
		longest := longTask(p, compare.Slowest(p))
		for _, name := range whole[p] {
			of := wholeTask{p.Log, p.Job, name}
			if old := parts[of]; old == nil || longest.Seconds > old.Seconds {
				parts[of] = &longest
			}
		}
	}
	return parts
}

// lines returns the lines below the headline in the text report.
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
		lines = append(lines, "The phase that ended last, after the phases that it waited for, each with its longest task: "+
			strings.Join(steps, ", then ")+".")
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
			lines = append(lines, "Times of phases if no task waits for another and the longest tasks start first, on the "+
				"same slots:")
		}
		lines = append(lines, fmt.Sprintf("  %8s instead of %s  %s, %s on %s; no order takes less than %s",
			Span(b.LargestFirst), Span(b.Seconds), b.Phase, words.Counted(b.Tasks, "task"), words.Counted(b.Slots, "slot"), Span(b.Floor)))
	}
	return lines
}
