package fairshare

import (
	"cmp"
	"slices"
)

// candidacy is the fate of a task before anyone's share is considered.
func (s *Starvation) candidacy(t *Task) Fate {
	switch {
	case t.Pool < 0 || t.Pool >= len(s.at) || !s.nodes[s.at[t.Pool]].leaf():
		return Foreign
	case t.Dying:
		return Doomed
	case t.Protected || s.watch[s.at[t.Pool]].protected:
		return Shielded
	}
	return Spared
}

// sort puts the candidates into the order in which they are tried.
func (p *planner) sort(s *Starvation, tasks []Task) {
	if s.config.ByMachine {
		p.countCrowds(tasks)
	}
	slices.SortFunc(p.candidates, func(a, b int32) int {
		x, y := &tasks[a], &tasks[b]
		if s.config.ByMachine {
			if c := cmp.Or(cmp.Compare(p.crowd[b], p.crowd[a]), cmp.Compare(x.Machine, y.Machine)); c != 0 {
				return c
			}
		}
		var c int
		if s.config.Order == nil {
			c = y.Started.Compare(x.Started)
		} else {
			c = s.config.Order(*x, *y)
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
}

// countCrowds adds up the candidates of each machine.
func (p *planner) countCrowds(tasks []Task) {
	slices.SortFunc(p.candidates, func(a, b int32) int { return cmp.Compare(tasks[a].Machine, tasks[b].Machine) })
	p.crowd = zeroed(p.crowd, len(tasks))
	for rest := p.candidates; len(rest) > 0; {
		var units int64
		n := 0
		for n < len(rest) && tasks[rest[n]].Machine == tasks[rest[0]].Machine {
			units = addSaturating(units, tasks[rest[n]].slots())
			n++
		}
		for _, task := range rest[:n] {
			p.crowd[task] = units
		}
		rest = rest[n:]
	}
}
