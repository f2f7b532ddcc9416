package clone

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadConfigurations(t *testing.T) {
	budget := func(c Config) error { _, err := NewBudget(c); return err }
	estimator := func(c EstimatorConfig) error { _, err := NewEstimator(c); return err }
	blacklist := func(n int, c BlacklistConfig) error { _, err := NewBlacklist(n, c); return err }
	for _, b := range []struct {
		err  error
		want string
	}{
		{budget(Config{AcceptableRisk: 1}), "clone: AcceptableRisk is 1, want a probability in (0, 1), or 0 for the default"},
		{budget(Config{AcceptableRisk: Off}), "clone: AcceptableRisk is -1, want a probability in (0, 1), or 0 for the default"},
		{budget(Config{BudgetShare: math.NaN()}), "clone: BudgetShare is NaN, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{BudgetShare: 5}), "clone: BudgetShare is 5, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{Ceiling: -.5}), "clone: Ceiling is -0.5, want a share in (0, 1], 0 for the default, or Off"},
		{budget(Config{Charge: 2}), "clone: Charge is Charge(2), want AllCopies or ExtraCopies"},
		{budget(Config{Shortage: 3}), "clone: Shortage is Shortage(3), want Deny, FewerCopies or FirstTasks"},
		{estimator(EstimatorConfig{Period: -1}), "clone: Period is -1ns, want a positive duration, or 0 for the default"},
		{estimator(EstimatorConfig{Slow: 1.5}), "clone: Slow is 1.5, want a share in (0, 1], or 0 for the default"},
		{estimator(EstimatorConfig{MinTasks: -1}), "clone: MinTasks is -1, want a positive number, or 0 for the default"},
		{blacklist(-1, BlacklistConfig{}), "clone: machines is -1, want 0 or more"},
		{blacklist(1, BlacklistConfig{Window: -1}), "clone: Window is -1ns, want a positive duration, or 0 for the default"},
		{blacklist(1, BlacklistConfig{Recent: 2}), "clone: Recent is 2, want a weight in (0, 1], or 0 for the default"},
		{blacklist(1, BlacklistConfig{Threshold: 1}), "clone: Threshold is 1, want a probability in (0, 1), or 0 for the default"},
		{blacklist(1, BlacklistConfig{MaxShare: math.Inf(1)}), "clone: MaxShare is +Inf, want a share in (0, 1], or 0 for the default"},
		{blacklist(1, BlacklistConfig{MinTasks: -2}), "clone: MinTasks is -2, want a positive number, or 0 for the default"},
	} {
		assert.EqualError(t, b.err, b.want)
	}
}

func TestDefaultsAreReadBack(t *testing.T) {
	b, err := NewBudget(Config{Charge: ExtraCopies})
	require.NoError(t, err)
	assert.Equal(t, Config{AcceptableRisk: .05, BudgetShare: .05, Ceiling: .8, Charge: ExtraCopies}, b.Config())
	e, err := NewEstimator(EstimatorConfig{})
	require.NoError(t, err)
	assert.Equal(t, EstimatorConfig{Period: time.Hour, Slow: .5, MinTasks: 100}, e.Config())
	l, err := NewBlacklist(0, BlacklistConfig{Threshold: .2})
	require.NoError(t, err)
	assert.Equal(t, BlacklistConfig{Window: 5 * time.Minute, Recent: .5, Threshold: .2, MaxShare: .1, MinTasks: 3}, l.Config())
}

// Whatever the facts, there is an answer with a reason, and nothing is charged for a job that is not cloned.
func TestReasonsNotToClone(t *testing.T) {
	now := Cluster{Capacity: 1800, Straggler: .1}
	with := func(change func(*Cluster)) Cluster {
		c := now
		change(&c)
		return c
	}
	b, err := NewBudget(Config{})
	require.NoError(t, err)
	for _, c := range []struct {
		job  Job
		now  Cluster
		want string
	}{
		{Job{}, now, "single no-tasks"},
		{Job{Tasks: -1}, now, "single no-tasks"},
		{Job{Tasks: 5, NoDuplicate: true}, now, "single not-eligible"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = math.NaN() }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = 1 }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = -.1 }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = 0 }), "single one-suffices"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = .01 }), "single one-suffices"},
		{Job{Tasks: 5, Upstream: 1}, now, "single upstream-single"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Capacity = 0 }), "single over-budget wanted=2 spent=10/0 busy=10/0"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Capacity = -7 }), "single over-budget wanted=2 spent=10/0 busy=10/0"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Busy = 1431 }), "single over-ceiling wanted=2 spent=10/90 busy=1441/1440"},
	} {
		d := b.Admit(c.job, c.now)
		assert.Equal(t, c.want, d.String())
		assert.Equal(t, 1, d.Copies)
		assert.Equal(t, 1, d.CopiesOf(0))
		assert.Zero(t, d.Grant)
		assert.Zero(t, b.Spent())
	}
	// Numbers that would overflow saturate.
	d := b.Admit(Job{Tasks: math.MaxInt}, with(func(c *Cluster) { c.Busy = math.MaxInt }))
	assert.Equal(t, OverBudget, d.Reason)
	assert.Equal(t, math.MaxInt, d.Spent)
	d = b.Admit(Job{Tasks: 3}, with(func(c *Cluster) { c.Busy = -100 }))
	assert.Equal(t, "clone room-for-all copies=2 tasks=3 wanted=2 spent=6/90 busy=6/1440", d.String())
	assert.Equal(t, 6, b.Cancel(d.Grant))
}

