package placement

import "math"

// relaxation is the placement problem as a linear program, in which a task may be split over racks. x_kj is the
// part of task k that runs in rack j, and T is the time of the longest transfer. full_j is the time of the uplink
// of rack j if no task runs there; a task in rack j reduces it by save_kj and adds add_kj to the time of the
// downlink.
//
//	minimise T subject to T, x >= 0 and, for every rack j and task k,
//	T + sum_k save_kj x_kj >= full_j,  T - sum_k add_kj x_kj >= 0,  sum_k x_kj <= slots_j,  sum_j x_kj = 1.
//
// The method is Mehrotra's predictor-corrector interior-point method (SIAM Journal on Optimization 2, 1992). The
// column of x_kj has entries only in the row of task k and in the three rows of rack j. So the equations of an
// iteration reduce to a dense system of 3r unknowns for r racks. With n tasks an iteration takes O(n r² + r³), and
// problems of every size need a few dozen iterations.
//
// The answer of Assign stays correct if the method does not converge. Any prices of links and slots prove a lower
// bound (see improveBound), and the fractions x_kj are only a start for the search. The code rounds products
// before it adds them, as in float64(a*b). So no compiler fuses the two operations, and every machine finds the
// same fractions.
type relaxation struct {
	m *model
	// x, slack and t are the primal variables. x has an entry for each task and rack. slack has three entries for
	// each rack j, at 3j, 3j+1 and 3j+2: for the uplink, the downlink and the slots. Each primal variable has a
	// dual variable z. price and value are the dual variables of the rows of the racks and of the tasks. dprice
	// and dvalue are their steps.
	x, slack       []variable
	t              variable
	price, value   []float64
	dprice, dvalue []float64

	rackResidual, taskResidual []float64
	system                     system
	best                       float64   // the largest lower bound so far
	bestPrice                  []float64 // the prices that prove best
	trial                      []float64
}

// variable is a primal variable x and its dual variable z, which are both positive, and the state of a Newton
// step.
type variable struct {
	x, z     float64
	dx, dz   float64 // the changes of x and z in the step
	residual float64 // c - A'y - z: by how much the dual equation of x is violated
	target   float64 // the wanted change of the product x*z
}

// width is the number of rows of each rack in the linear program: for the uplink, the downlink and the slots.
const width = 3

// rowT and rowSlack are coefficients of the linear program in the three rows of a rack: for the uplink, the downlink
// and the slots. rowT belongs to the variable T, the time of the longest transfer, and rowSlack to the slack variable
// of the row.
var (
	rowT     = [width]float64{1, 1, 0}
	rowSlack = [width]float64{-1, -1, 1}
)

// column returns the coefficients of one variable x_kj in the three rows of rack j. x_kj is the part of task k
// that runs in rack j, and i is k*r+j for r racks. ok is false if task k cannot run in rack j.
func (m *model) column(i int) (g [width]float64, ok bool) {
	return [width]float64{m.save[i], -m.add[i], 1}, !math.IsInf(m.add[i], 1)
}

// rightSide returns the right-hand side of row q of rack j in the linear program. Row 0 is for the uplink, row 1
// for the downlink, and row 2 for the slots.
func (m *model) rightSide(j, q int) float64 {
	switch q {
	case 0:
		return m.full[j]
	case 1:
		return 0
	}
	return float64(m.slots[j])
}

// newRelaxation returns a start for the interior-point method. Each task is split evenly over the racks in which
// it can run, and all links have the same price.
func newRelaxation(m *model) *relaxation {
	rows := width * m.r
	s := &relaxation{
		m: m, x: make([]variable, m.n*m.r), slack: make([]variable, rows),
		price: make([]float64, rows), value: make([]float64, m.n),
		dprice: make([]float64, rows), dvalue: make([]float64, m.n),
		rackResidual: make([]float64, rows), taskResidual: make([]float64, m.n),
		system: newSystem(m), trial: make([]float64, rows),
	}
	scale := s.spread()
	s.startPrimal(scale)
	s.startDual(scale)
	return s
}

// spread splits each task evenly over the racks in which it can run. It returns the mean of all times that a task
// adds to a link or saves, as the scale of the problem.
func (s *relaxation) spread() float64 {
	m, sum, count := s.m, 0.0, 0
	for k := range m.n {
		open := 0
		for j := range m.r {
			if _, ok := m.column(k*m.r + j); ok {
				open++
			}
		}
		for i := k * m.r; i < (k+1)*m.r; i++ {
			if _, ok := m.column(i); ok {
				s.x[i].x = 1 / float64(open)
				sum += m.save[i] + m.add[i]
				count++
			}
		}
	}
	return sum / float64(count)
}

// startPrimal sets t and the slacks to positive values that fit the fractions of the tasks.
func (s *relaxation) startPrimal(scale float64) {
	m := s.m
	for row := range s.rackResidual {
		s.rackResidual[row] = m.rightSide(row/width, row%width)
	}
	for i := range s.x {
		g, ok := m.column(i)
		for q := 0; ok && q < width; q++ {
			s.rackResidual[i%m.r*width+q] -= float64(g[q] * s.x[i].x)
		}
	}
	for row, v := range s.rackResidual {
		if row%width < 2 {
			s.t.x = max(s.t.x, v)
		}
	}
	s.t.x += float64(0.1 * (s.t.x + scale))
	for row, v := range s.rackResidual {
		if row%width < 2 {
			s.slack[row].x = s.t.x - v
		} else {
			s.slack[row].x = max(v, 0.1)
		}
	}
}

// startDual sets the prices of the links and slots, and positive dual variables z.
func (s *relaxation) startDual(scale float64) {
	m := s.m
	even := 0.9 / float64(2*m.r)
	s.t.z = 0.1
	for row := range s.price {
		p := even
		if row%width == 2 {
			p = -even * scale
		}
		s.price[row] = p
		s.slack[row].z = math.Abs(p)
	}
	for k := range m.n {
		s.value[k] = m.cheapest(k, s.price) - float64(even*scale)
		for j := range m.r {
			i := k*m.r + j
			s.x[i].z = m.reduced(i, s.price) - s.value[k]
		}
	}
}
