package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// Straggler is a slow task.
type Straggler struct {
	Phase int    `json:"phase"` // number of the phase, as in Phase
	Job   string `json:"job"`
	Name  string `json:"name"` // name of the phase
	Task  string `json:"task"`
	Host  string `json:"host,omitempty"`
	// Start is the start of the task's last attempt, measured from the first start in the log. Seconds is the time of
	// this attempt, and Times is Seconds divided by the median of the phase.
	Start   float64 `json:"start"`
	Seconds float64 `json:"seconds"`
	Times   float64 `json:"times_the_median"`
	// Cause is the main cause of the time beyond the median.
	Cause string `json:"cause"`
	// Cost is the part of the phase's time that waited for the task, in seconds.
	Cost float64 `json:"cost_seconds"`
}

// mostWorst is the largest number of listed stragglers.
const mostWorst = 40

// blame adds the stragglers of a phase to the list, and sets the causes of the bars in its picture. found has the
// causes of the outliers, and costs has the cost of each task.
func (r *Report) blame(phase int, p *sim.Phase, found map[int]string, costs []float64) {
	cause := func(task int) string { return cmp.Or(found[task], causes.Unknown.String()) }
	for i, ratio := range compare.AppendRatios(nil, p) {
		if ratio > compare.Slow {
			r.Worst = append(r.Worst, Straggler{
				Phase: phase, Job: p.Job, Name: p.Name, Task: p.TaskName(i), Host: p.Tasks[i].Host,
				Start: (p.Begins + p.Tasks[i].Start).Seconds(), Seconds: compare.Last(p, i).Seconds(), Times: ratio,
				Cause: cause(i), Cost: costs[i],
			})
		}
	}
	if len(r.Worst) > 100*mostWorst {
		r.keepWorst()
	}
	for k := range r.Schedules {
		if s := &r.Schedules[k]; s.Phase == phase {
			s.eachBar(func(b *Bar) {
				if b.Kind == kindStraggler {
					b.Cause = cause(b.Task)
				}
			})
		}
	}
}

// keepWorst keeps the stragglers that cost most, the costliest first.
func (r *Report) keepWorst() {
	slices.SortStableFunc(r.Worst, func(a, b Straggler) int { return cmp.Compare(b.Cost, a.Cost) })
	r.Worst = r.Worst[:min(len(r.Worst), mostWorst)]
}

// look returns a sentence that names the task.
func (s Straggler) look() string {
	return fmt.Sprintf("%s: it takes %s, %s.", lookAt("first", s.Job, s.Name, s.Task, s.Host), Span(s.Seconds), times(s.Times))
}

// lookAt returns the beginning of a sentence that names a task of a phase. when is "first", or "also" after other advice.
func lookAt(when, job, phase, task, host string) string {
	where := ""
	if host != "" {
		where = " on machine " + short(host)
	}
	return fmt.Sprintf("Look %s at task %s of %s%s", when, short(task), named(job, phase), where)
}

// named writes the name of a phase, with its job if the name does not begin with it.
func named(job, name string) string {
	if job == "" || strings.HasPrefix(name, job) {
		return short(name)
	}
	return short(job) + " " + short(name)
}

// times writes a multiple of the median.
func times(ratio float64) string { return multiple(ratio) + " the median of its phase" }

// multiple writes a multiple such as "4.25 times" or "1570 times".
func multiple(ratio float64) string {
	if ratio >= 999.5 { // which %.3g rounds to 1e+03
		return fmt.Sprintf("%.0f times", ratio)
	}
	return fmt.Sprintf("%.3g times", ratio)
}
