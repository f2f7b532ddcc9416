package clone

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/clone/risk"
)

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
		{1, .5, 5e-324, 1074}, // the smallest float64 is 2^-1074
		{1 << 30, .5, 5e-324, 1074 + 30},
	} {
		c, err := Count(b.n, b.p, b.eps)
		require.NoError(t, err)
		assert.Equal(t, b.want, c, "%+v", b)
	}
	c, err := Count(math.MaxInt, math.Nextafter(1, 0), 5e-324)
	require.NoError(t, err)
	assert.Positive(t, c, "the count must not overflow")
}

// exactCount returns the smallest c with (1-p^c)^n ≥ 1-ε, in exact rational arithmetic.
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
	// These arguments meet the bound exactly: ε = 1-(1-p^c)^n.
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

func straggling(t *testing.T, n, c int, p float64) float64 {
	t.Helper()
	r, err := risk.Of(risk.TaskLevel, n, c, p)
	require.NoError(t, err)
	return r
}

// With c clones the risk is within the bound, and with c-1 clones it is not, over the whole range of arguments.
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
		if c < math.MaxInt { // on 32 bits, some counts do not fit
			require.LessOrEqual(t, straggling(t, n, c, p), eps*(1+1e-6), "n=%d p=%v eps=%v c=%d", n, p, eps, c)
		}
		if c > 1 {
			require.Greater(t, straggling(t, n, c-1, p), eps*(1-1e-6), "n=%d p=%v eps=%v c=%d", n, p, eps, c)
		}
	}
}

// Partial cloning and first come first served grant the largest number that fits, compared with a trial of every number.
func TestPartialGrantsAreTheLargestThatFit_33(t *testing.T) {
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

		fits := func(clones, tasks int) bool {
			charge := clones * tasks
			if config.Charge == ExtraClones {
				charge -= tasks
			}
			spent := before + charge
			busy := now.Busy + job.Tasks + (clones-1)*tasks
			return (config.BudgetShare == Off || spent <= now.Capacity/2) && (config.Ceiling == Off || busy <= now.Capacity/10*9)
		}
		wanted := count(job.Tasks, .4, .05)
		clones, tasks := 1, 0
		switch {
		case fits(wanted, job.Tasks):
			clones, tasks = wanted, job.Tasks
		case config.Shortage == FewerClones:
			for c := 2; c < wanted; c++ {
				if fits(c, job.Tasks) {
					clones, tasks = c, job.Tasks
				}
			}
		case config.Shortage == FirstTasks:
			for k := 1; k < job.Tasks; k++ {
				if fits(wanted, k) {
					clones, tasks = wanted, k
				}
			}
		}
		require.Equal(t, [2]int{clones, tasks}, [2]int{d.Clones, d.Tasks}, "%+v %+v %+v spent %d: %v", config, job, now, before, d)
		launched := 0
		for i := range job.Tasks {
			launched += d.ClonesOf(i)
		}
		require.Equal(t, job.Tasks+(clones-1)*tasks, launched)
		require.Equal(t, Clone == d.Action, d.Spent == budget.Spent() && d.Spent > before)
	}
}

// A blacklist never bans more than MaxShare of the machines. A blacklist bans only machines above the threshold.
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
