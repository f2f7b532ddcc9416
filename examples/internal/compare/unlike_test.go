package compare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// packable is a phase of tasks of so many seconds on two slots, in the order given.
func packable(rest time.Duration, seconds ...int) *sim.Phase {
	p := &sim.Phase{Name: "p", Interval: time.Second, Slots: []sim.Slot{{Machine: -1}, {Machine: -1}}}
	for i, s := range seconds {
		p.Tasks = append(p.Tasks, sim.Task{Attempts: []sim.Attempt{{Duration: time.Duration(s) * time.Second}}})
		p.Order = append(p.Order, int32(i))
	}
	p.Slots[0].Rests = []time.Duration{rest}
	return p
}

// The longest task comes last, and alone: started first, it costs nothing. Where slots rest, order is not what they
// wait for.
func TestPack(t *testing.T) {
	packed, err := Pack([]*sim.Phase{packable(0, 1, 1, 1, 1, 10), packable(time.Minute, 1, 1, 1, 1, 10), packable(0, 1, 1)})
	require.NoError(t, err)
	require.Len(t, packed, 1)
	assert.Equal(t, Packing{Phase: 0, Time: 12 * time.Second, Largest: 10 * time.Second, Longest: 10 * time.Second}, packed[0])
}

// The phase before each phase in the chain is its input phase that ended last.
func TestChain(t *testing.T) {
	phases := []*sim.Phase{
		{Recorded: 5}, {Recorded: 9}, {Begins: 9, Recorded: 2, DependsOn: []int{0, 1}},
		{Begins: 5, Recorded: 1, DependsOn: []int{0}},
	}
	assert.Equal(t, []int{1, 2}, Chain(phases))
	assert.Empty(t, Chain(nil))
}
