package placement

import "math"

const (
	// maxIterations is the largest number of iterations of the interior-point method. Problems of every size need
	// a few dozen.
	maxIterations = 60
	// fewestIterations is the number of iterations after which the linear program is nearly solved. If the allowed
	// work is not enough for so many iterations, the linear program is not solved at all.
	fewestIterations = 10
	// mostRacks is a number of racks. With more racks the system of equations would need more than 12 MB, and the
	// linear program is not solved.
	mostRacks = 400
	// relaxedGap is a share of T, the longest transfer. The linear program is treated as solved if T exceeds its
	// lower bound by at most this share.
	relaxedGap = 1e-9
)

// relax solves the relaxation, the linear program in which tasks may be split over racks. It starts with the lower
// bound of byVolume. It ends early if the allowed work is used up or if rounding errors prevent progress. If the
// allowed work is too small for a start, the result has no fractions of tasks, and its lower bound is the lower
// bound of byVolume.
func relax(m *model, w *work) *relaxation {
	volume := byVolume(m)
	if m.r > mostRacks || w.left < fewestIterations*m.iterationCost() {
		return volume
	}
	s := newRelaxation(m)
	s.best, s.bestPrice = volume.best, volume.bestPrice
	s.run(w)
	return s
}

// run iterates until the solution equals its lower bound, until rounding errors prevent progress, or until the
// allowed work is used up.
func (s *relaxation) run(w *work) {
	for range maxIterations {
		infeasible := s.residuals()
		s.improveBound()
		if infeasible < relaxedGap && s.t.x-s.best <= float64(relaxedGap*s.t.x)+float64(2*s.m.noise) {
			return
		}
		if !w.take(s.m.iterationCost()) || !s.iterate() {
			return
		}
	}
}

// iterationCost returns the number of steps of work of one iteration. For n tasks and r racks, n(3r)²/2
// floating-point operations build the system of equations, and (3r)³/6 operations factor it.
func (m *model) iterationCost() int64 {
	n, r := int64(m.n), int64(m.r)
	size := width * r
	return (n*(size*size/2+20*r) + size*size*size/6) / operationsPerStep
}

// residuals recomputes by how much the current variables violate each equation of the linear program. The result
// is the largest relative violation.
func (s *relaxation) residuals() float64 {
	m := s.m
	for row := range s.rackResidual {
		j, q := row/width, row%width
		s.rackResidual[row] = m.rightSide(j, q) - float64(rowT[q]*s.t.x) - float64(rowSlack[q]*s.slack[row].x)
		s.slack[row].residual = -float64(rowSlack[q]*s.price[row]) - s.slack[row].z
	}
	s.t.residual = 1 - s.t.z
	for row, p := range s.price {
		s.t.residual -= float64(rowT[row%width] * p)
	}
	worst := 0.0
	for k := range m.n {
		s.taskResidual[k] = 1
		for j := range m.r {
			i := k*m.r + j
			g, ok := m.column(i)
			if !ok {
				continue
			}
			v := &s.x[i]
			v.residual = m.reduced(i, s.price) - s.value[k] - v.z
			s.taskResidual[k] -= v.x
			for q := range width {
				s.rackResidual[j*width+q] -= float64(g[q] * v.x)
			}
		}
		worst = max(worst, math.Abs(s.taskResidual[k]))
	}
	for row, v := range s.rackResidual {
		size := s.t.x
		if row%width == 2 {
			size = float64(m.n)
		}
		worst = max(worst, math.Abs(v)/size)
	}
	return worst
}

// iterate does one predictor-corrector step of the interior-point method. It returns false if rounding errors
// prevent a further step.
func (s *relaxation) iterate() bool {
	s.system.build(s.x, s.slack, s.t)
	if !s.system.factor() {
		return false
	}
	count, mu := 0.0, 0.0
	s.each(func(v *variable) {
		v.target = -float64(v.x * v.z)
		mu -= v.target
		count++
	})
	s.step()
	primal, dual := s.stepLengths(1)
	after := 0.0
	s.each(func(v *variable) {
		after += float64((v.x + float64(primal*v.dx)) * (v.z + float64(dual*v.dz)))
	})
	shrink := after / mu
	center := shrink * shrink * shrink * mu / count
	s.each(func(v *variable) {
		v.target = center - float64(v.x*v.z) - float64(v.dx*v.dz)
	})
	s.step()
	primal, dual = s.stepLengths(0.995)
	if !(primal > 1e-10 && dual > 1e-10) {
		return false
	}
	s.each(func(v *variable) {
		v.x += float64(primal * v.dx)
		v.z += float64(dual * v.dz)
	})
	for row, d := range s.dprice {
		s.price[row] += float64(dual * d)
	}
	for k, d := range s.dvalue {
		s.value[k] += float64(dual * d)
	}
	return true
}

