package assign

// minimum works out the mean of the least of several clones' durations: each is a fixed time of its group and one of
// the samples, drawn independently.
type minimum struct {
	samples []float64    // sorted
	power   [2][]float64 // by group and i: P(all of its clones drew the i-th sample or a later one)
}

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

// power returns x^n by products, which are the same on every machine.
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

// mean is the integral over t of P(all clones take longer than t), a step function that falls where a fixed time and a
// sample add up to t. O(samples).
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
