package assign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every upstream task is read by the number of downstream tasks that the pattern states, in order.
func TestPatterns_Dolly4(t *testing.T) {
	for upstream := 1; upstream < 20; upstream++ {
		for downstream := 1; downstream < 20; downstream++ {
			for p := AllToAll; p <= OneToOne; p++ {
				next, longest, shortest := 0, 0, math.MaxInt
				for task := range downstream {
					first, end, err := p.Inputs(task, upstream, downstream)
					if p == OneToOne && upstream != downstream || p == ManyToOne && upstream < downstream {
						require.ErrorContains(t, err, "delay/assign: upstream is ")
						continue
					}
					require.NoError(t, err)
					if p == AllToAll {
						require.Equal(t, [2]int{0, upstream}, [2]int{first, end})
						continue
					}
					require.Equal(t, next, first)
					next = end
					longest, shortest = max(longest, end-first), min(shortest, end-first)
					if task == downstream-1 {
						require.Equal(t, upstream, end)
						require.LessOrEqual(t, longest-shortest, 1)
					}
				}
			}
		}
	}
}

// Each clone of each task reads each upstream task once, for every order of events. With an endless window, two clones of a
// task never read the same output.
func TestDecideToTheEnd(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 5))
	for trial := range 500 {
		clones, inputs := 2+source.IntN(3), 1+source.IntN(4)
		window := []time.Duration{0, 2 * time.Second, Forever}[trial%3]
		ends := make([][]time.Duration, inputs) // by input and upstream clone: when the clone ends
		for i := range ends {
			for range clones {
				ends[i] = append(ends[i], time.Duration(source.IntN(8))*time.Second)
			}
		}
		readers := make([][]int, inputs)
		for i := range readers {
			readers[i] = make([]int, clones)
		}
		read := make([][]bool, clones)
		for i := range read {
			read[i] = make([]bool, inputs)
		}
		left := clones * inputs
		for now := time.Duration(0); left > 0; now += time.Second / 2 {
			require.Less(t, now, 20*time.Second)
			for clone := range clones {
				var facts []Input
				var which []int
				for i := range inputs {
					if read[clone][i] {
						continue
					}
					in := Input{Clones: make([]Clone, clones)}
					for c := range in.Clones {
						if ends[i][c] <= now {
							in.Clones[c] = Clone{State: Finished, Readers: readers[i][c]}
						}
					}
					in.Waited = max(0, now-slices.Min(ends[i]))
					facts, which = append(facts, in), append(which, i)
				}
				a := Decide(facts, window)
				if a.Action == Wait {
					require.True(t, window != 0 || a.Reason != WindowOpen)
					continue
				}
				i := which[a.Input]
				require.LessOrEqual(t, ends[i][a.Clone], now)
				require.Equal(t, a.Action == Read, readers[i][a.Clone] == 0)
				require.True(t, a.Action == Read || window != Forever)
				readers[i][a.Clone]++
				read[clone][i] = true
				left--
			}
		}
	}
}
