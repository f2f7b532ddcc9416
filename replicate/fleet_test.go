package replicate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const machinesOfFleet = 6

func member(t testing.TB, process int) *Losses {
	l, err := NewLosses(machinesOfFleet, LossesConfig{Window: 20 * time.Minute, Origin: mergetest.Name(process)})
	require.NoError(t, err)
	for machine := range machinesOfFleet - 1 { // the last machine has no name
		require.True(t, l.SetName(machine, fmt.Sprint("node-", (machine+process)%(machinesOfFleet-1))))
	}
	return l
}

// place returns the number that a process gives to a machine.
func place(process, node int) int {
	return (node + process*(machinesOfFleet-2)) % (machinesOfFleet - 1)
}

func TestMergeIsIdempotentCommutativeAndAssociative(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Losses]{
		New: func(process int) *Losses { return member(t, process) },
		See: func(l *Losses, process int, now time.Time, random *rand.Rand) {
			machine := place(process, random.IntN(1+random.IntN(machinesOfFleet-1)))
			if random.IntN(4) == 0 {
				l.Lost(now, machine, 1+random.IntN(3))
			} else {
				l.Produced(now, machine, 1+random.IntN(50))
			}
		},
		Answer: func(l *Losses, now time.Time) (answer string) {
			for node := range machinesOfFleet - 1 {
				for machine := range machinesOfFleet - 1 {
					if l.fleet.Name(machine) == fmt.Sprint("node-", node) {
						answer += fmt.Sprint(l.Probability(now, machine), " ")
					}
				}
			}
			return answer + fmt.Sprint(l.Probability(now, -1))
		},
	})
}

func TestMergeWeighsTheCountsOfOneProcess(t *testing.T) {
	now := time.Unix(1000, 0)
	a, b := member(t, 0), member(t, 1)
	for range 20 {
		a.Produced(now, place(0, 3), 1000)
		b.Produced(now, place(1, 3), 500)
		a.Lost(now, place(0, 3), 10)
	}
	assert.False(t, a.Produced(now, machinesOfFleet-1, 1), "a machine without a name must not count")
	assert.False(t, a.SetName(0, "node-1"))
	assert.False(t, a.SetName(machinesOfFleet, "x"))
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	assert.Less(t, len(delta), 60, "the size of a delta must not depend on the size of the counts")
	before := b.Probability(now, place(1, 3))
	require.NoError(t, b.Merge(now, delta))
	assert.Greater(t, b.Probability(now, place(1, 3)), before)
	// Process a has counted 20,000 outputs and 200 losses, and b has counted 10,000 outputs. So the count of a is
	// limited to 10,000 outputs and 100 losses. Together they have 20,000 outputs and 100 losses.
	all := (100 + 100*.001) / (20_000. + 100)
	assert.Equal(t, (100+100*all)/(20_000+100), b.Probability(now, place(1, 3)))
	assert.Equal(t, all, b.Probability(now, machinesOfFleet-1))
	assert.NotEqual(t, .001, b.Probability(time.Unix(2174, 0), 0), "the sixteenth that began at 975 s must still count")
	assert.Equal(t, .001, b.Probability(time.Unix(2175, 0), 0), "the sixteenth that began at 975 s must not count any more")
	mergetest.Refuses(t, b, now, delta)
	assert.ErrorContains(t, member(t, 2).Merge(now.Add(-61*time.Second), delta), "replicate: delta of scheduler-0 is 1m1")
	alone, err := NewLosses(1, LossesConfig{})
	require.NoError(t, err)
	assert.ErrorContains(t, alone.Merge(now, delta), "Config.Origin")
	assert.ErrorContains(t, new(Losses).Merge(now, delta), "Config.Origin")
}

func FuzzMerge(f *testing.F) {
	a, now := member(f, 0), time.Unix(1000, 0)
	for k := range 40 {
		a.Produced(now, k%machinesOfFleet, k)
	}
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(delta[:len(delta)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, now := member(t, 1), now.Add(time.Minute)
		if b.Merge(now, snapshot.Seal(data, 0)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, member(t, 2).Merge(now, again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Losses).UnmarshalBinary(saved))
		for machine := range machinesOfFleet {
			p := b.Probability(now, machine)
			require.True(t, p > 0 && p <= 1, "%v", p)
		}
	})
}

// Later versions must read these bytes, or refuse them with an error that names the version.
func TestTheFormatsStayReadable(t *testing.T) {
	l, now := member(t, 0), time.Unix(1000, 0)
	l.Produced(now, 1, 30)
	l.Lost(now.Add(time.Second), 1, 2)
	l.Produced(now.Add(time.Second), 0, 1)
	mergetest.Kept(t, l, member(t, 1), now.Add(time.Second),
		"03808097d9ec45fca9f1d24d62503f00000000000059400b7363686564756c65722d3080e0ba84bf0301d20f00"+
			"80e8fe83a23a000000000000000000000000000000000000000000000000000000000000000000000600000000"+
			"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"+
			"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"+
			"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"+
			"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"+
			"000000000000000000000000000002000000000b7363686564756c65722d3080a8d6b90782b1d0ba0782b1d0ba"+
			"070280e8fe83a23a02066e6f64652d313c04d0f7fe83a23a02066e6f64652d30020005066e6f64652d30066e6f"+
			"64652d31066e6f64652d32066e6f64652d33066e6f64652d345147fe47",
		"6c0200066e6f64652d30050131010b7363686564756c65722d3080a8d6b9070082b1d0ba0702c098a8dd033c04"+
			"0201020000335c0d25")
}

// A count comes from a clock that is ahead, and a process leaves it out of its deltas. The count may include
// earlier observations. So a version must not say that they are known, and another process may still send the
// earlier observations.
func TestVersionsDoNotClaimHeldBackCounts(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(6000+s), 0) } // all times are in the same sixteenth of the window
	tell := func(from, to *Losses, now time.Time) {
		delta, err := from.AppendDelta(nil, to.AppendVersion(nil))
		require.NoError(t, err)
		require.NoError(t, to.Merge(now, delta))
	}
	ahead, early, behind, last := member(t, 0), member(t, 1), member(t, 2), member(t, 3)
	ahead.Produced(at(10), place(0, 3), 100)
	tell(ahead, early, at(0))
	ahead.Produced(at(30), place(0, 3), 100)
	tell(ahead, behind, at(20))
	tell(behind, last, at(20))
	early.Probability(at(21), 0) // the clock of early is now after all its counts
	tell(early, last, at(21))
	assert.Equal(t, early.Probability(at(21), place(1, 3)), last.Probability(at(21), place(3, 3)))
	behind.Probability(at(31), 0)
	tell(behind, last, at(31))
	assert.Equal(t, ahead.Probability(at(31), place(0, 3)), last.Probability(at(31), place(3, 3)))
}
