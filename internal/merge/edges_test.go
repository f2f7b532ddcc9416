package merge

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const start1970 = 1000 * day // an instant; a slot lasts an hour and a half in these tests

// Each name has its own slots, and the slots of the empty name are the sum of all names.
func TestEachNameHasItsOwnSlots(t *testing.T) {
	slot := choices.Keep / Slots
	counted := func() (k Counts) {
		k.Add(choices, start1970, "a", Count{4, 1})
		k.Add(choices, start1970+slot, "a", Count{3, 0})
		k.Add(choices, start1970+slot, "b", Count{2, 2})
		return k
	}
	k, now := counted(), start1970+slot
	assert.Equal(t, []Count{{3, 0}, {4, 1}}, []Count{k.Of(choices, now, "a", 0), k.Of(choices, now, "a", 1)})
	assert.Equal(t, []Count{{2, 2}, {}}, []Count{k.Of(choices, now, "b", 0), k.Of(choices, now, "b", 1)})
	assert.Equal(t, []Count{{5, 2}, {4, 1}}, []Count{k.Of(choices, now, "", 0), k.Of(choices, now, "", 1)})
	for ago, want := range map[int64]Count{Slots - 1: {4, 1}, Slots: {}} {
		now := start1970 + time.Duration(ago)*slot
		k := counted()
		k.Forget(choices, now)
		assert.Equal(t, want, k.Of(choices, now, "a", ago), "%d slots ago", ago)
		assert.Equal(t, want, k.Of(choices, now, "", ago))
	}
}

// An observation from the future is kept if it is no further ahead than another clock may be, to the microsecond.
func TestCountsOfTheFutureAreKeptWithinTheSkew(t *testing.T) {
	for ahead, want := range map[time.Duration]Count{choices.Skew: {3, 1}, choices.Skew + time.Microsecond: {}} {
		var k Counts
		k.Add(choices, start1970+ahead, "a", Count{3, 1})
		k.Forget(choices, start1970)
		assert.Equal(t, want, k.Kept(choices, start1970, "a"), "%v", ahead)
		assert.Equal(t, want, k.Kept(choices, start1970, ""))
	}
}

// The names of a delta share their common prefixes, and a name may have up to 255 bytes.
func TestNamesOfADeltaSharePrefixes(t *testing.T) {
	long := strings.Repeat("x", MostName-1)
	var k, other Counts
	for _, name := range []string{"a", "b", "ba", "c", long + "y", long + "z"} {
		k.Add(choices, start1970, name, Count{1, 1})
	}
	delta, err := k.AppendDelta(form, choices, start1970, nil, nil, nil)
	require.NoError(t, err)
	assert.Less(t, len(delta), 2*MostName, "the delta codes the common part of the long names once")
	require.NoError(t, other.Merge(form, Choices{"other", time.Minute, day}, start1970, delta))
	for _, name := range []string{"a", "b", "ba", "c", long + "y", long + "z"} {
		assert.Equal(t, Count{1, 1}, other.Kept(choices, start1970, name), "%.5s", name)
	}
	err = k.Merge(form, choices, start1970, deltaOf(1, start1970, []string{long + "yy"}, Fact{long + "yy", Count{1, 1}}))
	require.ErrorContains(t, err, "too long")
	for name, right := range map[string]bool{"": false, long + "x": true, long + "xx": false} {
		sections := []section[Fact]{{origin: origin{name: name, begun: 1, until: 1}}}
		delta, _ := snapshot.Append(nil, 't', func(c *snapshot.Codec) { form.delta(c, new([]string), &sections) })
		err := new(Counts).Merge(form, choices, start1970, delta)
		assert.Equal(t, right, err == nil, "an origin of %d bytes: %v", len(name), err)
	}
}

// listOf returns a delta of one origin that saw facts at the given instants.
func listOf(until time.Duration, at []time.Duration, facts ...int64) []byte {
	s := section[int64]{origin: origin{name: "it", begun: 1, until: micros(until)}}
	for i, fact := range facts {
		s.seen = append(s.seen, Observation[int64]{At: at[i], Fact: fact})
	}
	sections := []section[int64]{s}
	delta, _ := snapshot.Append(nil, 'l', func(c *snapshot.Codec) { numbers.delta(c, new([]string), &sections) })
	return delta
}

func facts(seen []Observation[int64]) (list []int64) {
	for _, v := range seen {
		list = append(list, v.Fact)
	}
	return list
}

