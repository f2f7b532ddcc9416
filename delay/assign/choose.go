package assign

import (
	"math"
	"slices"
	"time"
)

// gridSteps is the number of windows that choose tries if Model.InverseLag is set. The probability of sharing is then
// a smooth function of the window.
const gridSteps = 512

// search is the state of the search for the best window. A window is the longest time that a clone waits for an
// output that no other clone of its task reads.
type search struct {
	e       *evaluator
	least   float64 // expected seconds of the task with the best window so far
	window  time.Duration
	sharing float64 // probability that a clone must share an output with this window
}

// try compares a window with the best window so far, and stores it if it is better. sharing is the probability
// that a clone must share an output with this window.
func (s *search) try(window time.Duration, sharing float64) {
	if _, task := s.e.seconds(min(window.Seconds(), s.e.alone), sharing); task < s.least {
		s.least, s.window, s.sharing = task, window, sharing
	}
}

// choose returns the best window and its effects. A window is the longest time that a clone waits for an output that
// it can read alone. choose tries every window that can be the best, the shortest first.
func (e *evaluator) choose() Choice {
	limit := duration(e.alone) // the duration of a read without sharing; r/B in the paper
	s := search{e: e, least: math.Inf(1)}
	atOnce, inTurn := e.sharing(0), e.sharing(limit)
	s.try(0, atOnce)
	if e.model.InverseLag > 0 {
		for i := 1; i < gridSteps; i++ {
			window := duration(e.alone * (float64(i) / gridSteps))
			s.try(window, e.sharing(window))
		}
		if kappa := e.model.InverseLag; kappa < limit { // the probability of sharing begins to fall at κ
			s.try(kappa, e.sharing(kappa))
		}
	} else {
		e.tryLags(&s, limit)
	}
	s.try(limit, inTurn)
	return Choice{
		Outcome: e.outcome(s.window, s.sharing), AtOnce: e.outcome(0, atOnce), InTurn: e.outcome(limit, inTurn),
	}
}

// tryLags tries each lag between 0 and limit as a window. A lag is a sample of the time that a clone waited for an
// output that it can read alone.
func (e *evaluator) tryLags(s *search, limit time.Duration) {
	lags := e.model.Lags
	for i := above(lags, 0); i < len(lags) && lags[i] < limit; {
		window := lags[i]
		for i < len(lags) && lags[i] == window {
			i++
		}
		s.try(window, e.after(i))
	}
}

// sharing returns the probability that a clone, within the window, gets no output that it can read alone, so that it
// must share an output.
func (e *evaluator) sharing(window time.Duration) float64 {
	if kappa := e.model.InverseLag; kappa > 0 {
		if window <= kappa {
			return 1
		}
		return kappa.Seconds() / window.Seconds()
	}
	return e.after(above(e.model.Lags, window))
}

// after returns the probability that a clone must share an output, for a window that is longer than exactly the
// first i lags.
func (e *evaluator) after(i int) float64 {
	if len(e.late) > 0 {
		return e.late[i]
	}
	n := len(e.model.Lags)
	return float64(n-i) / float64(n)
}

// productLimit computes, for each lag, the probability that a clone must share if the window is a little longer than
// this lag. A lag is a sample of how long a clone waited for an output that it can read alone. A cut lag is a wait
// that ended early, because the clone had to share. Let m be the number of lags and cut lags that are at least as
// long as a given lag. Then each lag multiplies the probability by 1-1/m. This is the estimate of Kaplan and Meier.
func (e *evaluator) productLimit() {
	lags, cut := e.model.Lags, e.model.Cut
	late, cutBefore := 1.0, 0 // cutBefore is the number of cut lags that are shorter than the present lag
	e.late = append(e.late, late)
	for i, lag := range lags {
		if lag == Forever {
			e.late = append(e.late, late)
			continue
		}
		for cutBefore < len(cut) && cut[cutBefore] < lag {
			cutBefore++
		}
		risk := float64(len(lags) - i + len(cut) - cutBefore)
		late *= (risk - 1) / risk
		e.late = append(e.late, late)
	}
}

// above returns the index of the first lag that is longer than the window.
func above(lags []time.Duration, window time.Duration) int {
	i, _ := slices.BinarySearchFunc(lags, window, func(lag, window time.Duration) int {
		if lag > window {
			return 1
		}
		return -1
	})
	return i
}
