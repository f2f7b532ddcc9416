package assign

import (
	"math"
	"slices"
	"time"
)

// gridSteps is the number of windows to try if p_c is a smooth function.
const gridSteps = 512

// search holds the best window so far.
type search struct {
	e       *evaluator
	least   float64 // expected seconds of the task with this window
	window  time.Duration
	sharing float64
}

// try keeps the window if it is better than the best window so far. sharing is p_c of the window.
func (s *search) try(window time.Duration, sharing float64) {
	if _, task := s.e.seconds(min(window.Seconds(), s.e.alone), sharing); task < s.least {
		s.least, s.window, s.sharing = task, window, sharing
	}
}

// choose tries every window that can be the best window, from short to long.
func (e *evaluator) choose() Choice {
	limit := duration(e.alone) // r/B
	s := search{e: e, least: math.Inf(1)}
	atOnce, inTurn := e.sharing(0), e.sharing(limit)
	s.try(0, atOnce)
	if e.model.InverseLag > 0 {
		for i := 1; i < gridSteps; i++ {
			window := duration(e.alone * (float64(i) / gridSteps))
			s.try(window, e.sharing(window))
		}
		if kappa := e.model.InverseLag; kappa < limit { // p_c begins to fall at κ
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

// tryLags tries each lag between 0 and r/B as a window.
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

// sharing returns p_c of a window.
func (e *evaluator) sharing(window time.Duration) float64 {
	if kappa := e.model.InverseLag; kappa > 0 {
		if window <= kappa {
			return 1
		}
		return kappa.Seconds() / window.Seconds()
	}
	return e.after(above(e.model.Lags, window))
}

// after returns p_c of a window that exceeds exactly the first i lags.
func (e *evaluator) after(i int) float64 {
	if len(e.late) > 0 {
		return e.late[i]
	}
	n := len(e.model.Lags)
	return float64(n-i) / float64(n)
}

// productLimit computes p_c after each lag. Each lag lowers the estimate by its share among all lags of equal or
// greater length, cut lags included.
func (e *evaluator) productLimit() {
	lags, cut := e.model.Lags, e.model.Cut
	late, cutBefore := 1.0, 0 // number of lags cut before this lag
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

// above returns the index of the first lag above the window.
func above(lags []time.Duration, window time.Duration) int {
	i, _ := slices.BinarySearchFunc(lags, window, func(lag, window time.Duration) int {
		if lag > window {
			return 1
		}
		return -1
	})
	return i
}
