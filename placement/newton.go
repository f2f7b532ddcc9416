package placement

import "math"

// system is the matrix A D A' reduced to the rows of the racks, with D = x/z. An interior-point iteration solves it twice.
type system struct {
	m      *model
	size   int
	lower  []float64 // lower triangle of a size x size matrix, row by row; after factor it is the Cholesky factor
	weight []float64 // D of each pair of task and rack
	total  []float64 // sum of D over the racks of each task
	scaled []float64 // D times the column of one task, by row
	right  []float64 // right-hand side; after solve it is the solution
}

func newSystem(m *model) system {
	size := width * m.r
	return system{
		m: m, size: size, lower: make([]float64, size*size), weight: make([]float64, m.n*m.r),
		total: make([]float64, m.n), scaled: make([]float64, size), right: make([]float64, size),
	}
}

// build computes the matrix. Eliminating a task's row leaves differences of nearly equal numbers, if the task runs
// almost wholly in one rack. The code writes the difference as a product, so that no digits cancel:
//
//	D_j - D_j²/sum D = D_j (sum of the other D)/sum D
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

// addTask adds the terms of task k to the matrix.
func (s *system) addTask(k int, x []variable) {
	r, n := s.m.r, s.size
	weight := s.weight[k*r : (k+1)*r]
	total := 0.0
	for j := range weight {
		i := k*r + j
		g, ok := s.m.column(i)
		weight[j] = 0
		if ok {
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

// factor replaces the lower triangle by its Cholesky factor. factor returns false if the rounded matrix is not
// positive definite.
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
