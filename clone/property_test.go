package clone

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The least c with (1-p^c)^n ≥ 1-ε, in exact rational arithmetic.
func exactCount(n int, p, eps *big.Rat) int {
	one := big.NewRat(1, 1)
	bar := new(big.Rat).Sub(one, eps)
	pc := new(big.Rat).Set(p)
	for c := 1; ; c++ {
		fine := new(big.Rat).Sub(one, pc)
		all := new(big.Rat).SetFrac(
			new(big.Int).Exp(fine.Num(), big.NewInt(int64(n)), nil),
			new(big.Int).Exp(fine.Denom(), big.NewInt(int64(n)), nil))
		if all.Cmp(bar) >= 0 {
			return c
		}
		pc.Mul(pc, p)
	}
}

func TestCountIsExactOnDecimals(t *testing.T) {
	check := func(n int, p, eps *big.Rat) {
		fp, _ := p.Float64()
		feps, _ := eps.Float64()
		c, err := Count(n, fp, feps)
		require.NoError(t, err)
		require.Equal(t, exactCount(n, p, eps), c, "Count(%d, %v, %v)", n, fp, feps)
	}
	for n := 1; n <= 12; n++ {
		for p := int64(1); p <= 9; p++ {
			for eps := int64(1); eps <= 20; eps++ {
				check(n, big.NewRat(p, 10), big.NewRat(eps, 100))
			}
		}
	}
	source := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		check(1+source.IntN(60), big.NewRat(1+source.Int64N(899), 1000), big.NewRat(1+source.Int64N(999), 1000))
	}
	// Exactly on the boundary: ε = 1-(1-p^c)^n.
	for range 300 {
		n, c, p := 1+source.IntN(8), 1+source.IntN(4), big.NewRat(1+source.Int64N(80), 100)
		fine := big.NewRat(1, 1)
		for range c {
			fine.Mul(fine, p)
		}
		fine.Sub(big.NewRat(1, 1), fine)
		all := big.NewRat(1, 1)
		for range n {
			all.Mul(all, fine)
		}
		check(n, p, new(big.Rat).Sub(big.NewRat(1, 1), all))
	}
}

// c copies keep the risk and c-1 would not, over the whole range of arguments.
func TestCountIsEnoughAndNoMore(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := 1 + int(math.Exp(source.Float64()*20))
		p := math.Exp(-20 * source.Float64())
		if source.IntN(2) == 0 {
			p = 1 - p
		}
		eps := math.Exp(-600 * source.Float64())
		if p == 0 || p == 1 || eps == 1 {
			continue
		}
		c, err := Count(n, p, eps)
		require.NoError(t, err)
		require.LessOrEqual(t, risk(t, TaskLevel, n, c, p), eps*(1+1e-6), "n=%d p=%v eps=%v c=%d", n, p, eps, c)
		if c > 1 {
			require.Greater(t, risk(t, TaskLevel, n, c-1, p), eps*(1-1e-6), "n=%d p=%v eps=%v c=%d", n, p, eps, c)
		}
	}
}

func TestCountAtTheExtremes(t *testing.T) {
	for _, b := range []struct {
		n      int
		p, eps float64
		want   int
	}{
		{1, 0, .05, 1},
		{1000, 0, 1e-300, 1},
		{1, .5, 1, 1},
		{1, .999, math.Inf(1), 1},
		{1, 5e-324, 5e-324, 1},
		{1, .5, 5e-324, 1074}, // the least float64 is 2^-1074
		{1 << 30, .5, 5e-324, 1074 + 30},
	} {
		c, err := Count(b.n, b.p, b.eps)
		require.NoError(t, err)
		assert.Equal(t, b.want, c, "%+v", b)
	}
	c, err := Count(math.MaxInt, math.Nextafter(1, 0), 5e-324)
	require.NoError(t, err)
	assert.Positive(t, c, "no overflow")
}

func TestBadArguments(t *testing.T) {
	for _, b := range []struct {
		n, c   int
		p, eps float64
		want   string
	}{
		{0, 1, .1, .05, "clone: n is 0, want 1 task or more"},
		{-3, 1, .1, .05, "clone: n is -3, want 1 task or more"},
		{1, 1, 1, .05, "clone: p is 1, want a probability in [0, 1)"},
		{1, 1, -.1, .05, "clone: p is -0.1, want a probability in [0, 1)"},
		{1, 1, math.NaN(), .05, "clone: p is NaN, want a probability in [0, 1)"},
		{1, 1, .1, 0, "clone: eps is 0, want a risk above 0"},
		{1, 1, .1, -1, "clone: eps is -1, want a risk above 0"},
		{1, 1, .1, math.NaN(), "clone: eps is NaN, want a risk above 0"},
		{1, 0, .1, 1, "clone: c is 0, want 1 copy or more"},
		{1, 1001, .1, 1, "clone: c is 1001, want at most 1000 copies for avoidance"},
	} {
		_, err := Count(b.n, b.p, b.eps)
		if b.eps == 1 {
			_, err = Risk(Avoidance, b.n, b.c, b.p)
		}
		assert.EqualError(t, err, b.want)
	}
	_, err := Risk(Scheme(9), 1, 1, .1)
	assert.EqualError(t, err, "clone: the scheme is Scheme(9), want a named one")
}

