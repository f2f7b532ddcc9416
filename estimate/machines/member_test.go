package machines

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Members repeat after 65,536 calls, and not before; a restored record continues with the next member.
func TestMembersDifferFor65536Joins(t *testing.T) {
	r, seen := new(Record), map[uint64]bool{}
	for range 1 << 16 {
		key := r.Join().Key(1<<30, 7)
		require.False(t, seen[key])
		seen[key] = true
	}
	assert.Zero(t, r.Join())
	text, err := r.MarshalBinary()
	require.NoError(t, err)
	var restored Record
	require.NoError(t, restored.UnmarshalBinary(text))
	assert.Equal(t, Member(1), restored.Join())
}

// The keys of a member's attempts differ by task and attempt, also at the largest numbers.
func TestKeysOfAMemberDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for _, m := range []Member{0, 1, 1<<16 - 1} {
		for _, task := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<31 - 1} {
			for _, attempt := range []int{0, 1, 1<<16 - 1} {
				key := m.Key(task, attempt)
				assert.False(t, seen[key], "%d %d %d", m, task, attempt)
				seen[key] = true
			}
		}
	}
	assert.Equal(t, Member(3).Key(5, 1), Member(3).Key(5, 1<<16+1), "attempt keys repeat after 65,536 attempts")
}
