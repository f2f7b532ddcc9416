package merge

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/snapshot"
)

const start1970 = 1000 * day // an instant

// The names of a delta share their common prefixes, and a name may have up to 255 bytes.
func TestNamesOfADeltaSharePrefixes(t *testing.T) {
	long := strings.Repeat("x", MostName-1)
	var k, other set[fact]
	names := []string{"a", "b", "ba", "c", long + "y", long + "z"}
	for _, name := range names {
		k.add(choices, start1970, fact{name, 1})
	}
	delta, err := k.delta(form, choices, start1970, nil)
	require.NoError(t, err)
	assert.Less(t, len(delta), 2*MostName, "the delta codes the common part of the long names once")
	require.NoError(t, other.merge(form, Choices{"other", time.Minute, day}, start1970, delta))
	seen := other.newest(form, choices, start1970, newest)
	require.Len(t, seen, len(names))
	for i, name := range names {
		assert.Equal(t, fact{name, 1}, seen[i].Fact, "%.5s", name)
	}
	err = k.merge(form, choices, start1970, deltaOf(1, start1970, []string{long + "yy"}, fact{long + "yy", 1}))
	require.ErrorContains(t, err, "too long")
	for name, right := range map[string]bool{"": false, long + "x": true, long + "xx": false} {
		sections := []section[fact]{{origin: origin{name: name, begun: 1, until: 1}}}
		delta, _ := snapshot.Append(nil, 't', func(c *snapshot.Codec) { form.delta(c, new([]string), &sections) })
		err := new(set[fact]).merge(form, choices, start1970, delta)
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
	var l set[int64]
	require.NoError(t, l.merge(numbers, choices, last, listOf(last, []time.Duration{last}, 7)))
	assert.Equal(t, []int64{7}, facts(l.newest(numbers, choices, last, 4)))
	require.NoError(t, new(set[int64]).merge(numbers, choices, start1970, listOf(start1970+choices.Skew, nil)))
	require.ErrorContains(t, new(set[int64]).merge(numbers, choices, start1970, listOf(start1970+choices.Skew+time.Microsecond, nil)),
		"ahead of this clock")
}

// Two observations of a process at one instant are a microsecond apart, and both are sent at this instant. After
// the clock was set back, observations of the future are not sent.
func TestAProcessSendsItsOwnNewestObservations(t *testing.T) {
	var a set[int64]
	a.add(choices, start1970, 1)
	a.add(choices, start1970, 2)
	tell := func(now time.Duration) []int64 {
		delta, err := a.delta(numbers, choices, now, nil)
		require.NoError(t, err)
		var b set[int64]
		require.NoError(t, b.merge(numbers, Choices{"b", time.Minute, day}, now, delta))
		return facts(b.newest(numbers, Choices{"b", time.Minute, day}, now, 4))
	}
	assert.Equal(t, []int64{1, 2}, tell(start1970))
	assert.Equal(t, []int64{1, 2}, tell(start1970+time.Microsecond-choices.Skew), "observations within the skew are sent")
	assert.Empty(t, tell(start1970-choices.Skew), "observations beyond the skew are not sent")
}

// At most half of a list comes from a single process, however much it has seen. The other half is for other
// processes.
func TestOneProcessHasHalfOfAList(t *testing.T) {
	var l set[int64]
	var at []time.Duration
	var many []int64
	for i := range int64(20) {
		at, many = append(at, start1970+time.Duration(i)*time.Second), append(many, 100+i)
	}
	require.NoError(t, l.merge(numbers, choices, start1970+time.Minute, listOf(start1970+time.Minute, at, many...)))
	for i := range int64(3) {
		l.add(choices, start1970+time.Duration(i)*time.Second, i)
	}
	assert.Equal(t, []int64{0, 1, 2, 114, 115, 116, 117, 118, 119}, facts(l.newest(numbers, choices, start1970+time.Minute, 12)))
	assert.Equal(t, []int64{1, 2, 118, 119}, facts(l.newest(numbers, choices, start1970+time.Minute, 4)))
}

// The ages up to which observations are kept are exact to the microsecond, also in a snapshot.
func TestAgesOfAListAreExact(t *testing.T) {
	var l set[int64]
	now := start1970
	for i, at := range []time.Duration{
		now - choices.Keep - time.Microsecond, now - choices.Keep, now + choices.Skew, now + choices.Skew + time.Microsecond,
	} {
		l.add(choices, at, int64(i))
	}
	assert.Equal(t, []int64{1, 2}, facts(l.newest(numbers, choices, now, 10)))
	for by, right := range map[time.Duration]bool{now + choices.Skew: true, now + choices.Skew - time.Microsecond: false} {
		state := func(l *set[int64], c *snapshot.Codec) { l.state(numbers, c, by) }
		data, _ := snapshot.Append(nil, 1, func(c *snapshot.Codec) { l.state(numbers, c, math.MaxInt64) })
		var again set[int64]
		assert.Equal(t, right, snapshot.Restore(data, 1, &again, state) == nil, "%v", by)
	}
}

// If observations with the same instant are not shared, they keep their order. Otherwise they have the order that
// all processes use.
func TestAllProcessesShareTheOrderOfAList(t *testing.T) {
	alone := Choices{Keep: day}
	var own, shared set[int64]
	for _, v := range []int64{9, 5, 7} {
		own.add(alone, start1970, v)
	}
	own.add(alone, start1970-time.Second, 8) // this observation is out of order
	assert.Equal(t, []int64{8, 9, 5, 7}, facts(own.newest(numbers, alone, start1970, 8)))
	at := []time.Duration{start1970, start1970, start1970}
	require.NoError(t, shared.merge(numbers, choices, start1970, listOf(start1970, at, 9, 5, 9)))
	assert.Equal(t, []int64{5, 9}, facts(shared.newest(numbers, choices, start1970, 8)), "facts are in the order of their encoding, without duplicates")
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
	var k set[fact]
	require.NoError(t, k.merge(form, choices, start1970, deltaOf(math.MaxUint16, start1970, nil)))
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
		var k set[fact]
		for range 2 {
			require.NoError(t, k.merge(form, choices, start1970, deltaOf(n, start1970, []string{"a"}, fact{"a", 2})))
		}
		assert.Equal(t, n, k.origins.count())
		assert.Len(t, k.newest(form, choices, start1970, 40), n)
	}
}
