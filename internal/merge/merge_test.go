package merge

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

const day = 24 * time.Hour

var (
	choices = Choices{Origin: "me", Skew: time.Minute, Keep: day}
	form    = CountsForm("test", 't', true)
)

// deltaOf returns a delta with many origins, or with facts that have the given names.
func deltaOf(origins int, begun time.Duration, names []string, facts ...Fact) []byte {
	sections := make([]section[Fact], origins)
	for i := range sections {
		o := origin{name: fmt.Sprint("origin-", i), begun: micros(begun), until: micros(begun)}
		sections[i] = section[Fact]{origin: o}
		for _, f := range facts {
			sections[i].seen = append(sections[i].seen, Observation[Fact]{At: begun, Fact: f})
		}
	}
	delta, _ := snapshot.Append(nil, 't', func(c *snapshot.Codec) { form.delta(c, &names, &sections) })
	return delta
}

// The largest number of origins is accepted. After these origins are removed, other origins are accepted.
func TestOriginsAreNotUsedUp(t *testing.T) {
	var k Counts
	now := 1000 * day
	require.NoError(t, k.Merge(form, choices, now, deltaOf(math.MaxUint16, now, nil)))
	require.ErrorContains(t, k.Merge(form, choices, now, deltaOf(1, now+1e6, nil)), "want at most 65535 origins in all")
	require.NoError(t, k.Merge(form, choices, now, deltaOf(100, now, nil)), "known origins are accepted")
	now += 3 * day
	k.Forget(choices, now)
	require.NoError(t, k.Merge(form, choices, now, deltaOf(100, now, nil)))
	assert.Len(t, k.origins.list, 101)
}

func TestInvalidNamesAreRefused(t *testing.T) {
	var k Counts
	err := k.Merge(form, choices, day, deltaOf(1, day, []string{""}, Fact{"", Count{1, 1}}))
	require.ErrorContains(t, err, "names that are empty")
	err = k.Merge(form, choices, day, deltaOf(1, day, []string{"a"}, Fact{"a", Count{1, 2}}))
	require.ErrorContains(t, err, "more hits than things")
}

// Old counts are removed, even if there is no merge.
func TestCountsAreForgotten(t *testing.T) {
	var k Counts
	for now := 1000 * day; now < 1100*day; now += time.Hour {
		k.Add(choices, now, "a", Count{1, 1})
	}
	assert.LessOrEqual(t, len(k.by), Slots)
	assert.LessOrEqual(t, len(k.sums), 3*Slots)
	k.Add(choices, 2000*day, "a", Count{1, 1})
	k.Add(choices, 1100*day, "a", Count{1, 1})
	require.NoError(t, k.Merge(form, choices, 1100*day, deltaOf(1, 1100*day, nil)))
	assert.Equal(t, Count{}, k.Kept(choices, 2000*day, "a"), "counts of a clock that has stepped back are dropped")
	assert.Equal(t, Count{1, 1}, k.Kept(choices, 1100*day, "a"))
}

// A process that restarts often is treated as a single process. The limit also holds for a process that reports
// hits only.
func TestOneProcessCountsAtMostHalf(t *testing.T) {
	var k Counts
	put := func(name string, begun int64, n Count) {
		at := 1000*day + time.Duration(begun)*time.Second
		by := k.origins.noteKnown(nil, origin{name: name, begun: begun, latest: micros(at)}, 0)
		k.put(counter{cell{name: "a", slot: choices.Slot(at)}, by}, counted{n, at})
	}
	put("honest", 0, Count{10, 1})
	for begun := range int64(5) {
		put("liar", begun, Count{100, 100})
	}
	assert.Equal(t, Count{20, 11}, k.Of(choices, 1000*day, "a", 0))
	assert.Equal(t, Count{20, 11}, k.Of(choices, 1000*day, "", 0))
	put("finder", 0, Count{0, 1e9})
	assert.Equal(t, Count{510, 501 + 510}, k.Of(choices, 1000*day, "a", 0))
	for begun := range int64(1000) {
		put("big", begun, Count{1e9, 1e9})
	}
	assert.Equal(t, Count{510 + 1e9 + 501, 2 * (1e9 + 501)}, k.Of(choices, 1000*day, "a", 0), "no product overflows")
}

// A name belongs to one machine, and is free again after the machine is removed. A restored fleet knows the same
// names.
func TestANameBelongsToOneMachine(t *testing.T) {
	var f Fleet
	for machine := range 200_000 { // with a search of the list for each name, the test would take minutes
		f.SetName(machine, fmt.Sprint("node-", machine))
	}
	assert.False(t, f.SetName(7, "node-8"))
	assert.True(t, f.SetName(7, "node-7"))
	f.Resize(8)
	save := func(f *Fleet) []byte {
		saved, _ := snapshot.Append(nil, 1, func(c *snapshot.Codec) { f.State(form, c, choices) })
		return saved
	}
	restore := func(f *Fleet, c *snapshot.Codec) { f.State(form, c, choices) }
	var again Fleet
	require.NoError(t, snapshot.Restore(save(&f), 1, &again, restore))
	for _, f := range []*Fleet{&f, &again} {
		assert.False(t, f.SetName(8, "node-7"))
		assert.True(t, f.SetName(8, "node-8"))
	}
	again.names[0] = "node-1"
	require.ErrorContains(t, snapshot.Restore(save(&again), 1, &f, restore), "a name twice")
}