// each calls f with every primal variable: x of each possible pair of a task and a rack, the slack of each row,
// and t.
func (s *relaxation) each(f func(*variable)) {
	for i := range s.x {
		if s.x[i].x > 0 {
			f(&s.x[i])
		}
	}
	for row := range s.slack {
		f(&s.slack[row])
	}
	f(&s.t)
}

// step computes the direction of the next step. In this direction every product x*z changes by its target, and
// every residual becomes zero.
func (s *relaxation) step() {
	m, right, y := s.m, s.system.right, s.dprice
	copy(right, s.rackResidual)
	drive := func(v *variable) float64 { return (float64(v.x*v.residual) - v.target) / v.z }
	for row := range right {
		right[row] += float64(rowSlack[row%width] * drive(&s.slack[row]))
		right[row] += float64(rowT[row%width] * drive(&s.t))
	}
	for k := range m.n {
		s.dvalue[k] = s.taskResidual[k]
		for j := range m.r {
			i := k*m.r + j
			if g, ok := m.column(i); ok {
				d := drive(&s.x[i])
				s.dvalue[k] += d
				for q := range width {
					right[j*width+q] += float64(g[q] * d)
				}
			}
		}
		s.coupled(k, -s.dvalue[k]/s.system.total[k], right)
	}
	s.system.solve()
	copy(y, right)
	for k := range m.n {
		s.dvalue[k] = (s.dvalue[k] - s.coupledDot(k, y)) / s.system.total[k]
	}
	s.recover()
}

// coupled adds the columns of task k, each multiplied by its weight and by factor, to rows. rows has three entries
// for each rack.
func (s *relaxation) coupled(k int, factor float64, rows []float64) {
	for j, w := range s.system.weight[k*s.m.r : (k+1)*s.m.r] {
		if g, ok := s.m.column(k*s.m.r + j); ok {
			for q := range width {
				rows[j*width+q] += float64(factor * float64(w*g[q]))
			}
		}
	}
}

// coupledDot returns the scalar product of rows and the sum of the columns of task k, each multiplied by its
// weight.
func (s *relaxation) coupledDot(k int, rows []float64) float64 {
	sum := 0.0
	for j, w := range s.system.weight[k*s.m.r : (k+1)*s.m.r] {
		if g, ok := s.m.column(k*s.m.r + j); ok {
			for q := range width {
				sum += float64(rows[j*width+q] * float64(w*g[q]))
			}
		}
	}
	return sum
}

// recover computes the changes dx and dz of all variables. It computes them from the changes of the prices and
// values, which the method step has computed.
func (s *relaxation) recover() {
	finish := func(v *variable, ay float64) {
		v.dz = v.residual - ay
		v.dx = (v.target - float64(v.x*v.dz)) / v.z
	}
	dt := 0.0
	for row, y := range s.dprice {
		finish(&s.slack[row], float64(rowSlack[row%width]*y))
		dt += float64(rowT[row%width] * y)
	}
	finish(&s.t, dt)
	for k := range s.m.n {
		for j := range s.m.r {
			i := k*s.m.r + j
			if g, ok := s.m.column(i); ok {
				y := s.dprice[j*width:]
				finish(&s.x[i], s.dvalue[k]+float64(g[0]*y[0])+float64(g[1]*y[1])+float64(g[2]*y[2]))
			}
		}
	}
}

// stepLengths returns which part of the step can be taken before a variable x (primal) or z (dual) becomes zero.
// Both parts are multiplied by factor and are at most 1.
func (s *relaxation) stepLengths(factor float64) (primal, dual float64) {
	primal, dual = 1, 1
	s.each(func(v *variable) {
		if v.dx < 0 {
			primal = min(primal, -factor*v.x/v.dx)
		}
		if v.dz < 0 {
			dual = min(dual, -factor*v.z/v.dz)
		}
	})
	return primal, dual
}
