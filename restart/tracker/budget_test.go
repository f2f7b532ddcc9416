package tracker_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// launches counts the copies that a budget allows, up to the limit.
func launches(b *tracker.Budget, limit int) (n int) {
	for n < limit && b.Allows() {
		b.CopyLaunched()
		n++
	}
	return n
}

func newBudget(t *testing.T, c tracker.BudgetConfig) *tracker.Budget {
	t.Helper()
	b, err := tracker.NewBudget(c)
	require.NoError(t, err)
	return b
}

func TestBudgetShareIsExactOnTheBoundary(t *testing.T) {
	for _, c := range []struct {
		share       float64
		slots, want int
	}{
		{0.29, 100, 29}, {0.07, 100, 7}, {0.55, 100, 55}, {0.1, 30, 3}, {0.1, 39, 3}, {1, 5, 5},
		{0.5, 1, 1}, // the copy that is always allowed
		{0, 50, 5},  // LATE's 10 %
	} {
		b := newBudget(t, tracker.BudgetConfig{Slots: c.slots, Share: c.share, Rate: restart.Off, Floor: restart.Off})
		assert.Equal(t, c.want, launches(b, 1000), "%+v", c)
		assert.Equal(t, c.want, b.Running())
		if c.want > 0 {
			b.CopyEnded()
			assert.Equal(t, 1, launches(b, 1000), "an ended copy makes room for one copy")
		}
	}
	b := newBudget(t, tracker.BudgetConfig{Slots: 5, Share: restart.Off, Rate: restart.Off})
	assert.Equal(t, 1000, launches(b, 1000), "without a share and a rate, every copy is allowed")
}

func TestStartedTasksEarnCopies(t *testing.T) {
	b := newBudget(t, tracker.BudgetConfig{Slots: 1000, Share: 0.5})
	assert.Equal(t, 3, launches(b, 1000), "the floor is allowed before any task has started")
	for range 9 {
		b.TaskStarted()
	}
	assert.False(t, b.Allows())
	b.TaskStarted()
	assert.Equal(t, 1, launches(b, 1000), "ten tasks earn one copy")
	for range 1_000_000 {
		b.TaskStarted()
	}
	for range 4 {
		b.CopyEnded()
	}
	assert.Equal(t, 500, launches(b, 1000), "saved allowance is bounded by the copies that may run at once")
	b.CopyEnded()
	assert.False(t, b.Allows(), "the allowance of an ended copy stays spent")
}

func TestTheFloorLetsSmallSystemsCopy(t *testing.T) {
	assert.Equal(t, 3, launches(newBudget(t, tracker.BudgetConfig{Slots: 2}), 100), "a small system may copy up to the floor")
	assert.Equal(t, 1, launches(newBudget(t, tracker.BudgetConfig{Slots: 2, Floor: 1}), 100))
	assert.Equal(t, 1, launches(newBudget(t, tracker.BudgetConfig{Slots: 2, Floor: restart.Off}), 100), "one copy is always allowed")
}

// A budget without Slots has the slots of its phases. Before a phase has said its slots, only the rate bounds copies.
func TestABudgetFollowsTheSlotsOfItsPhases(t *testing.T) {
	b := newBudget(t, tracker.BudgetConfig{Share: 0.5, Rate: restart.Off, Floor: restart.Off})
	assert.Equal(t, 1000, launches(b, 1000), "without slots, the share does not apply")
	b = newBudget(t, tracker.BudgetConfig{Share: 0.5, Rate: restart.Off, Floor: restart.Off})
	one := newTracker(t, tracker.Config{Tasks: 1, Slots: 10, Interval: 1e9, Budget: b})
	assert.Equal(t, 5, launches(b, 1000))
	two := newTracker(t, tracker.Config{Tasks: 1, Slots: 4, Interval: 1e9, Budget: b})
	assert.Equal(t, 2, launches(b, 1000))
	two.SetSlots(0)
	one.SetSlots(20)
	assert.Equal(t, 3, launches(b, 1000))

	rated := newBudget(t, tracker.BudgetConfig{Rate: 0.5, Floor: 1})
	assert.Equal(t, 1, launches(rated, 1000))
	for range 100 {
		rated.TaskStarted()
	}
	assert.Equal(t, 1, launches(rated, 1000), "the saved allowance is one copy")
}

// The budget also counts copies that the host launches against its refusal. It never ends a copy, and an end that is
// told twice does no harm.
func TestABudgetCountsRefusedCopies(t *testing.T) {
	b := newBudget(t, tracker.BudgetConfig{Slots: 2, Floor: 1})
	for range 5 {
		b.CopyLaunched()
	}
	assert.Equal(t, 5, b.Running())
	for range 9 {
		b.CopyEnded()
	}
	assert.Zero(t, b.Running())
	var none *tracker.Budget
	assert.True(t, none.Allows())
	none.TaskStarted()
	none.CopyLaunched()
	none.CopyEnded()
}

func TestBudgetConfigIsValidated(t *testing.T) {
	assert.Equal(t, tracker.BudgetConfig{Slots: 7, Share: 0.1, Rate: 0.1, Floor: 3}, newBudget(t, tracker.BudgetConfig{Slots: 7}).Config())
	for want, c := range map[string]tracker.BudgetConfig{
		"restart/tracker: BudgetConfig.Slots is -1":  {Slots: -1},
		"restart/tracker: BudgetConfig.Share is 1.5": {Slots: 1, Share: 1.5},
		"restart/tracker: BudgetConfig.Rate is NaN":  {Slots: 1, Rate: math.NaN()},
		"restart/tracker: BudgetConfig.Floor is -2":  {Slots: 1, Floor: -2},
	} {
		_, err := tracker.NewBudget(c)
		assert.ErrorContains(t, err, want)
	}
}

// The zero value is a budget with the defaults, also after a snapshot.
func TestTheZeroBudgetHasTheDefaults(t *testing.T) {
	usual := newBudget(t, tracker.BudgetConfig{})
	for range 3 {
		data, err := new(tracker.Budget).MarshalBinary()
		require.NoError(t, err)
		read := new(tracker.Budget)
		require.NoError(t, read.UnmarshalBinary(data))
		for _, b := range []*tracker.Budget{new(tracker.Budget), read} {
			assert.Equal(t, launches(newBudget(t, tracker.BudgetConfig{}), 100), launches(b, 100))
			assert.Equal(t, usual.Config(), b.Config())
		}
	}
	b := new(tracker.Budget)
	b.SlotsChanged(100)
	b.TaskStarted()
	assert.Equal(t, 3, launches(b, 100), "the floor is allowed, and one task earns a tenth of a copy")
}
