package hedge_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

const most = 12 // the longest time and the largest number of samples of the random problems

// curveOf returns the distribution of whole times.
func curveOf(times []int) *survival.Curve {
	var c survival.Curve
	for _, x := range times {
		c.Observe(float64(x), true)
	}
	c.Fit()
	return &c
}

// world is a random problem with whole times and rational choices: Percentile = kn/kd, and Budget = bn/bd.
type world struct {
	x, y           []int // pairs, if joint
	joint          bool
	kn, kd, bn, bd int
}

func drawWorld(r *rand.Rand) (w world) {
	draw := func() (list []int) {
		for range 1 + r.IntN(most) {
			list = append(list, r.IntN(most+1))
		}
		return list
	}
	w.x, w.y = draw(), draw()
	if w.joint = r.IntN(3) == 0; w.joint {
		n := min(len(w.x), len(w.y))
		w.x, w.y = w.x[:n], w.y[:n]
	}
	w.kd, w.bd = 2+r.IntN(20), 1+r.IntN(20)
	w.kn, w.bn = 1+r.IntN(w.kd-1), r.IntN(w.bd+1)
	return w
}

func (w world) problem() hedge.Problem {
	p := hedge.Problem{Percentile: float64(w.kn) / float64(w.kd), Budget: float64(w.bn) / float64(w.bd)}
	if !w.joint {
		p.First, p.Second = curveOf(w.x), curveOf(w.y)
		return p
	}
	for i := range w.x {
		p.Pairs = append(p.Pairs, hedge.Pair{First: float64(w.x[i]), Second: float64(w.y[i])})
	}
	return p
}

// parts returns three numbers of a common whole: of the operations, how many have an answer after t, how many more
// have one with a second request after d, and how many have none after d.
func (w world) parts(d, t int) (alone, more, waiting, whole int) {
	if !w.joint {
		x, y := upTo(w.x, t), upTo(w.y, t-d)
		whole = len(w.x) * len(w.y)
		return x * len(w.y), (len(w.x) - x) * y, (len(w.x) - upTo(w.x, d)) * len(w.y), whole
	}
	for i, x := range w.x {
		switch {
		case x <= t:
			alone++
		case d+w.y[i] <= t:
			more++
		}
		if x > d {
			waiting++
		}
	}
	return alone, more, waiting, len(w.x)
}

// upTo returns how many of the times are at most t.
func upTo(times []int, t int) (n int) {
	for _, x := range times {
		if x <= t {
			n++
		}
	}
	return n
}

// reaches reports whether the share k of the operations has an answer after t, if a second request is sent after d
// with the probability qn/qd.
func (w world) reaches(d, t, qn, qd int) bool {
	alone, more, _, whole := w.parts(d, t)
	return w.kd*(alone*qd+more*qn) >= w.kn*whole*qd
}

// best returns the shortest percentile over every whole delay, with the largest probability within the budget. If
// smaller is true, it checks that no smaller twelfth is better.
func (w world) best(smaller bool) int {
	best := math.MaxInt
	for d := range most + 1 {
		_, _, waiting, whole := w.parts(d, 0)
		qn, qd := 1, 1
		if waiting*w.bd > w.bn*whole {
			qn, qd = w.bn*whole, w.bd*waiting
		}
		for t := range 2*most + 1 {
			if t < best && w.reaches(d, t, qn, qd) {
				best = t
			}
		}
		for n := range 12 {
			if !smaller {
				break
			}
			for t := range min(best, 2*most+1) {
				if n*qd <= 12*qn && w.reaches(d, t, n, 12) {
					panic("a smaller probability is better")
				}
			}
		}
	}
	return best
}

// least returns the least load with which the percentile is at most t; +Inf if no plan reaches it.
func (w world) least(t int) float64 {
	least := math.Inf(1)
	for d := range most + 1 {
		alone, more, waiting, whole := w.parts(d, t)
		need := w.kn*whole - w.kd*alone // over kd
		if need <= 0 {
			return 0
		}
		if need <= w.kd*more {
			q := float64(need) / float64(w.kd*more)
			least = min(least, q*float64(waiting)/float64(whole))
		}
	}
	return least
}

// Best and Least agree with every delay and every probability, in whole numbers, on 20,000 random problems, or on
// 100,000 with STRAGGLER_LIVES.
func TestPlansAgainstEveryDelay(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	helped, reached := 0, 0
	problems := 20_000
	if os.Getenv("STRAGGLER_LIVES") != "" {
		problems = 100_000
	}
	for i := range problems {
		w := drawWorld(r)
		p := w.problem()
		best, err := p.Best()
		require.NoError(t, err)
		want := w.best(i%20 == 0)
		alone := 0
		for at := most; at >= 0 && w.reaches(0, at, 0, 1); at-- {
			alone = at
		}
		right := float64(alone) == best.Alone && float64(want) == best.Time && (want < alone) == best.Send
		if best.Send {
			helped++
			right = right && math.Abs(w.least(want)-best.Load) <= 1e-9 && best.Load <= p.Budget+1e-9
		}
		if !right {
			t.Fatalf("%+v: %v, want %v, and %d alone", w, best, want, alone)
		}
		target := r.IntN(most + 1)
		p.Budget = 1
		plan, err := p.Least(float64(target))
		require.NoError(t, err)
		load := w.least(target)
		switch {
		case load == 0:
			right = !plan.Send && plan.Time <= float64(target)
		case math.IsInf(load, 1):
			right = plan.Time > float64(target)
		default:
			reached++
			right = math.Abs(load-plan.Load) <= 1e-9 && plan.Time == float64(target)
		}
		if !right {
			t.Fatalf("%+v: %v, want a load of %v for the time %d", w, plan, load, target)
		}
	}
	assert.Greater(t, helped, problems*3/10)
	assert.Greater(t, reached, problems/10)
}

