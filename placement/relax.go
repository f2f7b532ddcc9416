package placement

import "math"

// relaxation is the placement problem as a linear program, in which a task may be split over racks. x_kj is the part
// of task k that runs in rack j, and T is the time of the longest transfer. full_j is the time of the uplink of rack j
// if no task runs there. A task in rack j makes it shorter by save_kj, and the time of the downlink longer by add_kj.
//
//	minimise T subject to T, x >= 0 and, for every rack j and task k,
//	T + sum_k save_kj x_kj >= full_j,  T - sum_k add_kj x_kj >= 0,  sum_k x_kj <= slots_j,  sum_j x_kj = 1.
//
// The method is the volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000). In each round every task
// takes the rack that is cheapest at the prices of the links and slots. A link that is then busy for longer than the
// lower bound gets dearer, and any other link cheaper. The mean of the choices, in which later rounds weigh more, is
// nearly a solution of the linear program. A round takes O(n r) for n tasks and r racks.
//
// The lower bound is correct after every round, because all prices prove one (see improveBound). The fractions x_kj are
// only a start for the search.
type relaxation struct {
	m         *model
	x         []float64 // by task and rack; nil before the first round
	price     []float64 // by row: the prices of the next round
	best      float64   // the largest lower bound so far
	bestPrice []float64 // the prices that prove best
	trial     []float64
	cost      []float64 // by rack: what a task costs there
	unit      float64   // the time of slotInputs mean inputs: the price of a slot counts in it
}

// width is the number of rows of each rack in the linear program: for the uplink, the downlink and the slots.
const width = 3

// These numbers were chosen on 45 problems of five families, so that the lower bound nears that of the linear program.
const (
	mostRounds = 600
	// Of the work that is left, the rounds take at most the part 1/roundsPart; the search has the rest.
	roundsPart = 3
	// A slot too many is as bad as so many mean inputs are long. With 2 or less, prices of scarce slots come too late.
	slotInputs = 5
	// A step of the prices is a part of the step that would close the gap if only one price mattered. The part begins at
	// firstStep, is multiplied by shorten after patientRounds rounds without a better bound, and ends at lastStep.
	firstStep, lastStep    = 2.0, 1e-4
	patientRounds, shorten = 15, 0.66
	// The weight of a round in the mean of the choices.
	newest = 0.1
	// Racks whose costs differ by less than this share share a task. So the answer does not depend on their order.
	tie = 1e-9
	// A task that is in one rack by more than this part is placed there.
	wholly = 0.9
)

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

// relax solves the relaxation nearly. It begins with the prices of byVolume, and ends when the lower bound reaches
// longest, the longest transfer of a known placement, or when its part of the work is used up.
func relax(m *model, longest float64, w *work) *relaxation {
	s := byVolume(m)
	s.cost, s.unit = make([]float64, m.r), slotInputs*sum(m.full)/float64(m.n*m.r)
	copy(s.price, s.bestPrice)
	used, mean := make([]float64, width*m.r), make([]float64, width*m.r)
	steps := int64(stepsOfAPair * m.n * m.r)
	step, idle := firstStep, 0
	for round := min(mostRounds, w.left/roundsPart/max(steps, 1)); round > 0 && step > lastStep && s.best < longest*(1-precise); round-- {
		w.take(steps)
		weight := newest
		if s.x == nil {
			s.x, weight = make([]float64, m.n*m.r), 1
		}
		s.choose(used, weight)
		for row := range mean {
			mean[row] += float64(weight * (used[row] - mean[row]))
		}
		before := s.best
		s.improveBound()
		if idle++; s.best > before {
			idle = 0
		} else if idle == patientRounds {
			step, idle = step*shorten, 0
		}
		if !s.reprice(mean, step*(longest-s.best)) {
			break
		}
	}
	return s
}

// choose lets each task take its cheapest rack, adds the choices to the mean with a weight, and sets the use of each row:
// the times of the links, and the numbers of tasks.
func (s *relaxation) choose(used []float64, weight float64) {
	m, r := s.m, s.m.r
	clear(used)
	for j, full := range m.full {
		used[width*j] = full
	}
	for k := range m.n {
		save, add, x, least := m.save[k*r:(k+1)*r], m.add[k*r:(k+1)*r], s.x[k*r:(k+1)*r], math.Inf(1)
		for j := range s.cost {
			s.cost[j] = reduced(save[j], add[j], j, s.price)
			least = min(least, s.cost[j])
		}
		bar, ties := least+float64(tie*math.Abs(least)), 0.0
		for _, c := range s.cost {
			if c <= bar {
				ties++
			}
		}
		for j, c := range s.cost {
			x[j] -= float64(weight * x[j])
			if c <= bar {
				x[j] += weight / ties
				used[width*j] -= save[j] / ties
				used[width*j+1] += add[j] / ties
				used[width*j+2] += 1 / ties
			}
		}
	}
}

// reprice moves the prices from the best ones so far, by what the mean use of each row is above its limit. A row below its
// limit whose price is 0 does not count in the length of the step: its price can't fall. It returns false if no price can
// move.
func (s *relaxation) reprice(mean []float64, length float64) bool {
	size := 0.0
	for row, used := range mean {
		if over := s.over(row, used); over > 0 || s.bestPrice[row] != 0 {
			size += float64(over * over)
		}
	}
	if !(size > 0) {
		return false
	}
	for row, p := range s.bestPrice {
		over := s.over(row, mean[row])
		if row%width < 2 {
			s.price[row] = max(0, p+float64(length/size*over))
		} else {
			s.price[row] = min(0, p-float64(length/size*float64(over*s.unit)))
		}
	}
	return true
}

// over returns by how much a link is busy for longer than the lower bound, or how much time the tasks of a rack beyond its
// slots take.
func (s *relaxation) over(row int, used float64) float64 {
	if row%width < 2 {
		return used - s.best
	}
	return float64((used - s.m.rightSide(row/width, row%width)) * s.unit)
}

// sum returns the sum of the values.
func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}
