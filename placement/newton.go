package placement

import "math"

// system is the system of linear equations that an interior-point iteration solves twice. Its matrix is A D A',
// reduced to the rows of the racks. A is the matrix of the linear program, and D is the diagonal matrix of x/z of
// all variables.
type system struct {
	m      *model
	size   int       // the number of equations: three for each rack
	lower  []float64 // lower triangle of the matrix, row by row; after factor it is the Cholesky factor
	weight []float64 // x/z of each pair of a task and a rack
	total  []float64 // the sum of weight over the racks, for each task
	scaled []float64 // weight times the column of one task, by row
	right  []float64 // the right-hand side; after solve it is the solution
}

func newSystem(m *model) system {
	size := width * m.r
	return system{
		m: m, size: size, lower: make([]float64, size*size), weight: make([]float64, m.n*m.r),
		total: make([]float64, m.n), scaled: make([]float64, size), right: make([]float64, size),
	}
}

// build computes the matrix of the system. To eliminate the row of a task, it must compute a difference of nearly
// equal numbers if the task runs almost wholly in one rack. It computes the difference as a product, so that no
// digits cancel:
//
//	D_j - D_j²/sum D = D_j (sum of the other D)/sum D
//
// Here D_j is the weight x/z of the task in rack j.
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

// addTask adds the terms of task k to the matrix of the system.
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

// factor replaces the lower triangle of the matrix by its Cholesky factor. It returns false if, because of
// rounding errors, the matrix is not positive definite.
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

// solve replaces s.right by the solution of the system. The matrix must have been factored.
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
