package skew

import "math"

// AssignSketch makes a plan for each hash function of the sketch, from the sizes in its row, by the rule of
// [Policy.Assign]. It returns the best plan and its row [DynamicShare §4.2, Sketch-based approach]. The best plan
// is the plan with the smallest total size in [Plan.Unfit]. If several plans have this size, the best plan is the
// plan that ends first. Under [LoadBalance] the best plan is the plan with the largest [Balance] instead. If plans
// are equally good, AssignSketch returns the lowest row.
//
// AssignSketch returns an error if s is nil or has no rows, and the errors of Policy.Assign. It takes O(d (p log p
// + p R)) for d rows, p partitions and R reduce tasks, with at most d p R calls of Reducer.Seconds. It allocates
// the plans.
func (c Policy) AssignSketch(s *Sketch, reducers []Reducer) (row int, plan Plan, err error) {
	if err := c.Validate(); err != nil {
		return 0, Plan{}, err
	}
	if s == nil || len(s.rows) == 0 {
		return 0, Plan{}, noRows()
	}
	if err := validateReducers(reducers, s.partitions); err != nil {
		return 0, Plan{}, err
	}
	least := [2]float64{math.Inf(1), math.Inf(1)}
	t := newTiming(reducers)
	for i := range s.rows {
		candidate, err := c.assign(s.row(i), &t)
		if err != nil {
			return 0, Plan{}, err
		}
		cost := c.cost(s.row(i), candidate)
		if cost[0] < least[0] || cost[0] == least[0] && cost[1] < least[1] {
			row, plan, least = i, candidate, cost
		}
	}
	return row, plan, nil
}

// cost returns the two numbers by which plans are compared. The first number decides, and the second number decides
// only if the first is equal. Smaller is better.
func (c Policy) cost(sizes []int64, plan Plan) [2]float64 {
	if c.Rule == LoadBalance {
		return [2]float64{-plan.Balance(), 0}
	}
	var left int64
	for _, i := range plan.Unfit {
		left += sizes[i]
	}
	return [2]float64{float64(left), plan.Seconds}
}
