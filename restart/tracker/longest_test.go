package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
)

// The longest run time is of attempts that ended with success. It grows with the work, and tasks of less than an eighth of
// the work do not count if there are others. Tasks of known work and other tasks are kept apart.
func TestLongest(t *testing.T) {
	x, err := NewKnowledge(KnowledgeConfig{Machines: machines.Config{Origin: "a"}})
	require.NoError(t, err)
	is := func(x *Knowledge, work, seconds float64, attempts int) {
		t.Helper()
		s, n := x.Longest(daily, work)
		assert.Equal(t, seconds, s)
		assert.Equal(t, attempts, n)
	}
	is(x, 0, 0, 0)
	runs(stage(t, x, 3), 0, 100, 120, 110)
	is(x, 0, 120, 3)
	is(x, 1, 0, 0)
	runs(stage(t, x, 2, 10, 40), 1000, 50, 80)
	is(x, 10, 80, 2)
	is(x, 20, 100, 2)
	is(x, 100, 200, 2)
	is(x, 160, 320, 2)
	is(x, 1600, 8000, 2)
	is(x, 0, 120, 5)

	killed := stage(t, x, 1)
	killed.Start(second(2000), 0, 0)
	killed.Fail(second(3000), 0, 0)
	is(x, 0, 120, 5)

	data, err := x.MarshalBinary()
	require.NoError(t, err)
	var restored Knowledge
	require.NoError(t, restored.UnmarshalBinary(data))
	is(&restored, 0, 120, 5)
	is(&restored, 20, 100, 2)

	other, err := NewKnowledge(KnowledgeConfig{Machines: machines.Config{Origin: "b"}})
	require.NoError(t, err)
	delta, err := x.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, other.Merge(second(3000), delta))
	is(other, 20, 100, 2)
	runs(stage(t, other, 1), second(3000).Add(2*defaultKeep).Sub(second(0)).Seconds(), 7)
	is(other, 0, 7, 1)
	is(other, 20, 0, 0)
}
