package causes

// group summarises the ratios of tasks that share a machine, a cohort or a moment. The ratio of a task is its time
// divided by its expected time.
type group struct {
	n, slow     int     // number of tasks, and of tasks whose ratio is at least the bar
	median      float64 // the lower median of the ratios
	below, next float64 // without any single task, the median of the other ratios is below or next
	suspect     bool    // the group is a machine, and has more slow tasks than coincidence explains
	times       float64 // the ratio of each task is divided by this number; 1 if the group is not slow
}

// grouping divides the tasks into groups by a key, such as the machine. id has the group of each task, or -1 if the
// task is in no group. key has the key of each group, and groups has the summary of each group. If the tasks are
// not compared by this key, for example because all have the same cohort, the grouping is empty.
type grouping struct {
	id     []int32
	key    []int
	groups []group
}

// times returns how many times slower than expected the group of task i is, or 1 if the task is in no group. The
// ratio of the task is divided by this number.
func (g *grouping) times(i int) float64 {
	if g.id == nil || g.id[i] < 0 {
		return 1
	}
	return g.groups[g.id[i]].times
}

// others returns the number of tasks in the group without one given task, and the lower median of their ratios. v
// is the ratio of the given task. A negative v means that the task is no evidence. The group does not include such
// a task.
func (g *group) others(v float64) (n int, median float64) {
	switch {
	case v < 0:
		return g.n, g.median
	case v <= g.below:
		return g.n - 1, g.next
	}
	return g.n - 1, g.below
}

// summarise divides the ratios into n groups and summarises each group. ids has the group of each ratio, or -1 for
// a ratio that is in no group. A negative ratio is ignored. A ratio of at least bar is slow.
func summarise(ids []int32, ratios []float64, n int, bar float64) []group {
	groups := make([]group, n)
	used := 0
	for i, id := range ids {
		if id >= 0 && ratios[i] >= 0 {
			groups[id].n++
			used++
		}
	}
	ends, end := make([]int, n), 0
	for id := range groups {
		ends[id] = end
		end += groups[id].n
	}
	values := make([]float64, used)
	for i, id := range ids {
		if v := ratios[i]; id >= 0 && v >= 0 {
			values[ends[id]] = v
			ends[id]++
			if v >= bar {
				groups[id].slow++
			}
		}
	}
	for id := range groups {
		g := &groups[id]
		g.order(values[ends[id]-g.n : ends[id]])
	}
	return groups
}

func (g *group) order(x []float64) {
	if g.n < 2 {
		g.median = Median(x)
		return
	}
	k := (g.n - 2) / 2
	g.below = selectAt(x, k)
	g.next = x[k+1]
	for _, v := range x[k+2:] {
		g.next = min(g.next, v)
	}
	if g.median = g.below; g.n%2 == 1 {
		g.median = g.next
	}
}

// compress gives the numbers 0, 1, 2 and so on to the different keys, in the order of their first occurrence. ids
// has the number of each key, and keys has the key of each number. A negative key has the number -1.
func compress(n int, key func(i int) int) (ids []int32, keys []int) {
	ids = make([]int32, n)
	numbers := map[int]int32{}
	for i := range n {
		k := key(i)
		if k < 0 {
			ids[i] = -1
			continue
		}
		id, known := numbers[k]
		if !known {
			id = int32(len(keys))
			numbers[k], keys = id, append(keys, k)
		}
		ids[i] = id
	}
	return ids, keys
}

const (
	// A group's slow tasks are evidence if the probability that they are coincidence is less than this.
	unlikely = 0.001
	// mostOdds is a number of tasks. A larger group is treated as a group of this size with the same share of slow
	// tasks. So coincidence is found to be more likely.
	mostOdds = 60
)

// coincidence returns the probability that the tasks of a group are as slow as they are by chance, given how many
// tasks are slow elsewhere in the phase. The result is the smaller of two probabilities. The first is the
// probability that as many tasks of the group reach the bar. The second is the probability that half of the tasks
// of the group reach the group's median.
func (a *analysis) coincidence(g *group) float64 {
	half := g.n - (g.n-1)/2
	byBar := chance(g.slow, g.n, a.ranks.slow-g.slow, a.ranks.all-g.n)
	byMedian := chance(half, g.n, max(0, a.ranks.atLeast(g.median)-half), a.ranks.all-g.n)
	return min(byBar, byMedian)
}

// chance returns the probability that at least slow of n tasks are slow by coincidence. It uses the other tasks of
// the phase: elsewhere is their number, and slowElsewhere is the number of slow tasks among them. chance adds one
// slow and one healthy task to the other tasks. Otherwise, if no other task is slow, a slow task would have the
// probability 0.
func chance(slow, n, slowElsewhere, elsewhere int) float64 {
	if n > mostOdds {
		slow, n = int(int64(slow)*mostOdds/int64(n)), mostOdds
	}
	if slow <= 0 {
		return 1
	}
	p := float64(slowElsewhere+1) / float64(elsewhere+2)
	// The sum over j >= slow of C(n,j) p^j (1-p)^(n-j), computed term by term from j = n down.
	term, sum := 1.0, 0.0
	for range n {
		term *= p
	}
	for j := n; j >= slow; j-- {
		sum += term
		term = term * float64(j) / float64(n-j+1) * ((1 - p) / p)
	}
	return sum
}

// ranks contains the number of ratios of a phase that reach a given size, in steps of a twentieth.
type ranks struct {
	all, slow int
	over      [128]int // over[k] is the number of ratios of 1 + k/20 or more
}

func rankOf(ratio float64) int { return int(min(max(20*(ratio-1), 0), 127)) }

func rank(ratios []float64, bar float64) (r ranks) {
	for _, v := range ratios {
		if v < 0 {
			continue
		}
		r.all++
		if v >= bar {
			r.slow++
		}
		if v >= 1 {
			r.over[rankOf(v)]++
		}
	}
	for k := len(r.over) - 2; k >= 0; k-- {
		r.over[k] += r.over[k+1]
	}
	return r
}

// atLeast returns how many ratios of the phase are at least the given ratio. The result may include ratios that are
// up to a twentieth smaller.
func (r *ranks) atLeast(ratio float64) int { return r.over[rankOf(ratio)] }
