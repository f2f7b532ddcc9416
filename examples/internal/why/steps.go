package why

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Steps is who makes the others wait in the steps of a job, with the names of steps, machines, stages and positions by
// the indexes of the findings.
type Steps struct {
	causes.Waiting
	Labels, Machines, Stages, Positions []string
	// Incomplete is the number of steps that were left out because they have more or fewer members than most steps.
	Incomplete int
	// Lacking are the workers that some steps lack because their times are impossible.
	Lacking []trace.Lacking
	// Tasks is the number of members in all steps that were counted.
	Tasks int
	// Sized says that the amount of work of some member is known.
	Sized bool
	// Together is the share of the steps' time that is saved if all workers of the findings take the median of their equals
	// at once, and TogetherError its standard error; 0 if fewer than two are named.
	Together, TogetherError float64
}

// Wait finds who makes the others wait. Steps with another number of members than most steps are left out. If most steps
// have one member, Labels and Tasks count these steps, and Waiting counts none: nobody waits in them.
func Wait(s *trace.Steps) *Steps {
	sizes, whole := map[int]int{}, 0
	for _, rows := range s.Rows {
		sizes[len(rows)]++
		if n := sizes[len(rows)]; n > sizes[whole] || n == sizes[whole] && len(rows) > whole {
			whole = len(rows)
		}
	}
	w := &Steps{Lacking: s.Lacking}
	var machines, stages, positions names
	var l causes.Lockstep
	step := make([]causes.Member, 0, whole)
	members := func(rows []trace.StepRow) []causes.Member {
		step = step[:0]
		next := map[string]int{}
		for _, r := range rows {
			position := cmp.Or(r.Position, r.Worker)
			m := causes.Member{
				Machine: machines.of(cmp.Or(r.Machine, r.Worker)), Stage: stages.of(r.Group), Size: r.Size,
				Took: time.Duration(min(math.Round(r.Seconds*1e9), math.MaxInt64/2)),
			}
			if m.Replica = next[r.Group]; r.Position != "" || r.Group == "" { // else the order in the stage
				m.Replica = positions.of(position)
			}
			next[r.Group]++
			w.Sized = w.Sized || m.Size > 0
			step = append(step, m)
		}
		return step
	}
	for i, rows := range s.Rows {
		if len(rows) != whole {
			w.Incomplete++
			continue
		}
		w.Labels = append(w.Labels, s.Labels[i])
		w.Tasks += whole
		l.Add(members(rows))
	}
	w.Waiting, w.Machines, w.Stages, w.Positions = l.Waiting(), machines.all, stages.all, positions.all
	if all, ok := w.Waiting.Together(); ok {
		for _, rows := range s.Rows {
			if len(rows) == whole {
				all.Add(members(rows))
			}
		}
		w.Together, w.TogetherError = all.Share()
	}
	return w
}

// names gives each name an index.
type names struct {
	index map[string]int
	all   []string
}

func (n *names) of(name string) int {
	i, ok := n.index[name]
	if !ok {
		if n.index == nil {
			n.index = map[string]int{}
		}
		i = len(n.all)
		n.index[name], n.all = i, append(n.all, name)
	}
	return i
}
