package causes

import (
	"math"
	"slices"
	"time"
)

// analysis holds the intermediate results of one phase, task by task.
type analysis struct {
	config Config // effective
	bar    float64
	phase  Phase
	// took is a task's time in seconds, negative if the task is left out. ran is took without the wait for lost
	// input.
	took, ran []float64
	// expected is the seconds by model and cohort. ratio is ran/expected, or -1 for a task that is no evidence.
	expected, ratio  []float64
	unit, medianTask coefficients // unit is 1 over the mean of each column; medianTask has the median of each column
	floor            float64
	model            coefficients
	finished         int
	machines         grouping
	cohorts          grouping
	moments          grouping
	bounds           [][2]time.Duration // of the moments
	ranks            ranks
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

// expect computes the expected time and the ratio of each task. expect then computes the ratios of the cohorts, the
// moments and the machines.
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
	a.divideByCohorts()
	m := &a.machines
	m.id, m.key = compress(len(tasks), func(i int) int { return tasks[i].Machine })
	a.findMoments()
	m.groups = summarise(m.id, a.ratio, len(m.key), a.bar)
	a.ranks = rank(a.ratio, a.bar)
	for id := range m.groups {
		g := &m.groups[id]
		g.suspect = g.n > leastOthers && g.median >= a.bar && a.coincidence(g) <= unlikely
	}
}

// evidenceOf returns a ratio that counts as evidence, or -1. The ratio of a censored task counts once it is over 1.
func (a *analysis) evidenceOf(i int, ratio float64) float64 {
	if a.phase.Tasks[i].Censored && ratio <= 1 {
		return -1
	}
	return ratio
}

// divideByCohorts divides the ratio of each cohort out of its tasks' ratios, and multiplies their expected times by
// it.
func (a *analysis) divideByCohorts() {
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
	a.divideOut(c)
}

// findMoments finds the busy moments, and divides their ratios out of their tasks' ratios.
func (a *analysis) findMoments() {
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
	a.divideOut(&a.moments)
}

// divideOut divides each ratio by the ratio of the task's group.
func (a *analysis) divideOut(g *grouping) {
	for i := range a.ratio {
		if a.ratio[i] >= 0 {
			a.ratio[i] /= g.times(i)
		}
	}
}

// machineRatio returns how many times slower than expected a task's machine is. The other tasks on the machine show
// it, or else the host's record. The ratio is 1 if neither shows that the machine is slow.
func (a *analysis) machineRatio(i int) float64 {
	id := a.machines.id[i]
	if id < 0 {
		return 1
	}
	g := &a.machines.groups[id]
	others, middle := g.others(a.ratio[i])
	known := a.recordedFactor(a.machines.key[id])
	switch {
	case others >= leastOthers && middle < a.bar:
		return 1
	case g.suspect:
		return middle
	case known >= a.bar:
		return known
	}
	return 1
}

// leastOthers is how many other tasks on a machine are needed to judge the machine.
const leastOthers = 2

// recordedFactor returns the factor of a machine in the host's record; 1 without a record.
func (a *analysis) recordedFactor(machine int) float64 {
	if a.phase.Factor == nil || machine < 0 {
		return 1
	}
	if f := a.phase.Factor(machine); f > 0 && !math.IsInf(f, 1) {
		return f
	}
	return 1
}