// The stable forms against the plain ones in 200-bit arithmetic, also where the risk is far below the precision of 1.
func TestRiskKeepsItsDigits(t *testing.T) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
	sub := func(x, y *big.Float) *big.Float { return num(0).Sub(x, y) }
	pow := func(x *big.Float, n int) *big.Float {
		r := num(1)
		for range n {
			r.Mul(r, x)
		}
		return r
	}
	psi := func(n, c, d int, p *big.Float) *big.Float {
		if d > c {
			return num(0)
		}
		sum := num(0)
		for i := 0; i <= c-d; i++ {
			ways := num(0).SetInt(new(big.Int).Binomial(int64(c), int64(i)))
			sum.Add(sum, mul(ways, mul(pow(p, i), pow(sub(num(1), p), c-i))))
		}
		return pow(sum, n)
	}
	for _, n := range []int{1, 2, 10, 60} {
		for _, c := range []int{1, 2, 3, 6, 12} {
			for _, p := range []float64{1e-9, .001, .08, .5, .9, 1 - 1e-9} {
				bp := num(p)
				bar := func(k int) *big.Float { return pow(sub(num(1), pow(bp, k)), n) }
				cac := num(1)
				for d := 1; d <= c; d++ {
					cac.Sub(cac, mul(sub(psi(n, c, d, bp), psi(n, c, d+1, bp)), bar(d)))
				}
				for s, want := range map[Scheme]*big.Float{
					TaskLevel:  sub(num(1), bar(c)),
					JobLevel:   pow(sub(num(1), bar(1)), c),
					Contention: sub(num(1), mul(bar(c), bar(c))),
					Avoidance:  cac,
				} {
					exact, _ := want.Float64()
					assert.InEpsilon(t, exact, risk(t, s, n, c, p), 1e-12, "%v n=%d c=%d p=%v", s, n, c, p)
				}
			}
		}
	}
}

// A tail taken as 1 less the rest has lost its digits: P(Bin(12, 0.001) > 5) comes out 3 % short that way.
func TestTailKeepsItsDigits(t *testing.T) {
	tail, rest := 0.0, 0.0
	for i := 0; i <= 12; i++ {
		if i > 5 {
			tail += binomial(12, i, .001)
		} else {
			rest += binomial(12, i, .001)
		}
	}
	assert.InEpsilon(t, 9.193e-16, tail, 1e-3) // 924 p^6 q^6 + 792 p^7 q^5 + ...
	assert.Greater(t, math.Abs((1-rest)/tail-1), .01)
}

// Schemes in the order of their risk; more copies never hurt, more tasks and a larger p never help.
func TestRiskIsOrdered(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 3))
	const slack = 1 + 1e-12
	for range 3000 {
		n, c, p := 1+source.IntN(200), 1+source.IntN(12), source.Float64()
		r := func(s Scheme) float64 { return risk(t, s, n, c, p) }
		require.LessOrEqual(t, r(TaskLevel), r(JobLevel)*slack)
		require.LessOrEqual(t, r(TaskLevel), r(Contention)*slack)
		require.LessOrEqual(t, r(Contention), r(Avoidance)*slack)
		require.LessOrEqual(t, r(Avoidance), r(RandomAvoidance)*slack)
		for s := TaskLevel; s <= RandomAvoidance; s++ {
			require.LessOrEqual(t, risk(t, s, n, c+1, p), r(s)*slack, "%v n=%d c=%d p=%v", s, n, c, p)
			require.GreaterOrEqual(t, risk(t, s, n+1, c, p)*slack, r(s), "%v n=%d c=%d p=%v", s, n, c, p)
			require.GreaterOrEqual(t, risk(t, s, n, c, p+(1-p)/2)*slack, r(s), "%v n=%d c=%d p=%v", s, n, c, p)
			require.True(t, r(s) >= 0 && r(s) <= 1)
		}
	}
	for s := TaskLevel; s <= RandomAvoidance; s++ {
		assert.Zero(t, risk(t, s, 10, 3, 0), s)
		for _, p := range []float64{math.Nextafter(1, 0), 1 - 1e-12} {
			for _, c := range []int{1, 2, 5, 1000} {
				assert.InDelta(t, 1, risk(t, s, 10, c, p), 1e-6, "%v c=%d", s, c)
			}
		}
	}
	assert.False(t, math.IsNaN(risk(t, Avoidance, 1e9, MaxCopies, .5)))
}