// above returns P(T > t) by the product limit, in rationals.
func above(times []int, killed []bool, t int) *big.Rat {
	s := big.NewRat(1, 1)
	for at := range t + 1 {
		ends, risk := 0, 0
		for i, x := range times {
			if x >= at {
				risk++
			}
			if x == at && !killed[i] {
				ends++
			}
		}
		if ends > 0 {
			s.Mul(s, big.NewRat(int64(risk-ends), int64(risk)))
		}
	}
	return s
}

// fewer returns the probability that fewer than need of the requests have come, by both outcomes of one request after
// the other.
func fewer(need int, late []*big.Rat) *big.Rat {
	switch {
	case need == 0:
		return new(big.Rat)
	case len(late) == 0:
		return big.NewRat(1, 1)
	}
	without, with := fewer(need, late[1:]), fewer(need-1, late[1:])
	return with.Add(with, without.Mul(late[0], without.Sub(without, with)))
}

// Plans for any m of n, for fan-outs and for cancelled requests agree with sums over all outcomes, in rationals. The
// test has 15 random problems, or 100 with STRAGGLER_LIVES.
func TestPlansOfManyRequestsInRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	one, helped := big.NewRat(1, 1), 0
	problems := 15
	if os.Getenv("STRAGGLER_LIVES") != "" {
		problems = 100
	}
	for range problems {
		w := drawWorld(r)
		xKilled, yKilled := make([]bool, len(w.x)), make([]bool, len(w.y))
		curves := [2]survival.Curve{}
		for i, x := range w.x {
			xKilled[i] = r.IntN(4) == 0
			curves[0].Observe(float64(x), !xKilled[i])
		}
		for i, y := range w.y {
			yKilled[i] = r.IntN(4) == 0
			curves[1].Observe(float64(y), !yKilled[i])
		}
		curves[0].Fit()
		curves[1].Fit()
		p := hedge.Problem{
			First: &curves[0], Second: &curves[1], Percentile: float64(w.kn) / float64(w.kd),
			Of: 1 + r.IntN(4), Extra: 1 + r.IntN(3), Fanout: 1 + r.IntN(3),
		}
		p.Need = 1 + r.IntN(p.Of)
		budget := new(big.Rat).Mul(big.NewRat(int64(w.bn), int64(w.bd)), big.NewRat(int64(p.Extra), int64(p.Of)))
		p.Budget, _ = budget.Float64()
		p.Budget = min(p.Budget, float64(p.Extra)/float64(p.Of))
		k := big.NewRat(int64(w.kn), int64(w.kd))

		late := func(d, at int) (alone, with *big.Rat) {
			list := []*big.Rat{}
			for range p.Of {
				list = append(list, above(w.x, xKilled, at))
			}
			alone = fewer(p.Need, list)
			for range p.Extra {
				if at < d {
					list = append(list, one)
				} else {
					list = append(list, above(w.y, yKilled, at-d))
				}
			}
			return alone, fewer(p.Need, list)
		}
		reaches := func(late *big.Rat) bool {
			in := new(big.Rat).Sub(one, late)
			all := big.NewRat(1, 1)
			for range p.Fanout {
				all.Mul(all, in)
			}
			return all.Cmp(k) >= 0
		}
		best, without := math.Inf(1), math.Inf(1)
		for d := range most + 1 {
			waiting, _ := late(0, d)
			waiting.Mul(waiting, big.NewRat(int64(p.Extra), int64(p.Of)))
			q := one
			if waiting.Cmp(budget) > 0 {
				q = new(big.Rat).Quo(budget, waiting)
			}
			for at := range 2*most + 1 {
				alone, with := late(d, at)
				if float64(at) < without && reaches(alone) {
					without = float64(at)
				}
				mixed := new(big.Rat).Add(alone, new(big.Rat).Mul(q, with.Sub(with, alone)))
				if float64(at) < best && reaches(mixed) {
					best = float64(at)
				}
			}
		}
		plan, err := p.Best()
		require.NoError(t, err)
		require.Equal(t, without, plan.Alone)
		require.Equal(t, best, plan.Time)
		if plan.Send {
			helped++
			require.LessOrEqual(t, plan.Load, p.Budget+1e-9)
		}
	}
	assert.Greater(t, helped, problems*15/100)
}
