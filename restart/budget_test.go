package restart_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// launches counts how many copies a budget lets go, up to the limit.
func launches(b *restart.Budget, limit int) (n int) {
	for n < limit && b.Allows() {
		b.CopyLaunched()
		n++
	}
	return n
}

func newBudget(t *testing.T, c restart.BudgetConfig) *restart.Budget {
	t.Helper()
	b, err := restart.NewBudget(c)
	require.NoError(t, err)
	return b
}

func TestBudgetShareOnTheBoundary(t *testing.T) {
	for _, c := range []struct {
		share       float64
		slots, want int
	}{
		{0.29, 100, 29}, {0.07, 100, 7}, {0.55, 100, 55}, {0.1, 30, 3}, {0.1, 39, 3}, {1, 5, 5}, {0.5, 1, 0},
		{0, 50, 5}, // LATE's 10%
	} {
		b := newBudget(t, restart.BudgetConfig{Slots: c.slots, Share: c.share, Rate: restart.Off, Floor: restart.Off})
		assert.Equal(t, c.want, launches(b, 1000), "%+v", c)
		assert.Equal(t, c.want, b.Running())
		if c.want > 0 {
			b.CopyEnded()
			assert.Equal(t, 1, launches(b, 1000), "one slot given back, one taken")
		}
	}
	b := newBudget(t, restart.BudgetConfig{Slots: 5, Share: restart.Off, Rate: restart.Off})
	assert.Equal(t, 1000, launches(b, 1000), "no bound at all")
}

func TestBudgetRate(t *testing.T) {
	b := newBudget(t, restart.BudgetConfig{Slots: 1000, Share: 0.5})
	assert.Equal(t, 3, launches(b, 1000), "the floor comes before anything is earned")
	for range 9 {
		b.TaskStarted()
	}
	assert.False(t, b.Allows())
	b.TaskStarted()
	assert.Equal(t, 1, launches(b, 1000), "ten times a tenth is one")
	for range 1_000_000 {
		b.TaskStarted()
	}
	for range 4 {
		b.CopyEnded()
	}
	assert.Equal(t, 500, launches(b, 1000), "no more is saved up than may run at once")
	b.CopyEnded()
	assert.False(t, b.Allows(), "what a copy cost to launch stays spent")
}

func TestBudgetFloor(t *testing.T) {
	assert.Equal(t, 3, launches(newBudget(t, restart.BudgetConfig{Slots: 2}), 100), "a small system is not left without")
	assert.Equal(t, 1, launches(newBudget(t, restart.BudgetConfig{Slots: 2, Floor: 1}), 100))
	assert.Zero(t, launches(newBudget(t, restart.BudgetConfig{Slots: 2, Floor: restart.Off}), 100))
}

// It never takes back: what a host launches regardless is counted, and ends without harm, even twice.
func TestBudgetTakesAllToAccount(t *testing.T) {
	b := newBudget(t, restart.BudgetConfig{Slots: 2, Floor: 1})
	for range 5 {
		b.CopyLaunched()
	}
	assert.Equal(t, 5, b.Running())
	for range 9 {
		b.CopyEnded()
	}
	assert.Zero(t, b.Running())
	var none *restart.Budget
	assert.True(t, none.Allows())
	none.TaskStarted()
	none.CopyLaunched()
	none.CopyEnded()
}

func TestBudgetConfig(t *testing.T) {
	assert.Equal(t, restart.BudgetConfig{Slots: 7, Share: 0.1, Rate: 0.1, Floor: 3}, newBudget(t, restart.BudgetConfig{Slots: 7}).Config())
	for want, c := range map[string]restart.BudgetConfig{
		"restart: BudgetConfig.Slots is 0, want a positive number": {},
		"restart: BudgetConfig.Slots is -1":                        {Slots: -1},
		"restart: BudgetConfig.Share is 1.5":                       {Slots: 1, Share: 1.5},
		"restart: BudgetConfig.Rate is NaN":                        {Slots: 1, Rate: math.NaN()},
		"restart: BudgetConfig.Floor is -2":                        {Slots: 1, Floor: -2},
	} {
		_, err := restart.NewBudget(c)
		assert.ErrorContains(t, err, want)
	}
}
