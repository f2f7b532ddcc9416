package clone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	assert.Equal(t, []int{6, 9}, b.AppendBanned(nil, now), "MaxShare allows the two worst machines out of three")
	b.Resize(8)
	assert.Equal(t, []int{6}, b.AppendBanned(nil, now))
	b.Resize(10)
	assert.False(t, b.Banned(now, 9), "a new machine has no observations")
	_, known := b.Predicted(9)
	assert.False(t, known)
	assert.False(t, b.Banned(now, 99))
	b.Observe(now, 6, true)
	assert.Empty(t, b.AppendBanned(nil, now.Add(10*time.Minute)), "the observations are older than the latest window")
	b.Resize(-3)
	assert.Empty(t, b.AppendBanned(nil, now))
}

// MaxShare is a share of the current machines. If machines leave, only the worst banned machines stay banned.
func TestBlacklistKeepsItsCapWhenMachinesLeave(t *testing.T) {
	b, err := NewBlacklist(100, BlacklistConfig{MinTasks: 1, Recent: 1})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for machine := range 10 {
		b.Observe(now, machine, true)
		b.Observe(now, machine, machine == 3 || machine == 8)
	}
	now = now.Add(5 * time.Minute)
	require.Len(t, b.AppendBanned(nil, now), 10)
	b.Resize(20)
	assert.Equal(t, []int{3, 8}, b.AppendBanned(nil, now))
	b.Resize(100)
	assert.Equal(t, []int{3, 8}, b.AppendBanned(nil, now))
	b.Resize(9)
	assert.Empty(t, b.AppendBanned(nil, now), "a tenth of nine machines rounds down to 0")
}

// A clock that steps back closes no window and loses no observation. The bans last for one window from the new time.
func TestBlacklistClockStepsBack(t *testing.T) {
	b, err := NewBlacklist(10, BlacklistConfig{MinTasks: 2, Recent: 1})
	require.NoError(t, err)
	now := time.Unix(1e6, 0)
	for range 2 {
		b.Observe(now, 4, true)
	}
	now = now.Add(5 * time.Minute)
	b.Observe(now, 6, true)
	require.True(t, b.Banned(now, 4))
	now = now.Add(-time.Hour)
	b.Observe(now, 6, true)
	assert.True(t, b.Banned(now.Add(5*time.Minute-1), 4))
	assert.Equal(t, []int{6}, b.AppendBanned(nil, now.Add(5*time.Minute)), "both tasks of machine 6 count")
}