// No time in a delta may be later than the latest valid instant, or further ahead than clocks may differ.
func TestTimesOfADeltaAreBounded(t *testing.T) {
	last := time.Duration(maxMicros) * time.Microsecond
	var l List[int64]
	require.NoError(t, l.Merge(numbers, choices, last, listOf(last, []time.Duration{last}, 7)))
	assert.Equal(t, []int64{7}, facts(l.Newest(numbers, choices, last, 4)))
	require.NoError(t, new(List[int64]).Merge(numbers, choices, start1970, listOf(start1970+choices.Skew, nil)))
	require.ErrorContains(t, new(List[int64]).Merge(numbers, choices, start1970, listOf(start1970+choices.Skew+time.Microsecond, nil)),
		"ahead of this clock")
}

// Two observations of a process at one instant are a microsecond apart, and both are sent at this instant. After
// the clock was set back, observations of the future are not sent.
func TestAProcessSendsItsOwnNewestObservations(t *testing.T) {
	var a List[int64]
	a.Add(choices, start1970, 1)
	a.Add(choices, start1970, 2)
	tell := func(now time.Duration) []int64 {
		delta, err := a.AppendDelta(numbers, choices, now, nil, nil, nil)
		require.NoError(t, err)
		var b List[int64]
		require.NoError(t, b.Merge(numbers, Choices{"b", time.Minute, day}, now, delta))
		return facts(b.Newest(numbers, Choices{"b", time.Minute, day}, now, 4))
	}
	assert.Equal(t, []int64{1, 2}, tell(start1970))
	assert.Equal(t, []int64{1, 2}, tell(start1970+time.Microsecond-choices.Skew), "observations within the skew are sent")
	assert.Empty(t, tell(start1970-choices.Skew), "observations beyond the skew are not sent")
}

// A count that was made in the future is left out of a delta. The count may include things that were seen before
// now. So the reader of the delta must not conclude that the delta is complete.
func TestAHeldBackCountComesLater(t *testing.T) {
	ahead := Choices{"ahead", time.Minute, day}
	var a, x, b Counts
	x.Add(ahead, start1970, "early", Count{1, 0})
	x.Add(ahead, start1970+30*time.Second, "late", Count{5, 5})
	delta, err := x.AppendDelta(form, ahead, start1970+30*time.Second, nil, nil, nil)
	require.NoError(t, err)
	require.NoError(t, a.Merge(form, choices, start1970+time.Second, delta))
	listener := Choices{"b", time.Minute, day}
	for now, want := range map[time.Duration]Count{start1970 + time.Second: {}, start1970 + 30*time.Second: {5, 5}} {
		b := b
		for range 2 {
			delta, err = a.AppendDelta(form, choices, now, nil, b.AppendVersion(form, nil), nil)
			require.NoError(t, err)
			require.NoError(t, b.Merge(form, listener, now, delta))
		}
		assert.Equal(t, want, b.Kept(listener, now, "late"), "%v", now)
	}
	// The observations that were left out come later, and also in order.
	for _, now := range []time.Duration{start1970 + time.Second, start1970 + 30*time.Second} {
		delta, err = a.AppendDelta(form, choices, now, nil, b.AppendVersion(form, nil), nil)
		require.NoError(t, err)
		require.NoError(t, b.Merge(form, listener, now, delta))
	}
	assert.Equal(t, Count{5, 5}, b.Kept(listener, start1970+time.Minute, "late"))
	assert.Equal(t, Count{1, 0}, b.Kept(listener, start1970+time.Minute, "early"))
}

// While a process leaves a count out of its deltas, the reader of these deltas still accepts the count from another
// process.
func TestAHeldBackCountIsAcceptedFromOthers(t *testing.T) {
	x, old, a, b := Choices{"x", time.Minute, day}, Choices{"old", time.Minute, day}, choices, Choices{"b", time.Minute, day}
	var ofX, ofOld, ofA, ofB Counts
	tell := func(to *Counts, c Choices, now time.Duration, from *Counts, by Choices, at time.Duration) {
		delta, err := from.AppendDelta(form, by, at, nil, to.AppendVersion(form, nil), nil)
		require.NoError(t, err)
		require.NoError(t, to.Merge(form, c, now, delta))
	}
	ofX.Add(x, start1970, "n", Count{1, 0})
	tell(&ofOld, old, start1970, &ofX, x, start1970)
	ofX.Add(x, start1970+30*time.Second, "n", Count{4, 0}) // its clock is ahead
	now := start1970 + time.Second
	tell(&ofA, a, now, &ofX, x, start1970+30*time.Second)
	tell(&ofB, b, now, &ofA, a, now)
	assert.Equal(t, Count{}, ofB.Kept(b, now, "n"), "a count of the future is held back")
	tell(&ofB, b, now, &ofOld, old, now)
	assert.Equal(t, Count{1, 0}, ofB.Kept(b, now, "n"))
}

