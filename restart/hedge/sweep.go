package hedge

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/num"
)

// steps is a distribution of times with finitely many values: P(T > t) falls only at the times at. The values ascend.
// The probability that remains after the last step belongs to times that are longer than all others.
type steps struct {
	// The times, and the probability of a longer time, P(T > at[i]).
	at, above []float64
	// The relative variance of each value of above, if it was learned [Greenwood].
	doubt []float64
}

// longer returns P(T > t) after the first i steps.
func (s *steps) longer(i int) float64 {
	if i == 0 {
		return 1
	}
	return s.above[i-1]
}

// quantile returns the least time t with P(T <= t) >= k, or +Inf.
func (s *steps) quantile(k float64) float64 {
	i, _ := slices.BinarySearchFunc(s.above, 1-k+rounding, func(above, bar float64) int {
		if above > bar {
			return -1
		}
		return 1
	})
	if i == len(s.at) {
		return math.Inf(1)
	}
	return s.at[i]
}

// passed returns the number of steps that are at most t.
func (s *steps) passed(t float64) int {
	i, _ := slices.BinarySearch(s.at, math.Nextafter(t, math.Inf(1)))
	return i
}

// mean returns the mean of the times, without times beyond the last step.
func (s *steps) mean() (mean float64) {
	before := 1.0
	for i, at := range s.at {
		mean += float64(at * (before - s.above[i]))
		before = s.above[i]
	}
	return mean
}

// sweep looks for a plan. It passes the delays upwards, while the time t and the time t - delay fall: each of the two
// indexes only moves down, so a sweep over n delays takes O(n) steps.
type sweep struct {
	first, second   steps
	need, of, extra int
	// For the delay 0 and for each step of first, the probability that a second request after this delay wins. A delay
	// with a smaller one than leastWins is not allowed; 0 allows all delays.
	wins      []float64
	leastWins float64
	// The pairs of times that depend on each other; nil if the times are independent.
	joint *joint
	// The number of steps of first and second that are before the times that are looked at.
	i, j int
	// The probabilities that 0, 1, 2 and so on answers have come; memory of the method exceeds.
	come []float64
}

// plan returns the plan with the least load for which the percentile k is at most target. If target is negative or out
// of reach, plan returns the plan with the least load for the shortest percentile within the budget.
func (s *sweep) plan(k, budget, target float64) Plan {
	alone := s.alone(k)
	none := Plan{Time: alone, Alone: alone}
	if target >= alone {
		return none
	}
	if target >= 0 {
		if plan := s.least(k, target); plan.Send && plan.Load <= budget+rounding {
			plan.Alone = alone
			return plan
		}
	}
	best := s.shortest(k, budget, alone)
	if !(best < alone) {
		return none
	}
	plan := s.least(k, best)
	plan.Alone = alone
	return plan
}

// rewind starts a sweep: all steps are looked at.
func (s *sweep) rewind() {
	s.i, s.j = len(s.first.at), len(s.second.at)
	if s.joint != nil {
		s.joint.count = 0
	}
}

// lower removes the steps of first from t on, and the steps of second for which a second request after the delay
// answers from t on. If also is true, the steps at t itself stay.
func (s *sweep) lower(t, delay float64, also bool) {
	for s.i > 0 && (s.first.at[s.i-1] > t || s.first.at[s.i-1] == t && !also) {
		if s.i--; s.joint != nil {
			s.joint.slowFirst(s.i, s.j)
		}
	}
	for s.j > 0 {
		if end := delay + s.second.at[s.j-1]; end < t || end == t && also {
			break
		}
		if s.j--; s.joint != nil {
			s.joint.slowSecond(s.i, s.j)
		}
	}
}

// answered returns the probability that the operation is answered within the steps, without and with second requests.
func (s *sweep) answered() (alone, with float64) {
	longer := s.first.longer(s.i)
	switch {
	case s.joint != nil:
		return 1 - longer, 1 - longer + float64(s.joint.count)/float64(len(s.first.at))
	case s.of == 1 && s.extra == 1:
		return 1 - longer, 1 - float64(longer*s.second.longer(s.j))
	}
	late, still := s.exceeds(longer, s.second.longer(s.j))
	return 1 - late, 1 - still
}

