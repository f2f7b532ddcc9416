package causes

// Together counts what is saved if all workers that the findings of a [Waiting] name take the median of their equals at
// once. The equals of a worker are the other members of its stage. Of two workers that are equally slow, one alone saves
// little, since the step then waits for the other.
//
// [Waiting.Together] makes it, and the caller adds the same steps again. The zero value heals nobody. Not safe for concurrent use. Add takes O(n log n) for n members.
type Together struct {
	machines  map[int]bool
	positions map[[2]int]bool
	steps     Lockstep // divides a step into its stages
	saved     share
}

// Together returns a count of the machines, workers and positions among the findings. ok is false if they are fewer than
// two.
func (w *Waiting) Together() (t *Together, ok bool) {
	t = &Together{machines: map[int]bool{}, positions: map[[2]int]bool{}}
	for _, f := range w.Findings {
		switch {
		case f.Machine >= 0:
			t.machines[f.Machine] = true
		case f.Replica >= 0:
			t.positions[[2]int{f.Stage, f.Replica}] = true
		}
	}
	return t, len(t.machines)+len(t.positions) > 1
}

// Add adds a step. It leaves out what [Lockstep.Add] leaves out: members without a time, and steps of fewer than two members.
func (t *Together) Add(step []Member) {
	if !t.steps.take(step) {
		return
	}
	slowest, even := 0.0, 0.0
	for _, g := range t.steps.groups {
		for _, i := range t.steps.order[g.from:g.to] {
			m := &t.steps.members[i]
			slowest = max(slowest, m.seconds)
			if t.machines[m.Machine] || t.positions[[2]int{m.Stage, m.Replica}] {
				even = max(even, m.equals)
			} else {
				even = max(even, m.seconds)
			}
		}
	}
	t.saved.add((slowest-even)/slowest, slowest)
}

// Share returns the share of the steps' time that is saved, from 0 to 1, and its standard error. Without steps both are 0.
func (t *Together) Share() (share, err float64) { return t.saved.of() }