// Without limits every job is cloned to its full count.
func TestOff(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off, Ceiling: Off, Shortage: FewerCopies})
	require.NoError(t, err)
	d := b.Admit(Job{Tasks: 1000}, Cluster{Capacity: 10, Busy: 10, Straggler: .1})
	assert.Equal(t, "clone room-for-all copies=5 tasks=1000 wanted=5 spent=5000/off busy=5010/off", d.String())
	assert.Equal(t, "[action=clone reason=room-for-all copies=5 tasks=1000 wanted=5 spent=5000 busy=5010]", d.LogValue().String())
	assert.Empty(t, b.Victims(nil, Job{Tasks: 10}, Cluster{Capacity: 10, Busy: 10, Straggler: .1}))
}

// A grant means nothing once its job is done, not even to the job that takes its place.
func TestDeadGrants(t *testing.T) {
	b, err := NewBudget(Config{})
	require.NoError(t, err)
	now := Cluster{Capacity: 1800, Straggler: .1}
	assert.Zero(t, b.Release(Grant{}, 1))
	first := b.Admit(Job{Tasks: 2}, now).Grant
	assert.Zero(t, b.Release(first, 0))
	assert.Zero(t, b.Release(first, -3))
	assert.Equal(t, 4, b.Release(first, 5), "two tasks of two copies, though five are named")
	second := b.Admit(Job{Tasks: 3}, now).Grant
	assert.NotEqual(t, first, second)
	assert.Zero(t, b.Cancel(first))
	assert.Equal(t, 6, b.Spent())
	other, err := NewBudget(Config{})
	require.NoError(t, err)
	assert.Zero(t, other.Cancel(second), "of another budget")
}

// Giving back does not allocate, nor does admitting again, however many jobs end at once.
func TestManyJobsEndAtOnce(t *testing.T) {
	budget, now := crowded(t, 1000)
	grants := budget.Victims(nil, Job{Tasks: 1}, Cluster{Capacity: 40, Straggler: .1})
	require.Len(t, grants, 1000)
	assert.Zero(t, testing.AllocsPerRun(400, func() {
		budget.Cancel(grants[len(grants)-1])
		grants = grants[:len(grants)-1]
	}))
	for _, g := range grants {
		budget.Cancel(g)
	}
	assert.Zero(t, budget.Spent())
	assert.Zero(t, testing.AllocsPerRun(900, func() { budget.Admit(Job{Tasks: 2}, now) }))
	assert.Equal(t, 901*4, budget.Spent(), "with the run that AllocsPerRun warms up by")
}

// Who has to go for a smaller job, and that nobody goes in vain.
func TestVictims(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off})
	require.NoError(t, err)
	now := Cluster{Capacity: 100, Busy: 50, Straggler: .1} // the ceiling is 80
	large := b.Admit(Job{Tasks: 5}, now).Grant             // 10 slots
	now.Busy += 10
	small := b.Admit(Job{Tasks: 4}, now).Grant // 8 slots
	now.Busy += 8
	require.NotZero(t, small)
	require.Equal(t, 68, now.Busy)

	assert.Empty(t, b.Victims(nil, Job{Tasks: 3}, now), "68 + 6 is below the ceiling")
	now.Busy = 80 - 2*3 + 5
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 3}, now), "5 slots over, and 5 extra copies")
	now.Busy++
	assert.Equal(t, []Grant{large, small}, b.Victims(nil, Job{Tasks: 3}, now), "one more")
	assert.Equal(t, []Grant{{}, large, small}, b.Victims([]Grant{{}}, Job{Tasks: 3}, now), "appended")
	now.Busy = 80 - 2*3 + 9
	assert.Len(t, b.Victims(nil, Job{Tasks: 3}, now), 2)
	now.Busy++
	assert.Empty(t, b.Victims(nil, Job{Tasks: 3}, now), "all of both would not do")
	now.Busy = 80 - 2*4 + 1
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 4}, now))
	b.Cancel(large)
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4}, now), "a job of the same size is not larger")
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4, NoDuplicate: true}, now))
}

