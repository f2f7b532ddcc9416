package alike

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A promise is enough; without one the work of every task must be known, and explain most of their times.
func TestJudge(t *testing.T) {
	tasks := func(n int, change func(i int, t *Task)) []Task {
		all := make([]Task, n)
		for i := range all {
			all[i] = Task{Seconds: 10, Explains: 10}
			change(i, &all[i])
		}
		return all
	}
	same := func(int, *Task) {}
	off := func(part int) func(int, *Task) {
		return func(i int, t *Task) {
			if i < part {
				t.Seconds *= 3
			}
		}
	}
	for _, kin := range []Kin{Named, Rerun, Unlike} {
		assert.True(t, Judge(Alike, nil))
		assert.False(t, Judge(kin, nil))
		assert.True(t, Judge(kin, tasks(LeastRuns, same)))
		assert.False(t, Judge(kin, tasks(LeastRuns-1, same)), "so few may agree by chance")
		assert.True(t, Judge(kin, tasks(20, off(5))), "a quarter may be stragglers")
		assert.False(t, Judge(kin, tasks(20, off(6))))
		assert.False(t, Judge(kin, tasks(20, func(i int, t *Task) { t.Seconds /= 1.6 })), "too fast is not explained, either")
		assert.False(t, Judge(kin, tasks(20, func(i int, t *Task) {
			if i == 7 {
				t.Explains = 0
			}
		})), "one task whose work is not known")
	}
}

func TestKinAsText(t *testing.T) {
	for _, kin := range []Kin{Alike, Named, Rerun, Unlike} {
		text, err := kin.MarshalText()
		require.NoError(t, err)
		back, ok := Parse(text)
		assert.True(t, ok)
		assert.Equal(t, kin, back)
	}
	_, ok := Parse([]byte("cousins"))
	assert.False(t, ok)
	assert.Equal(t, "Kin(9)", Kin(9).String())
}
