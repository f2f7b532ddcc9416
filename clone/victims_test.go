package clone

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Victims returns the larger jobs that must give up their clones, and no other job.
func TestVictims_33_55(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off})
	require.NoError(t, err)
	now := Cluster{Capacity: 100, Busy: 50, Straggler: .1} // the ceiling is 80
	large := b.Admit(Job{Tasks: 5}, now).Grant             // 10 slots
	now.Busy += 10
	small := b.Admit(Job{Tasks: 4}, now).Grant // 8 slots
	now.Busy += 8
	require.NotZero(t, small)
	require.Equal(t, 68, now.Busy)

	assert.Empty(t, b.Victims(nil, Job{Tasks: 3}, now), "68 + 6 slots are below the ceiling")
	now.Busy = 80 - 2*3 + 5
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 3}, now), "5 slots are above the ceiling, and the large job has 5 extra clones")
	now.Busy++
	assert.Equal(t, []Grant{large, small}, b.Victims(nil, Job{Tasks: 3}, now), "6 slots are above the ceiling, so both jobs are needed")
	assert.Equal(t, []Grant{{}, large, small}, b.Victims([]Grant{{}}, Job{Tasks: 3}, now), "Victims must append to dst")
	now.Busy = 80 - 2*3 + 9
	assert.Len(t, b.Victims(nil, Job{Tasks: 3}, now), 2)
	now.Busy++
	assert.Empty(t, b.Victims(nil, Job{Tasks: 3}, now), "both jobs together would not make enough room")
	now.Busy = 80 - 2*4 + 1
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 4}, now))
	b.Cancel(large)
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4}, now), "a job of the same size is not larger")
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4, NoCopy: true}, now))
}

// The largest job has only one cloned task left. It need not give up its clones if the next job gives up enough
// slots.
func TestVictimsAreNotSuperfluous(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off})
	require.NoError(t, err)
	now := Cluster{Capacity: 1000, Straggler: .1}
	large := b.Admit(Job{Tasks: 50}, now).Grant
	small := b.Admit(Job{Tasks: 20}, now).Grant // 40 extra clones
	b.Release(large, 49)                        // 2 extra clones
	now.Busy = 800 - 2*3 + 2
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 3}, now))
	now.Busy = 800 - 2*3 + 3
	assert.Equal(t, []Grant{{}, small}, b.Victims([]Grant{{}}, Job{Tasks: 3}, now))
	now.Busy = 800 - 2*3 + 41
	assert.Equal(t, []Grant{large, small}, b.Victims(nil, Job{Tasks: 3}, now))
}
