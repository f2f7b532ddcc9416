package skew

import "math"

// AssignSketch makes a plan for each row of the sketch, as [Policy.Assign] does with its sizes, and returns the best
// and its row [DynamicShare §4.2, Sketch-based approach]: the plan that leaves the least size unfit, and of those the
// one that ends first. Under LoadBalance, the one with the best [Balance]. Ties go to the lower row. Errors are those
// of Policy.Assign. O(d (p log p + p R)), of which d p R are calls of Reducer.Seconds; it allocates the plans.
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
	t := newTeam(reducers)
	for i := range s.rows {
		candidate, err := c.assign(s.row(i), &t)
		if err != nil {
			return 0, Plan{}, err
		}
		cost := c.cost(s.row(i), candidate)
		if i == 0 || cost[0] < least[0] || cost[0] == least[0] && cost[1] < least[1] {
			row, plan, least = i, candidate, cost
		}
	}
	return row, plan, nil
}

// cost returns what a plan is judged by, the more important first, less being better.
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
