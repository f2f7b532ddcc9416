package causes

import (
	"math"
	"slices"
	"time"
)

// analysis is what is computed of one phase, task by task.
type analysis struct {
	config Config // effective
	bar    float64
	phase  Phase
	// took is a task's seconds, negative if it is left out; ran is that without the wait for lost input.
	took, ran []float64
	// expected is the seconds by model and cohort, ratio is ran/expected; -1 for what is no evidence.
	expected, ratio []float64
	unit, usual     coefficients // one by the mean of each column, and the columns of a usual task
	floor           float64
	model           coefficients
	finished        int
	machines        grouping
	cohorts         grouping
	moments         grouping
	bounds          [][2]time.Duration // of the moments
	ranks           ranks
}

func analyse(p Phase, c Config) *analysis {
	c = c.Effective()
	n := len(p.Tasks)
	a := &analysis{
		config: c, bar: 1 + c.Residual, phase: p,
		took: make([]float64, n), ran: make([]float64, n), expected: make([]float64, n), ratio: make([]float64, n),
	}
	a.measure()
	a.fit()
	a.expect()
	return a
}

// expect fills in what is expected of each task and how it did against that; then what its cohort, the moment it began
// in and its machine did.
func (a *analysis) expect() {
	tasks := a.phase.Tasks
	for i := range tasks {
		if a.ratio[i] = -1; a.took[i] < 0 {
			continue
		}
		x := a.filled(&tasks[i])
		a.expected[i] = max(a.model.at(&x), a.floor)
		a.ratio[i] = a.evidenceOf(i, a.ran[i]/a.expected[i])
	}
	a.divide()
	m := &a.machines
	m.id, m.key = compress(len(tasks), func(i int) int { return tasks[i].Machine })
	a.watch()
	m.groups = summarise(m.id, a.ratio, len(m.key), a.bar)
	a.ranks = rank(a.ratio, a.bar)
	for id := range m.groups {
		g := &m.groups[id]
		g.apart = g.n > leastOthers && g.median >= a.bar && a.coincidence(g) <= unlikely
	}
}

// evidenceOf returns a ratio if it counts: one of a task that still runs does once it is over 1.
func (a *analysis) evidenceOf(i int, ratio float64) float64 {
	if a.phase.Tasks[i].Censored && ratio <= 1 {
		return -1
	}
	return ratio
}

// divide takes the cohorts' own ratio out of the tasks' ratios and into what is expected of them.
func (a *analysis) divide() {
	tasks, c := a.phase.Tasks, &a.cohorts
	if !slices.ContainsFunc(tasks, func(t Task) bool { return t.Cohort != tasks[0].Cohort }) {
		return
	}
	c.id, c.key = compress(len(tasks), func(i int) int { return max(tasks[i].Cohort, 0) })
	c.groups = summarise(c.id, a.ratio, len(c.key), a.bar)
	for id := range c.groups {
		g := &c.groups[id]
		if g.times = g.median; !(g.times > 0) {
			g.times = 1
		}
	}
	for i := range tasks {
		a.expected[i] *= c.times(i)
	}
	a.takeOut(c)
}

// watch finds the busy moments, and takes them out of the ratios.
func (a *analysis) watch() {
	ids, bounds := moments(a.phase.Tasks, a.ratio)
	if len(bounds) < 2 {
		return
	}
	a.moments, a.bounds = grouping{id: ids, groups: summarise(ids, a.ratio, len(bounds), a.bar)}, bounds
	judged := mixed(ids, a.machines.id, len(bounds), len(a.machines.key))
	a.ranks = rank(a.ratio, a.bar)
	for id := range a.moments.groups {
		g := &a.moments.groups[id]
		g.times = 1
		if judged[id] && g.median >= a.bar && a.coincidence(g) <= unlikely {
			g.times = g.median
		}
	}
	a.takeOut(&a.moments)
}

// takeOut takes what the groups are slower by out of their tasks' ratios.
func (a *analysis) takeOut(g *grouping) {
	for i := range a.ratio {
		if a.ratio[i] >= 0 {
			a.ratio[i] /= g.times(i)
		}
	}
}

// slower returns how many times slower than expected a task's machine is, by its other tasks or else by the host's
// record; 1 if neither shows that it is slow.
func (a *analysis) slower(i int) float64 {
	id := a.machines.id[i]
	if id < 0 {
		return 1
	}
	g := &a.machines.groups[id]
	others, middle := g.others(a.ratio[i])
	known := a.known(a.machines.key[id])
	switch {
	case others >= leastOthers && middle < a.bar:
		return 1
	case g.apart:
		return middle
	case known >= a.bar:
		return known
	}
	return 1
}

// leastOthers is how many other tasks must have run on a machine before they speak about it.
const leastOthers = 2

// known is the host's record of a machine; 1 if there is none.
func (a *analysis) known(machine int) float64 {
	if a.phase.Factor == nil || machine < 0 {
		return 1
	}
	if f := a.phase.Factor(machine); f > 0 && !math.IsInf(f, 1) {
		return f
	}
	return 1
}
