package placement

import "math"

// system is A D A' reduced to the rows of the racks, D = x/z: what one interior-point iteration solves twice.
type system struct {
	m      *model
	size   int
	lower  []float64 // lower triangle, row by row in a size x size array; its Cholesky factor after factor
	weight []float64 // D per task and rack
	total  []float64 // sum of D over a task's racks
	scaled []float64 // one task's D times column, per row
	right  []float64
}

func newSystem(m *model) system {
	size := width * m.r
	return system{
		m: m, size: size, lower: make([]float64, size*size), weight: make([]float64, m.n*m.r),
		total: make([]float64, m.n), scaled: make([]float64, size), right: make([]float64, size),
	}
}

// build assembles the system. Eliminating a task's row leaves differences of nearly equal numbers once the task has
// settled on a rack; they are written so that nothing cancels: D_j - D_j²/sum D = D_j (sum of the others)/sum D.
func (s *system) build(x, slack []variable, t variable) {
	clear(s.lower)
	n := s.size
	for k := range s.m.n {
		s.addTask(k, x)
	}
	dt := t.x / t.z
	for a := range n {
		row := s.lower[a*n:]
		for b := 0; b <= a; b++ {
			row[b] += float64(dt * rowT[a%width] * rowT[b%width])
		}
		row[a] += slack[a].x / slack[a].z
	}
}

func (s *system) addTask(k int, x []variable) {
	r, n := s.m.r, s.size
	weight := s.weight[k*r : (k+1)*r]
	total := 0.0
	for j := range weight {
		i := k*r + j
		g, ok := s.m.column(i)
		if weight[j] = 0; ok {
			weight[j] = x[i].x / x[i].z
		} else {
			g = [width]float64{}
		}
		for q := range width {
			s.scaled[j*width+q] = weight[j] * g[q]
		}
		total += weight[j]
	}
	s.total[k] = total
	before := 0.0
	for j, w := range weight {
		if w == 0 {
			continue
		}
		g, _ := s.m.column(k*r + j)
		own := w * ((before + sum(weight[j+1:])) / total)
		before += w
		for q := range width {
			row := s.lower[(j*width+q)*n:]
			share := s.scaled[j*width+q] / total
			for b := range j * width {
				row[b] -= float64(share * s.scaled[b])
			}
			for p := 0; p <= q; p++ {
				row[j*width+p] += float64(own * float64(g[q]*g[p]))
			}
		}
	}
}

// factor replaces the lower triangle by its Cholesky factor; false if it is not positive definite as rounded.
func (s *system) factor() bool {
	n, l := s.size, s.lower
	for a := range n {
		row := l[a*n : a*n+a+1]
		for b := range row {
			v := row[b] - dot(row[:b], l[b*n:b*n+b])
			if b < a {
				row[b] = v / l[b*n+b]
				continue
			}
			if !(v > 0) || math.IsInf(v, 1) {
				return false
			}
			row[a] = math.Sqrt(v)
		}
	}
	return true
}

// solve replaces right by the solution of the factored system.
func (s *system) solve() {
	n, l, y := s.size, s.lower, s.right
	for a := range n {
		y[a] = (y[a] - dot(l[a*n:a*n+a], y[:a])) / l[a*n+a]
	}
	for a := n - 1; a >= 0; a-- {
		y[a] /= l[a*n+a]
		for b := range a {
			y[b] -= float64(l[a*n+b] * y[a])
		}
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}
