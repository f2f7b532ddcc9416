package clone

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Admit answers every job with a reason. Admit charges no slots for a job that is not cloned.
func TestReasonsNotToClone_33(t *testing.T) {
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
		{Job{Tasks: 5, NoCopy: true}, now, "single not-eligible"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = math.NaN() }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = 1 }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = -.1 }), "single no-estimate"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = 0 }), "single one-suffices"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Straggler = .01 }), "single one-suffices"},
		{Job{Tasks: 5, Upstream: 1}, now, "single upstream-single"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Capacity = 0 }), "single over-budget wanted=2 spent=10 budget=0 busy=10 ceiling=0"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Capacity = -7 }), "single over-budget wanted=2 spent=10 budget=0 busy=10 ceiling=0"},
		{Job{Tasks: 5}, with(func(c *Cluster) { c.Busy = 1431 }), "single over-ceiling wanted=2 spent=10 budget=90 busy=1441 ceiling=1440"},
	} {
		d := b.Admit(c.job, c.now)
		assert.Equal(t, c.want, d.String())
		assert.Equal(t, 1, d.Clones)
		assert.Equal(t, 1, d.ClonesOf(0))
		assert.Zero(t, d.Grant)
		assert.Zero(t, b.Spent())
	}
	// Numbers that are too large for an int are replaced by the largest int.
	d := b.Admit(Job{Tasks: math.MaxInt}, with(func(c *Cluster) { c.Busy = math.MaxInt }))
	assert.Equal(t, OverBudget, d.Reason)
	assert.Equal(t, math.MaxInt, d.Spent)
	d = b.Admit(Job{Tasks: 3}, with(func(c *Cluster) { c.Busy = -100 }))
	assert.Equal(t, "clone room-for-all clones=2 tasks=3 wanted=2 spent=6 budget=90 busy=6 ceiling=1440", d.String())
	assert.Equal(t, 6, b.Cancel(d.Grant))
}

// Without limits every job gets the full number of clones.
func TestOff(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off, Ceiling: Off, Shortage: FewerClones})
	require.NoError(t, err)
	d := b.Admit(Job{Tasks: 1000}, Cluster{Capacity: 10, Busy: 10, Straggler: .1})
	assert.Equal(t, "clone room-for-all clones=5 tasks=1000 wanted=5 spent=5000 budget=off busy=5010 ceiling=off", d.String())
	assert.Equal(t, "[action=clone reason=room-for-all clones=5 tasks=1000 wanted=5 spent=5000 budget=<nil> busy=5010 ceiling=<nil>]", d.LogValue().String())
	assert.Empty(t, b.Victims(nil, Job{Tasks: 10}, Cluster{Capacity: 10, Busy: 10, Straggler: .1}))
}

// A grant is no longer valid after its job has ended, even if another job uses the same entry.
func TestEndedGrantsAreInvalid(t *testing.T) {
	b, err := NewBudget(Config{})
	require.NoError(t, err)
	now := Cluster{Capacity: 1800, Straggler: .1}
	assert.Zero(t, b.Release(Grant{}, 1))
	first := b.Admit(Job{Tasks: 2}, now).Grant
	assert.Zero(t, b.Release(first, 0))
	assert.Zero(t, b.Release(first, -3))
	assert.Equal(t, 4, b.Release(first, 5), "Release must count only the two running tasks, with two clones each")
	second := b.Admit(Job{Tasks: 3}, now).Grant
	assert.NotEqual(t, first, second)
	assert.Zero(t, b.Cancel(first))
	assert.Equal(t, 6, b.Spent())
	other, err := NewBudget(Config{})
	require.NoError(t, err)
	assert.Zero(t, other.Cancel(second), "a grant of another budget must be invalid")
}

// Cancelling does not allocate, and admitting the same number of jobs again does not allocate either.
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
	assert.Equal(t, 901*4, budget.Spent(), "AllocsPerRun makes one more run to warm up")
}

// Shares of the capacity are decimal numbers: 0.29 of 100 slots is 29 slots.
func TestSlotsOfDecimalShares(t *testing.T) {
	for capacity := 0; capacity < 2000; capacity += 7 {
		for percent := 1; percent <= 100; percent++ {
			require.Equal(t, capacity*percent/100, slots(float64(percent)/100, capacity), "%d %% of %d slots", percent, capacity)
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

// A number of clones that does not fit in an int is above every limit, even if there is no limit. If the largest
// int were charged instead, it could not be given back.
func TestOverflowIsOverAnyLimit(t *testing.T) {
	for _, shortage := range []Shortage{Deny, FewerClones, FirstTasks} {
		for _, charge := range []Charge{AllClones, ExtraClones} {
			b, err := NewBudget(Config{BudgetShare: Off, Ceiling: Off, Shortage: shortage, Charge: charge})
			require.NoError(t, err)
			var grants []Grant
			for _, tasks := range []int{math.MaxInt, math.MaxInt / 2, math.MaxInt / 3, 5, math.MaxInt / 50, math.MaxInt} {
				before := b.Spent()
				d := b.Admit(Job{Tasks: tasks}, Cluster{Capacity: math.MaxInt, Busy: math.MaxInt / 8, Straggler: .1})
				if d.Action != Clone {
					assert.Contains(t, []Reason{OverBudget, OverCeiling}, d.Reason)
					assert.Equal(t, before, b.Spent())
					continue
				}
				assert.Greater(t, b.Spent(), before, d)
				assert.GreaterOrEqual(t, d.Busy, math.MaxInt/8, d)
				grants = append(grants, d.Grant)
			}
			assert.NotEmpty(t, grants)
			for _, g := range grants {
				assert.Positive(t, b.Cancel(g))
			}
			assert.Zero(t, b.Spent(), "%v %v", shortage, charge)
		}
	}
}
