// Package internal_test has the tests of small packages below this directory, such as alike. They need only what the packages
// export. They are one program, since the link of a program takes half a second.
package internal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// A promise is enough; without one the work of every task must be known, and explain most of their times.
func TestJudge(t *testing.T) {
	tasks := func(n int, change func(i int, t *alike.Task)) []alike.Task {
		all := make([]alike.Task, n)
		for i := range all {
			all[i] = alike.Task{Seconds: 10, Explains: 10}
			change(i, &all[i])
		}
		return all
	}
	same := func(int, *alike.Task) {}
	off := func(part int) func(int, *alike.Task) {
		return func(i int, t *alike.Task) {
			if i < part {
				t.Seconds *= 3
			}
		}
	}
	for _, kin := range []alike.Kin{alike.Named, alike.Rerun, alike.Unlike} {
		assert.True(t, alike.Judge(alike.Alike, nil))
		assert.False(t, alike.Judge(kin, nil))
		assert.True(t, alike.Judge(kin, tasks(alike.LeastRuns, same)))
		assert.False(t, alike.Judge(kin, tasks(alike.LeastRuns-1, same)), "so few may agree by chance")
		assert.True(t, alike.Judge(kin, tasks(20, off(5))), "a quarter may be stragglers")
		assert.False(t, alike.Judge(kin, tasks(20, off(6))))
		assert.False(t, alike.Judge(kin, tasks(20, func(i int, t *alike.Task) { t.Seconds /= 1.6 })), "too fast is not explained, either")
		assert.False(t, alike.Judge(kin, tasks(20, func(i int, t *alike.Task) {
			if i == 7 {
				t.Explains = 0
			}
		})), "one task whose work is not known")
	}
}

func TestKinAsText(t *testing.T) {
	for _, kin := range []alike.Kin{alike.Alike, alike.Named, alike.Rerun, alike.Unlike} {
		text, err := kin.MarshalText()
		require.NoError(t, err)
		back, ok := alike.Parse(text)
		assert.True(t, ok)
		assert.Equal(t, kin, back)
	}
	_, ok := alike.Parse([]byte("cousins"))
	assert.False(t, ok)
	assert.Equal(t, "Kin(9)", alike.Kin(9).String())
}
