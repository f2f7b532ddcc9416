package assign

// minimum computes the mean of the shortest duration of several clones. The clones form two groups. The duration of a clone
// is the fixed time of its group plus a sample, drawn independently.
type minimum struct {
	samples []float64    // sorted
	power   [2][]float64 // by group and index i: P(all clones of the group drew sample i or a later sample)
}

// prepare sets the samples and the numbers of clones in the two groups.
func (m *minimum) prepare(samples []float64, groups [2]int) {
	m.samples = samples
	n := float64(len(samples))
	for g, clones := range groups {
		m.power[g] = m.power[g][:0]
		for i := range len(samples) + 1 {
			m.power[g] = append(m.power[g], power((n-float64(i))/n, clones))
		}
	}
}

// power returns x^n, computed by products so that the result is the same on every machine.
func power(x float64, n int) float64 {
	result := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			result *= x
		}
		x *= x
	}
	return result
}

// mean returns the integral over t of P(all clones take longer than t). The integrand is a step function that falls
// at each sum of a fixed time and a sample. O(samples).
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