// waiting returns the expected number of second requests for each first request if all are sent after the delay: the
// share of operations without an answer after the first i steps, times Extra/Of.
func (s *sweep) waiting(i int) float64 {
	longer := s.first.longer(i)
	if s.of == 1 && s.extra == 1 {
		return longer
	}
	late, _ := s.exceeds(longer, 1)
	return late * float64(s.extra) / float64(s.of)
}

// exceeds returns the probability that fewer than need answers have come: late of the first requests alone, and still
// with the extra requests. A first request has no answer yet with the probability first, and an extra request with the
// probability second.
func (s *sweep) exceeds(first, second float64) (late, still float64) {
	s.come = append(s.come[:0], 1)
	for range s.need - 1 {
		s.come = append(s.come, 0)
	}
	for range s.of {
		s.trial(first)
	}
	for _, p := range s.come {
		late += p
	}
	for range s.extra {
		s.trial(second)
	}
	for _, p := range s.come {
		still += p
	}
	return late, still
}

// trial adds a request that has no answer with the probability not.
func (s *sweep) trial(not float64) {
	for c := len(s.come) - 1; c > 0; c-- {
		s.come[c] = float64(s.come[c]*not) + float64(s.come[c-1]*(1-not))
	}
	s.come[0] *= not
}

// alone returns the percentile k without second requests.
func (s *sweep) alone(k float64) float64 {
	if s.of == 1 {
		return s.first.quantile(k)
	}
	least, most := 0, len(s.first.at)
	for least < most {
		mid := int(uint(least+most) >> 1)
		if late, _ := s.exceeds(s.first.longer(mid+1), 1); 1-late >= k-rounding {
			most = mid
		} else {
			least = mid + 1
		}
	}
	if least == len(s.first.at) {
		return math.Inf(1)
	}
	return s.first.at[least]
}

// delays calls visit for each allowed delay that can be best, ascending, with the expected number of second requests
// for each first request. It stops at the first delay above t: from there on, a second request is too late.
func (s *sweep) delays(t float64, visit func(delay, waiting float64)) {
	allowed := func(i int) bool { return s.leastWins == 0 || s.wins[i] >= s.leastWins }
	if allowed(0) {
		visit(0, s.waiting(0))
	}
	for i, at := range s.first.at {
		if at > t {
			return
		}
		if (i+1 == len(s.first.at) || s.first.at[i+1] > at) && allowed(i+1) {
			visit(at, s.waiting(i+1))
		}
	}
}

// shortest returns the shortest percentile k of all plans within the budget. It is at most t.
func (s *sweep) shortest(k, budget, t float64) float64 {
	s.rewind()
	s.delays(t, func(delay, waiting float64) {
		q := 1.0
		if waiting > budget {
			q = budget / waiting
		}
		s.lower(t, delay, false)
		for s.i+s.j > 0 {
			alone, with := s.answered()
			if alone+float64(q*(with-alone)) < k-rounding {
				return
			}
			t = 0
			if s.i > 0 {
				t = s.first.at[s.i-1]
			}
			if s.j > 0 {
				t = max(t, delay+s.second.at[s.j-1])
			}
			s.lower(t, delay, false)
		}
	})
	return t
}

// least returns the plan with the least load of all plans whose percentile k is at most t.
func (s *sweep) least(k, t float64) (best Plan) {
	s.rewind()
	s.delays(t, func(delay, waiting float64) {
		s.lower(t, delay, true)
		alone, with := s.answered()
		q := 1.0
		if need, gain := k-alone, with-alone; need < gain {
			q = need / gain
		} else if need > gain+rounding {
			return
		}
		if load := float64(q * waiting); !best.Send || load < best.Load-rounding {
			best = Plan{Send: true, Delay: delay, Probability: q, Load: load, Time: t}
		}
	})
	return best
}