func TestNamesOfAMachineAreChecked(t *testing.T) {
	var f Fleet
	long := strings.Repeat("x", MostName)
	assert.False(t, f.SetName(0, ""))
	assert.False(t, f.SetName(0, long+"x"))
	assert.True(t, f.SetName(1, long))
	assert.Equal(t, []string{"", "", long, ""}, []string{f.Name(-1), f.Name(0), f.Name(1), f.Name(2)})
	assert.False(t, f.Add(choices, start1970, 0, Count{1, 1}), "a machine without a name is not counted")
	assert.True(t, f.Add(choices, start1970, 1, Count{2, 1}))
	assert.Equal(t, Count{2, 1}, f.Kept(choices, start1970, ""), "only the machine with a name is counted")
}

// At most half of a list comes from a single process, however much it has seen. The other half is for other
// processes.
func TestOneProcessHasHalfOfAList(t *testing.T) {
	var l List[int64]
	var at []time.Duration
	var many []int64
	for i := range int64(20) {
		at, many = append(at, start1970+time.Duration(i)*time.Second), append(many, 100+i)
	}
	require.NoError(t, l.Merge(numbers, choices, start1970+time.Minute, listOf(start1970+time.Minute, at, many...)))
	for i := range int64(3) {
		l.Add(choices, start1970+time.Duration(i)*time.Second, i)
	}
	assert.Equal(t, []int64{0, 1, 2, 114, 115, 116, 117, 118, 119}, facts(l.Newest(numbers, choices, start1970+time.Minute, 12)))
	assert.Equal(t, []int64{1, 2, 118, 119}, facts(l.Newest(numbers, choices, start1970+time.Minute, 4)))
}

// The ages up to which observations are kept are exact to the microsecond, also in a snapshot.
func TestAgesOfAListAreExact(t *testing.T) {
	var l List[int64]
	now := start1970
	for i, at := range []time.Duration{
		now - choices.Keep - time.Microsecond, now - choices.Keep, now + choices.Skew, now + choices.Skew + time.Microsecond,
	} {
		l.Add(choices, at, int64(i))
	}
	assert.Equal(t, []int64{1, 2}, facts(l.Newest(numbers, choices, now, 10)))
	for by, right := range map[time.Duration]bool{now + choices.Skew: true, now + choices.Skew - time.Microsecond: false} {
		state := func(l *List[int64], c *snapshot.Codec) { l.State(numbers, c, by) }
		data, _ := snapshot.Append(nil, 1, func(c *snapshot.Codec) { l.State(numbers, c, math.MaxInt64) })
		var again List[int64]
		assert.Equal(t, right, snapshot.Restore(data, 1, &again, state) == nil, "%v", by)
	}
}

// If observations with the same instant are not shared, they keep their order. Otherwise they have the order that
// all processes use.
func TestAllProcessesShareTheOrderOfAList(t *testing.T) {
	alone := Choices{Keep: day}
	var own, shared List[int64]
	for _, v := range []int64{9, 5, 7} {
		own.Add(alone, start1970, v)
	}
	own.Add(alone, start1970-time.Second, 8) // this observation is out of order
	assert.Equal(t, []int64{8, 9, 5, 7}, facts(own.Newest(numbers, alone, start1970, 8)))
	at := []time.Duration{start1970, start1970, start1970}
	require.NoError(t, shared.Merge(numbers, choices, start1970, listOf(start1970, at, 9, 5, 9)))
	assert.Equal(t, []int64{5, 9}, facts(shared.Newest(numbers, choices, start1970, 8)), "facts are in the order of their encoding, without duplicates")
}

func TestChoicesNameTheFieldOutOfRange(t *testing.T) {
	for length, right := range map[int]bool{0: true, MostName: true, MostName + 1: false} {
		err := Choices{Origin: strings.Repeat("x", length)}.Validate("test")
		assert.Equal(t, right, err == nil, "%d bytes: %v", length, err)
	}
	assert.ErrorContains(t, Choices{Skew: -1}.Validate("test"), "MaxSkew")
}

