package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A machine that is no longer called slow is not slow, even if the caller reuses the memory of its list.
func TestSlowMachineRecovers(t *testing.T) {
	s := New(time.Minute, 0)
	for _, name := range []string{"a", "b", "c"} {
		s.Add(Machine{Name: name, Slots: 1})
	}
	are := func() (slow []int) {
		for i := range s.Len() {
			if s.IsSlow(i) {
				slow = append(slow, i)
			}
		}
		return slow
	}
	list := []int{1, 2, 9} // nobody knows machine 9
	s.Settle(time.Time{}, list)
	assert.Equal(t, []int{1, 2}, are())
	list[0] = 2
	s.Settle(time.Time{}, list[:1])
	assert.Equal(t, []int{2}, are())
	s.Settle(time.Time{}, nil)
	assert.Empty(t, are())
	picked, open := s.Pick(func(i int) bool { return i == 0 }, 0)
	assert.True(t, open)
	assert.NotEqual(t, 0, picked)
}