// overtaken returns the probability that a second request after the delay wins, if the times are independent.
func (s *sweep) overtaken(delay float64) (wins float64) {
	i := s.first.passed(delay)
	late := s.first.longer(i)
	j, before := 0, late
	for ; i < len(s.first.at); i++ {
		for j < len(s.second.at) && delay+s.second.at[j] < s.first.at[i] {
			j++
		}
		wins += float64((before - s.first.above[i]) * (1 - s.second.longer(j)))
		before = s.first.above[i]
	}
	wins += float64(before * (1 - s.second.longer(len(s.second.at))))
	if late > 0 {
		wins /= late
	}
	return wins
}

// winPoints is the number of quantiles of the second time that stand for its distribution in the method allow.
const winPoints = 16

// allow computes the probability that a second request wins, for every delay, and allows only delays with at least the
// given one. The probability is the mean of P(X > d+y | X > d) over 16 quantiles y
// of the second time, which may be wrong by 1/32. O(n).
func (s *sweep) allow(least float64) {
	s.leastWins, s.wins = least, s.wins[:0]
	for range len(s.first.at) + 1 {
		s.wins = append(s.wins, 0)
	}
	for p := range winPoints {
		y := s.second.quantile((float64(p) + num.Half) / winPoints)
		delay, j := 0.0, 0
		for i := range s.wins {
			if i > 0 {
				delay = s.first.at[i-1]
			}
			for j < len(s.first.at) && s.first.at[j] <= delay+y {
				j++
			}
			if longer := s.first.longer(i); longer > 0 && !math.IsInf(y, 1) {
				s.wins[i] += float64(s.first.longer(j) / longer / winPoints)
			}
		}
	}
}

// root returns the n-th root of k, by bisection. A power is a product, so every machine gives the same result.
func root(k float64, n int) float64 {
	if n == 1 {
		return k
	}
	low, high := k, 1.0
	for {
		mid := low + float64((high-low)/2)
		switch {
		case mid == low || mid == high:
			return high
		case num.Power(mid, n) < k:
			low = mid
		default:
			high = mid
		}
	}
}

// joint counts pairs of dependent times: how many first requests are still without an answer, while the second request
// has come.
type joint struct {
	first, second steps
	// For each index into first.at, the index of the same pair in second.at, and the reverse.
	secondOf, firstOf []int
	// The number of pairs with a first time of at least first.at[i] and a second time before second.at[j].
	count int
}

// newJoint sorts the pairs.
func newJoint(pairs []Pair) *joint {
	n := len(pairs)
	byFirst, bySecond := make([]int, n), make([]int, n)
	for i := range n {
		byFirst[i], bySecond[i] = i, i
	}
	slices.SortFunc(byFirst, func(a, b int) int {
		return cmp.Or(cmp.Compare(pairs[a].First, pairs[b].First), cmp.Compare(a, b))
	})
	slices.SortFunc(bySecond, func(a, b int) int {
		return cmp.Or(cmp.Compare(pairs[a].Second, pairs[b].Second), cmp.Compare(a, b))
	})
	j := &joint{secondOf: make([]int, n), firstOf: make([]int, n)}
	rank := make([]int, n)
	for i, pair := range byFirst {
		rank[pair] = i
		j.first.add(pairs[pair].First, n)
	}
	for i, pair := range bySecond {
		j.second.add(pairs[pair].Second, n)
		j.firstOf[i], j.secondOf[rank[pair]] = rank[pair], i
	}
	return j
}

// add adds the next longer of n times.
func (s *steps) add(t float64, n int) {
	s.at = append(s.at, t)
	s.above = append(s.above, float64(n-len(s.at))/float64(n))
}

// slowFirst adds the pair whose first time is first.at[i].
func (p *joint) slowFirst(i, j int) {
	if p.secondOf[i] < j {
		p.count++
	}
}

// slowSecond removes the pair whose second time is second.at[j].
func (p *joint) slowSecond(i, j int) {
	if p.firstOf[j] >= i {
		p.count--
	}
}