func TestLosers(t *testing.T) {
	for _, c := range []struct {
		copies []State
		want   int
		losers []int
	}{
		{nil, 1, nil},
		{[]State{Running, Running}, 1, nil},
		{[]State{Running, Running}, 0, nil},
		{[]State{Failed, Running}, 1, nil},
		{[]State{Running, Finished, Running}, 1, []int{0, 2}},
		{[]State{Running, Finished, Running}, 0, []int{0, 2}},
		{[]State{Finished, Finished, Failed}, 1, nil},
		{[]State{Finished, Running, Running}, 2, nil},
		{[]State{Finished, Running, Finished}, 2, []int{1}},
	} {
		assert.Equal(t, c.losers, Losers(nil, c.copies, c.want), "%v", c)
	}
	assert.Equal(t, []int{7, 1}, Losers([]int{7}, []State{Finished, Running}, 1), "appended")
}

func TestEstimatorLeavesOutWhatIsNoRate(t *testing.T) {
	e, err := NewEstimator(EstimatorConfig{MinTasks: 4})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	assert.Zero(t, e.Observe(now, []float64{5}))
	assert.Zero(t, e.Observe(now, []float64{math.NaN(), math.Inf(1), -1, 5}))
	p, known := e.P(now)
	assert.False(t, known)
	assert.True(t, math.IsNaN(p))
	rates := []float64{9, 0, 11, math.NaN(), 10}
	assert.Equal(t, 1, e.Observe(now, rates))
	assert.Equal(t, 9., rates[0], "the argument is not changed")
	p, known = e.P(now)
	assert.True(t, known)
	assert.Equal(t, .25, p)
	assert.Equal(t, 0, e.Observe(now, []float64{math.MaxFloat64, math.MaxFloat64}), "no overflow of the median")
	assert.Equal(t, 2, e.Observe(now, []float64{1, 3, 10, 12}), "the median is 6.5, not 3")
	assert.Equal(t, 1, e.Observe(now, []float64{1, 4, 10, 12}), "the median is 7, not 10")
}

// A period without enough tasks runs on, and a clock that steps back loses nothing.
func TestEstimatorPeriods(t *testing.T) {
	e, err := NewEstimator(EstimatorConfig{MinTasks: 5})
	require.NoError(t, err)
	now := time.Unix(1e6, 0)
	e.Observe(now, []float64{10, 10, 10, 1})
	now = now.Add(90 * time.Minute)
	_, known := e.P(now)
	assert.False(t, known, "four tasks are too few")
	now = now.Add(-80 * time.Minute)
	e.Observe(now, []float64{10, 10, 10, 10})
	p, _ := e.P(now)
	assert.Equal(t, .125, p, "one of eight so far")
	now = now.Add(-4 * time.Hour)
	e.Observe(now, []float64{10, 10, 10, 10, 10, 1, 1, 1})
	p, _ = e.P(now)
	assert.Equal(t, .25, p, "four of sixteen: the step back closed no period")
	p, _ = e.P(now.Add(2 * time.Hour))
	assert.Equal(t, .25, p)
}

func TestBlacklistMachinesJoinAndLeave(t *testing.T) {
	b, err := NewBlacklist(10, BlacklistConfig{MinTasks: 1, Recent: 1, MaxShare: .2})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	assert.False(t, b.Observe(now, 10, true))
	assert.False(t, b.Observe(now, -1, true))
	for _, machine := range []int{9, 4, 6} {
		assert.True(t, b.Observe(now, machine, true))
	}
	b.Observe(now, 4, false)
	now = now.Add(5 * time.Minute)
	assert.Equal(t, []int{6, 9}, b.AppendBanned(nil, now), "the two worst of three")
	b.Resize(8)
	assert.Equal(t, []int{6}, b.AppendBanned(nil, now))
	b.Resize(10)
	assert.False(t, b.Banned(now, 9), "a new machine has no past")
	_, known := b.Predicted(9)
	assert.False(t, known)
	assert.False(t, b.Banned(now, 99))
	b.Observe(now, 6, true)
	assert.Empty(t, b.AppendBanned(nil, now.Add(10*time.Minute)), "what was seen is a window old")
	b.Resize(-3)
	assert.Empty(t, b.AppendBanned(nil, now))
}

func TestNames(t *testing.T) {
	assert.Equal(t, "extra-copies", ExtraCopies.String())
	assert.Equal(t, "first-tasks", FirstTasks.String())
	assert.Equal(t, "Action(7)", Action(7).String())
	assert.Equal(t, "no-tasks", NoTasks.String())
	assert.Equal(t, "Reason(77)", Reason(77).String())
	assert.Equal(t, "failed", Failed.String())
	assert.Equal(t, "State(5)", State(5).String())
	assert.Equal(t, "Scheme(8)", Scheme(8).String())
	var d Decision
	assert.Equal(t, "single no-reason", d.String())
	assert.Equal(t, slog.KindGroup, d.LogValue().Kind())
}