// If a process shares observations, its time is the time since 1970, whatever its clock showed before. If a process
// does not share, its time is the time since its first instant.
func TestASharingProcessCountsFrom1970(t *testing.T) {
	first := time.Unix(1000, 1500)
	for _, c := range []struct {
		origin string
		want   [4]time.Duration // for the first instant, five seconds later, a second earlier, and the zero instant
	}{
		{"me", [4]time.Duration{1000*time.Second + time.Microsecond, 1005*time.Second + time.Microsecond,
			999*time.Second + time.Microsecond, 999*time.Second + time.Microsecond}},
		{"", [4]time.Duration{0, 5 * time.Second, 5 * time.Second, 5 * time.Second}},
	} {
		var k clock.Clock
		for i, now := range []time.Time{first, first.Add(5 * time.Second), first.Add(-time.Second), {}} {
			assert.Equal(t, c.want[i], Choices{Origin: c.origin}.At(&k, now), "%q, instant %d", c.origin, i)
		}
	}
}

// If the clock of a process is set back by more than the skew, the process continues as another origin. No origin
// begins before 1970.
func TestAClockThatStepsBackMakesANewOrigin(t *testing.T) {
	var o Origins
	first, at := o.Stamp(choices, start1970)
	assert.Equal(t, start1970, at)
	same, at := o.Stamp(choices, start1970-choices.Skew)
	assert.Equal(t, first, same)
	assert.Equal(t, start1970+time.Microsecond, at)
	other, at := o.Stamp(choices, start1970-choices.Skew)
	assert.NotEqual(t, first, other, "the clock has stepped back by a microsecond more than the skew")
	assert.Equal(t, start1970-choices.Skew, at)
	assert.True(t, o.Same(first, other))
	assert.True(t, o.Same(first, first))
	stranger := o.add(origin{name: "stranger"})
	assert.False(t, o.Same(first, stranger))

	var again Origins
	for range 3 { // the process begins three times at the instant 0, as if its clock had never been set
		again.own = Nobody
		number, _ := again.Stamp(choices, 0)
		assert.GreaterOrEqual(t, again.list[number].begun, int64(0))
	}
	assert.Equal(t, 3, again.count())
}

// Forget keeps an origin that has seen something at or after the instant since, to the microsecond. If an origin
// has seen something after the latest valid instant, its observations must be sent again.
func TestForgetIsExactToTheMicrosecond(t *testing.T) {
	since, by := start1970, start1970+time.Hour
	of := func(latest time.Duration) Origins {
		o := Origins{list: make([]origin, 1)}
		o.own = o.add(origin{name: "me", until: micros(latest), latest: micros(latest)})
		return o
	}
	for latest, want := range map[time.Duration]struct {
		kept, own bool
		until     time.Duration
	}{
		since - time.Microsecond: {},
		since:                    {true, true, since},
		by:                       {true, true, by},
		by + time.Microsecond:    {true, false, since - time.Microsecond},
	} {
		o := of(latest)
		o.Forget(since, by)
		require.Equal(t, want.kept, o.count() == 1, "%v", latest-since)
		assert.Equal(t, want.own, o.own != Nobody, "%v", latest-since)
		if want.kept {
			assert.Equal(t, micros(want.until), o.list[1].until, "%v", latest-since)
			assert.Equal(t, micros(min(latest, by)), o.list[1].latest)
		}
	}
}

func TestOriginsUseAllNumbers(t *testing.T) {
	var k Counts
	require.NoError(t, k.Merge(form, choices, start1970, deltaOf(math.MaxUint16, start1970, nil)))
	o := &k.origins
	for v, there := range map[Origin]bool{Nobody: true, 1: true, math.MaxUint16: true} {
		assert.Equal(t, there, o.Holds(v))
	}
	few := Origins{list: make([]origin, 2)}
	assert.Equal(t, []bool{true, false, false}, []bool{few.Holds(Nobody), few.Holds(1), few.Holds(2)})
	state := func(o *Origins, c *snapshot.Codec) { o.State(c) }
	data, _ := snapshot.Append(nil, 1, o.State)
	var again Origins
	require.NoError(t, snapshot.Restore(data, 1, &again, state), "the largest number of origins is accepted")
	assert.Equal(t, o.list, again.list)
	o.list = append(o.list, origin{name: "one more"})
	data, _ = snapshot.Append(nil, 1, o.State)
	require.ErrorContains(t, snapshot.Restore(data, 1, &again, state), "too many")
}

// A few origins are looked up in the list, and many origins are looked up in an index. Both give the same numbers.
func TestManyOriginsAreFoundAsFewAre(t *testing.T) {
	for _, n := range []int{1, 8, 9, 30} {
		var k Counts
		for range 2 {
			require.NoError(t, k.Merge(form, choices, start1970, deltaOf(n, start1970, []string{"a"}, Fact{"a", Count{2, 1}})))
		}
		assert.Equal(t, n, k.origins.count())
		assert.Equal(t, Count{2 * int64(n), int64(n)}, k.Kept(choices, start1970, "a"), fmt.Sprint(n))
	}
}
