package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
)

// The longest run time is of attempts that ended with success. Times and times for a unit of work are kept apart.
func TestLongest(t *testing.T) {
	x, err := NewExperience(survival.WindowConfig{Origin: "a"})
	require.NoError(t, err)
	is := func(x *Experience, bySize bool, seconds float64, attempts int) {
		t.Helper()
		s, n := x.Longest(bySize)
		assert.Equal(t, seconds, s)
		assert.Equal(t, attempts, n)
	}
	is(x, false, 0, 0)
	runs(stage(t, x, 3), 0, 100, 120, 110)
	is(x, false, 120, 3)
	is(x, true, 0, 0)
	runs(stage(t, x, 2, 10, 40), 1000, 50, 80)
	is(x, true, 5, 2)
	is(x, false, 120, 3)

	killed := stage(t, x, 1)
	killed.Start(second(2000), 0, 0)
	killed.Fail(second(3000), 0, 0)
	is(x, false, 120, 3)

	data, err := x.MarshalBinary()
	require.NoError(t, err)
	var restored Experience
	require.NoError(t, restored.UnmarshalBinary(data))
	is(&restored, false, 120, 3)
	is(&restored, true, 5, 2)

	other, err := NewExperience(survival.WindowConfig{Origin: "b"})
	require.NoError(t, err)
	delta, err := x.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, other.Merge(second(3000), delta))
	is(other, true, 5, 2)
	runs(stage(t, other, 1), second(3000).Add(2*defaultKeep).Sub(second(0)).Seconds(), 7)
	is(other, false, 7, 1)
	is(other, true, 0, 0)
}
