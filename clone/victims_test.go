package clone

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who has to go for a smaller job, and that nobody goes in vain.
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
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4, NoCopy: true}, now))
}

// A job that was large and has one cloned task left is no victim if the next one makes enough room by itself.
func TestVictimsAreNotSuperfluous(t *testing.T) {
	b, err := NewBudget(Config{BudgetShare: Off})
	require.NoError(t, err)
	now := Cluster{Capacity: 1000, Straggler: .1}
	large := b.Admit(Job{Tasks: 50}, now).Grant
	small := b.Admit(Job{Tasks: 20}, now).Grant // 40 extra copies
	b.Release(large, 49)                        // 2 extra copies
	now.Busy = 800 - 2*3 + 2
	assert.Equal(t, []Grant{large}, b.Victims(nil, Job{Tasks: 3}, now))
	now.Busy = 800 - 2*3 + 3
	assert.Equal(t, []Grant{{}, small}, b.Victims([]Grant{{}}, Job{Tasks: 3}, now))
	now.Busy = 800 - 2*3 + 41
	assert.Equal(t, []Grant{large, small}, b.Victims(nil, Job{Tasks: 3}, now))
}
