package clone

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLosers_3(t *testing.T) {
	for _, c := range []struct {
		copies []State
		want   int
		losers []int
	}{
		{nil, 1, nil},
		{[]State{Running, Running}, 1, nil},
		{[]State{Running, Running}, 0, nil},
		{[]State{Failed, Running}, 1, nil},
		{[]State{Running, Finished, Running}, 1, []int{0, 2}},
		{[]State{Running, Finished, Running}, 0, []int{0, 2}},
		{[]State{Finished, Finished, Failed}, 1, nil},
		{[]State{Finished, Running, Running}, 2, nil},
		{[]State{Finished, Running, Finished}, 2, []int{1}},
	} {
		assert.Equal(t, c.losers, Losers(nil, c.copies, c.want), "%v", c)
	}
	assert.Equal(t, []int{7, 1}, Losers([]int{7}, []State{Finished, Running}, 1), "appended")
}
