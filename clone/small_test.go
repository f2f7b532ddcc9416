package clone

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What doc.go says of small clusters, all of whose slots are idle.
func TestSmallClusters(t *testing.T) {
	copies := func(c Config, tasks, slots int, p float64) int {
		b, err := NewBudget(c)
		require.NoError(t, err)
		return b.Admit(Job{Tasks: tasks}, Cluster{Capacity: slots, Straggler: p}).Copies
	}
	assert.Equal(t, 1, copies(Config{}, 1, 39, .1))
	assert.Equal(t, 2, copies(Config{}, 1, 40, .1))
	assert.Equal(t, 1, copies(Config{}, 5, 299, .2))
	assert.Equal(t, 3, copies(Config{}, 5, 300, .2))
	assert.Equal(t, 1, copies(Config{BudgetShare: 14. / 24}, 5, 24, .2))
	assert.Equal(t, 3, copies(Config{BudgetShare: 15. / 24}, 5, 24, .2))
	assert.Equal(t, 3, copies(Config{BudgetShare: Off}, 5, 24, .2))
}