// What partial cloning and first come first served grant, against trying every count.
func TestPartialGrantsAreTheLargestThatFit(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 4))
	for range 20000 {
		config := Config{Charge: Charge(source.IntN(2)), Shortage: Shortage(source.IntN(3)), BudgetShare: .5, Ceiling: .9}
		if source.IntN(5) == 0 {
			config.BudgetShare = Off
		}
		if source.IntN(5) == 0 {
			config.Ceiling = Off
		}
		budget, err := NewBudget(config)
		require.NoError(t, err)
		now := Cluster{Capacity: 10 * source.IntN(8), Busy: source.IntN(40), Straggler: .4}
		budget.Admit(Job{Tasks: 1 + source.IntN(3)}, now)
		before := budget.Spent()
		job := Job{Tasks: 1 + source.IntN(12)}
		d := budget.Admit(job, now)

		fits := func(copies, tasks int) bool {
			charge := copies * tasks
			if config.Charge == ExtraCopies {
				charge -= tasks
			}
			spent := before + charge
			busy := now.Busy + job.Tasks + (copies-1)*tasks
			return (config.BudgetShare == Off || spent <= now.Capacity/2) && (config.Ceiling == Off || busy <= now.Capacity/10*9)
		}
		wanted := count(job.Tasks, .4, .05)
		copies, tasks := 1, 0
		switch {
		case fits(wanted, job.Tasks):
			copies, tasks = wanted, job.Tasks
		case config.Shortage == FewerCopies:
			for c := 2; c < wanted; c++ {
				if fits(c, job.Tasks) {
					copies, tasks = c, job.Tasks
				}
			}
		case config.Shortage == FirstTasks:
			for k := 1; k < job.Tasks; k++ {
				if fits(wanted, k) {
					copies, tasks = wanted, k
				}
			}
		}
		require.Equal(t, [2]int{copies, tasks}, [2]int{d.Copies, d.Tasks}, "%+v %+v %+v spent %d: %v", config, job, now, before, d)
		launched := 0
		for i := range job.Tasks {
			launched += d.CopiesOf(i)
		}
		require.Equal(t, job.Tasks+(copies-1)*tasks, launched)
		require.Equal(t, Clone == d.Action, d.Spent == budget.Spent() && d.Spent > before)
	}
}

// Shares of the capacity are decimals: 0.29 of 100 slots is 29.
func TestSlotsOfDecimalShares(t *testing.T) {
	for capacity := 0; capacity < 2000; capacity += 7 {
		for percent := 1; percent <= 100; percent++ {
			require.Equal(t, capacity*percent/100, slots(float64(percent)/100, capacity), "%d%% of %d", percent, capacity)
		}
	}
	for _, capacity := range []int{1e9, 1_000_000_007, 99_999_999} {
		for permille := 1; permille <= 1000; permille++ {
			want := new(big.Int).Mul(big.NewInt(int64(capacity)), big.NewInt(int64(permille)))
			require.Equal(t, int(want.Div(want, big.NewInt(1000)).Int64()), slots(float64(permille)/1000, capacity))
		}
	}
	assert.Zero(t, slots(.5, -4))
	assert.Equal(t, math.MaxInt, slots(1, math.MaxInt))
}

// A blacklist never takes out more than its share, whatever happens, and bans only what is above the threshold.
func TestBlacklistKeepsItsCap(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 5))
	b, err := NewBlacklist(30, BlacklistConfig{MaxShare: .2, MinTasks: 1})
	require.NoError(t, err)
	now, bans := time.Unix(0, 0), 0
	for range 3000 {
		for range 30 {
			b.Observe(now, source.IntN(32)-1, source.IntN(3) > 0)
		}
		now = now.Add(time.Duration(source.IntN(400)) * time.Second)
		banned := b.AppendBanned(nil, now)
		bans += len(banned)
		require.LessOrEqual(t, len(banned), 6)
		for i := range 30 {
			p, _ := b.Predicted(i)
			if b.Banned(now, i) {
				require.Greater(t, p, .3)
				require.Contains(t, banned, i)
			}
		}
	}
	assert.Positive(t, bans)
}
