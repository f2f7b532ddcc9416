package assign

import "github.com/straggler-go/straggler/internal/num"

// minimum computes the mean of the shortest duration among several clones. Each clone belongs to the first or to
// the second group. The duration of a clone is a fixed time, which is the same for all clones of its group, plus a
// sample that the clone draws independently.
type minimum struct {
	samples []float64 // sorted
	// power[g][i] is the probability that all clones of group g draw sample i or a later sample.
	power [2][]float64
}

// prepare sets the samples, and the number of clones in each group.
func (m *minimum) prepare(samples []float64, groups [2]int) {
	m.samples = samples
	n := float64(len(samples))
	for g, clones := range groups {
		m.power[g] = m.power[g][:0]
		for i := range len(samples) + 1 {
			m.power[g] = append(m.power[g], num.Power((n-float64(i))/n, clones))
		}
	}
}

// mean returns the mean of the shortest duration. This is the integral over t of the probability that all clones
// take longer than t. This probability is a step function of t: it falls at each sum of a fixed time and a sample.
// Cost: O(n) for n samples.
func (m *minimum) mean(fixed [2]float64) (mean float64) {
	i, j, last := 0, 0, 0.0
	for i < len(m.samples) || j < len(m.samples) {
		alive := m.power[0][i] * m.power[1][j]
		if alive == 0 {
			break
		}
		first := j == len(m.samples) || i < len(m.samples) && fixed[0]+m.samples[i] <= fixed[1]+m.samples[j]
		var now float64
		if first {
			now = fixed[0] + m.samples[i]
			i++
		} else {
			now = fixed[1] + m.samples[j]
			j++
		}
		mean += float64(alive * (now - last))
		last = now
	}
	return mean
}
