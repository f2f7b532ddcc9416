package clone

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The numbers of the package comment about small clusters, in which all slots are idle.
func TestSmallClustersNeedALargerBudgetShare(t *testing.T) {
	clones := func(c Config, tasks, slots int, p float64) int {
		b, err := NewBudget(c)
		require.NoError(t, err)
		return b.Admit(Job{Tasks: tasks}, Cluster{Capacity: slots, Straggler: p}).Clones
	}
	assert.Equal(t, 1, clones(Config{}, 1, 39, .1))
	assert.Equal(t, 2, clones(Config{}, 1, 40, .1))
	assert.Equal(t, 1, clones(Config{}, 5, 299, .2))
	assert.Equal(t, 3, clones(Config{}, 5, 300, .2))
	assert.Equal(t, 1, clones(Config{BudgetShare: 14. / 24}, 5, 24, .2))
	assert.Equal(t, 3, clones(Config{BudgetShare: 15. / 24}, 5, 24, .2))
	assert.Equal(t, 3, clones(Config{BudgetShare: Off}, 5, 24, .2))
}
