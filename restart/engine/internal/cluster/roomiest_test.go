package cluster

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tree finds the same machine as a search over all machines.
func TestRoomiestFindsTheSameAsASearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var tree roomiest
		var room []int
		var member []bool
		for range 300 {
			switch {
			case len(room) == 0 || r.IntN(8) == 0:
				room, member = append(room, 0), append(member, false)
				tree.grow(len(room))
			default:
				i := r.IntN(len(room))
				room[i], member[i] = r.IntN(7)-2, r.IntN(3) > 0
				tree.set(i, room[i], member[i])
			}
			skipped := r.Uint64()
			skip := func(machine int) bool { return skipped>>(machine%64)&1 == 1 }
			want := Nowhere
			for i := range room {
				if member[i] && !skip(i) && (want == Nowhere || room[i] > room[want]) {
					want = i
				}
			}
			require.Equal(t, want, tree.find(skip))
		}
	}
}
