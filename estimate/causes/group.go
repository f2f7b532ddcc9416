package causes

// group holds the ratios of tasks that share a machine, a cohort or a moment.
type group struct {
	n, slow     int     // tasks, and tasks with a ratio of at least the bar
	median      float64 // lower median of the ratios
	below, next float64 // the median without any single task is between these two order statistics
	suspect     bool    // a machine that is slow by more than coincidence
	times       float64 // divisor of the ratios of its tasks; 1 divides nothing out
}

// grouping divides the tasks into groups: the group of each task, -1 for no group, and the key and the sums of each
// group. A grouping is empty if all tasks have the same key.
type grouping struct {
	id     []int32
	key    []int
	groups []group
}

// times returns the divisor of a task's ratio.
func (g *grouping) times(i int) float64 {
	if g.id == nil || g.id[i] < 0 {
		return 1
	}
	return g.groups[g.id[i]].times
}

// others returns the number of tasks in the group without a given task, and the lower median of their ratios. The
// ratio v of the given task is negative if the task is no evidence, and then the group does not contain it.
func (g *group) others(v float64) (n int, median float64) {
	switch {
	case v < 0:
		return g.n, g.median
	case v <= g.below:
		return g.n - 1, g.next
	}
	return g.n - 1, g.below
}

// summarise divides the ratios into n groups and sums up each group. ids gives the group of each ratio, or -1 for
// no group.
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
		g.median = median(x)
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

// compress numbers the distinct keys from 0, in the order of their first occurrence. A negative key has the number
// -1.
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
	unlikely = 0.001 // a probability; less likely slow tasks are no coincidence
	mostOdds = 60    // tasks; more tasks count as this many, which makes the probability larger
)

// coincidence returns the probability that the tasks of a group are slow by chance, given how many tasks are slow
// elsewhere in the phase. The result is the smaller of two probabilities. The first is that this many of the n
// tasks are at or over the bar. The second is that half of the tasks are at or over the group's median.
func (a *analysis) coincidence(g *group) float64 {
	half := g.n - (g.n-1)/2
	byBar := chance(g.slow, g.n, a.ranks.slow-g.slow, a.ranks.all-g.n)
	byMedian := chance(half, g.n, max(0, a.ranks.atLeast(g.median)-half), a.ranks.all-g.n)
	return min(byBar, byMedian)
}

// chance returns the probability that at least slow of n tasks are slow by coincidence, if slowElsewhere of
// elsewhere other tasks are slow. chance adds one slow and one healthy task to the other tasks, so that no event counts
// as impossible because it was not seen.
func chance(slow, n, slowElsewhere, elsewhere int) float64 {
	if n > mostOdds {
		slow, n = int(int64(slow)*mostOdds/int64(n)), mostOdds
	}
	if slow <= 0 {
		return 1
	}
	p := float64(slowElsewhere+1) / float64(elsewhere+2)
	// The sum over j >= slow of C(n,j) p^j (1-p)^(n-j), term by term from j = n down.
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

// ranks counts the ratios of a phase by size, in steps of a twentieth.
type ranks struct {
	all, slow int
	over      [128]int // over[k]: ratios of 1 + k/20 or more
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

// atLeast returns how many ratios are at least the given ratio. The number may include ratios up to a twentieth smaller.
func (r *ranks) atLeast(ratio float64) int { return r.over[rankOf(ratio)] }
