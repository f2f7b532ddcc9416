package causes

import (
	"math"
	"slices"
	"time"
)

// analysis contains the intermediate results of one phase. Most slices have one entry for each task.
type analysis struct {
	config Config // with its defaults filled in
	bar    float64
	phase  Phase
	// took is the time of each task in seconds, or negative if the task is left out. ran is the same time without
	// the wait for lost input.
	took, ran []float64
	// expected is the time in seconds that the model and the task's cohort explain. ratio is ran/expected, or -1
	// for a task that is no evidence. Later steps divide the ratios of the cohort and of the moment out of it.
	expected, ratio []float64
	// unit[c] is 1 divided by the mean of column c, and medianTask[c] is the median of column c.
	unit, medianTask coefficients
	floor            float64
	model            coefficients
	finished         int
	machines         grouping
	cohorts          grouping
	moments          grouping
	bounds           [][2]time.Duration // first and last start of each moment
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

// expect computes the expected time and the ratio of each task, where ratio means time divided by expected time.
// expect then computes the ratios of the cohorts, the moments and the machines.
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

// evidenceOf returns the given ratio of time to expected time, or -1 if the ratio of task i is no evidence about
// its machine. The true ratio of a censored task, which still runs or was killed, is at least the given ratio. So a
// censored task is evidence only if the given ratio is above 1.
func (a *analysis) evidenceOf(i int, ratio float64) float64 {
	if a.phase.Tasks[i].Censored && ratio <= 1 {
		return -1
	}
	return ratio
}

// divideByCohorts compares the cohorts, which are groups of tasks that do the same part of the work in every phase.
// It divides the ratio of each task by the median ratio of its cohort, and multiplies the expected time of the task
// by the same number.
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

// findMoments finds the busy moments, in which tasks were slow on all machines. It divides the ratio of each task
// by the ratio of the moment in which the task began.
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

// divideOut divides the ratio of each task by the ratio of the task's group.
func (a *analysis) divideOut(g *grouping) {
	for i := range a.ratio {
		if a.ratio[i] >= 0 {
			a.ratio[i] /= g.times(i)
		}
	}
}

// machineRatio returns how many times slower than expected the machine of task i is. The other tasks on the machine
// show this. If too few other tasks ran there, or if they show too little, machineRatio uses the host's record of
// the machine. The result is 1 if neither shows that the machine is slow.
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

// leastOthers is the number of other tasks on a machine that are needed to judge the machine.
const leastOthers = 2

// recordedFactor returns how many times slower than average a machine is by the host's record, or 1 without a
// record.
func (a *analysis) recordedFactor(machine int) float64 {
	if a.phase.Factor == nil || machine < 0 {
		return 1
	}
	if f := a.phase.Factor(machine); f > 0 && !math.IsInf(f, 1) {
		return f
	}
	return 1
}
