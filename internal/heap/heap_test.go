package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func less(a, b int) bool { return a < b }

// Pop returns the items in order, both for items that were pushed and for a slice that Init has made a heap.
func TestItemsComeOffInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		want := make([]int, n)
		for i := range want {
			want[i] = r.IntN(20)
		}
		all := slices.Clone(want)
		Init(all, less)
		var pushed []int
		for _, x := range want {
			pushed = Push(pushed, x, less)
		}
		slices.Sort(want)
		for _, list := range [][]int{all, pushed} {
			for _, x := range want {
				var first int
				first, list = Pop(list, less)
				require.Equal(t, x, first)
			}
			assert.Empty(t, list)
		}
	}
}
