package skew

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

func TestBadInputIsNamed(t *testing.T) {
	assign := func(p Problem) error { _, err := Assign(p); return err }
	sizes := func(p, m int) error { _, err := NewSizes(p, m); return err }
	sketch := func(d, p int) error { _, err := NewSketch(d, p, 1); return err }
	report := func(m int, values ...int64) error {
		s, _ := NewSizes(2, 2)
		_, err := s.Report(m, values)
		assert.Zero(t, s.Total())
		return err
	}
	add := func(n ...int64) (err error) {
		s, _ := NewSketch(2, 3, 1)
		for _, n := range n {
			err = s.Add(1, n)
		}
		return err
	}
	merge := func(other *Sketch) error { s, _ := NewSketch(2, 3, 1); return s.Merge(other) }
	onSketch := func(c Policy, s *Sketch, reducers ...Reducer) error {
		_, _, err := c.AssignSketch(s, reducers)
		return err
	}
	like := func(d, p int, seed uint64) *Sketch { s, _ := NewSketch(d, p, seed); return s }
	full := like(2, 3, 1)
	require.NoError(t, full.Add(1, math.MaxInt64))
	one := []Reducer{{SecondsPerUnit: 1}}
	of := func(r ...Reducer) Problem { return Problem{Sizes: []int64{1, 2}, Reducers: r} }
	always := func(seconds float64) Problem {
		return of(Reducer{Seconds: func(int64) float64 { return seconds }})
	}
	nan, inf := math.NaN(), math.Inf(1)
	for want, err := range map[string]error{
		"len(Problem.Reducers) is 0":                                                 assign(of()),
		"len(Problem.Sizes) is 2, want 3 or more":                                    assign(of(one[0], one[0], one[0])),
		"Problem.Sizes[1] is -1":                                                     assign(Problem{Sizes: []int64{1, -1}, Reducers: one}),
		"Problem.Sizes[1] is 9223372036854775807":                                    assign(Problem{Sizes: []int64{1, math.MaxInt64}, Reducers: one}),
		"Reducers[0].SecondsPerUnit is 0":                                            assign(of(Reducer{})),
		"Reducers[0].SecondsPerUnit is NaN":                                          assign(of(Reducer{SecondsPerUnit: nan})),
		"Reducers[0].SecondsPerUnit is +Inf":                                         assign(of(Reducer{SecondsPerUnit: inf})),
		"Reducers[0].KnownTo is -1":                                                  assign(of(Reducer{SecondsPerUnit: 1, KnownTo: -1})),
		"Reducers[0].Seconds(2) is NaN, want 0 to":                                   assign(always(nan)),
		"Reducers[0].Seconds(2) is -1":                                               assign(always(-1)),
		"Reducers[0].Seconds(2) is +Inf":                                             assign(always(inf)),
		"Policy.Rule is Rule(3)":                                                     onSketch(Policy{Rule: 3}, full, one...),
		"rows is 0, want 1 or more: the sketch has no":                               onSketch(Policy{}, nil, one...),
		"len(Problem.Sizes) is 3, want 4 or more":                                    onSketch(Policy{}, full, make([]Reducer, 4)...),
		"Reducers[0].Seconds(9223372036854775807) is -":                              onSketch(Policy{}, full, always(-2).Reducers...),
		"partitions is 0":                                                            sizes(0, 1),
		"maps is 0":                                                                  sizes(1, 0),
		"map task is 2, want 0 to 1":                                                 report(2, 1, 2),
		"map task is -1, want 0 to 1":                                                report(-1, 1, 2),
		"map task 1 reports 3 sizes, want 2":                                         report(1, 1, 2, 3),
		"sizes[1] of map task 0 is -2":                                               report(0, 1, -2),
		"sizes[1] of map task 0 is 9223372036854775807":                              report(0, 1, math.MaxInt64),
		"rows is 0, want 1 or more":                                                  sketch(0, 1),
		"partitions is -1":                                                           sketch(1, -1),
		"rows is 1073741824, want 268435456 at most with 1 partitions":               sketch(1<<30, 1),
		"the number of values is -1":                                                 add(-1),
		"the number of values is 9223372036854775807, want 0 to 9223372036854775806": add(1, math.MaxInt64),
		"the other sketch is nil":                                                    merge(nil),
		"the other sketch has 2 rows, 3 partitions and seed 2":                       merge(like(2, 3, 2)),
		"the other sketch has 3 rows, 3 partitions and seed 1":                       merge(like(3, 3, 1)),
		"the other sketch has 2 rows, 4 partitions and seed 1, want 2, 3":            merge(like(2, 4, 1)),
		"has counted 9223372036854775807 values, want at most 0":                     full.Merge(full),
		"the sketch has no hash functions":                                           new(Sketch).Add(1, 1),
	} {
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "skew: ")
	}
	assert.Equal(t, "skew: Policy.Rule is Rule(3), want one of: earliest-end, load-balance, by-hash", onRule(3).Error())
}

func onRule(r Rule) error {
	_, err := Policy{Rule: r}.Assign(Problem{Sizes: []int64{1}, Reducers: []Reducer{{SecondsPerUnit: 1}}})
	return err
}

func TestADecodingErrorLeavesTheSketchUnchanged(t *testing.T) {
	good, _ := NewSketch(2, 3, 300)
	require.NoError(t, good.Add(5, 1000))
	data, err := good.MarshalBinary()
	require.NoError(t, err)
	snapshottest.Flips(t, data, new(Sketch).UnmarshalBinary)
	sealed := func(rows, partitions string, counters ...byte) []byte {
		body := []byte{snapshot.Version}
		for i, content := range []string{rows, partitions, "\x01", string(counters)} {
			body = append(append(body, byte(2*(i+1)), byte(len(content))), content...)
		}
		return snapshot.Seal(body, 0)
	}
	for name, bad := range map[string][]byte{
		"nothing":       nil,
		"version":       append([]byte{9}, data[1:]...),
		"short":         data[:len(data)-1],
		"header only":   data[:3],
		"too long":      append(append([]byte(nil), data...), 0),
		"no rows":       sealed("\x00", "\x03", 0, 0, 0),
		"no partitions": sealed("\x03", "\x00", 0, 0, 0),
		"uneven rows":   sealed("\x02", "\x01", 5, 6),
		"endless":       sealed("\x01", "\x01", 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
		"overflow":      sealed("\x01", "\x01", 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
		"padded":        sealed("\x01", "\x01", 0x85, 0),
		"huge":          sealed("\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\x0f", 0),
	} {
		target, _ := NewSketch(1, 1, 7)
		err := target.UnmarshalBinary(bad)
		require.ErrorContains(t, err, "skew: ", name)
		same, _ := NewSketch(1, 1, 7)
		require.Equal(t, same, target, name)
	}
	assert.Equal(t, 2, good.Rows())
	assert.Equal(t, 3, good.Partitions())
	assert.Equal(t, uint64(300), good.Seed())
}

// Calls on the zero Sketch must not panic.
func TestTheZeroSketchCountsNothing(t *testing.T) {
	var s Sketch
	assert.Zero(t, s.Partition(3, 9))
	assert.Empty(t, s.Append(nil, 0))
	data, err := s.MarshalBinary()
	require.NoError(t, err)
	assert.Error(t, s.UnmarshalBinary(data))
	full, _ := NewSketch(2, 3, 1)
	assert.Equal(t, full.Append(nil, 1), full.Append(nil, 9))
	assert.Equal(t, full.Partition(0, 77), full.Partition(-1, 77))
}

// The encoding and the hash functions must be the same on every machine and in every version.
func TestSketchEncodingAndHashesAreStable(t *testing.T) {
	s, err := NewSketch(2, 4, 1)
	require.NoError(t, err)
	require.NoError(t, s.Add(HashKey("a"), 300))
	require.NoError(t, s.Add(HashKey([]byte("bc")), 5))
	snapshottest.Kept(t, "sketch", s)
	// This is FNV-1a of "a", from the reference vectors of the algorithm.
	assert.Equal(t, uint64(0xaf63dc4c8601ec8c), HashKey("a"))
}

// A second report of a map task changes nothing, even if its sizes would make the sum too large.
func TestSizesCountAMapTaskOnce(t *testing.T) {
	s, err := NewSizes(2, 2)
	require.NoError(t, err)
	used, err := s.Report(1, []int64{math.MaxInt64 - 1, 1})
	assert.True(t, used)
	require.NoError(t, err)
	used, err = s.Report(1, []int64{math.MaxInt64 - 1, 1})
	assert.False(t, used)
	require.NoError(t, err)
	assert.Equal(t, []int64{math.MaxInt64 - 1, 1}, s.Append(nil))
	assert.Equal(t, 1, s.Missing())
}

// A partition is assigned if the reduce task then ends exactly at its deadline. If the deadline has passed, no
// partition is assigned.
func TestDeadlineIsInclusive(t *testing.T) {
	for limit, fits := range map[time.Duration]bool{2 * time.Second: true, 2*time.Second - 1: false, -1: false, 0: true} {
		plan, err := Assign(Problem{Sizes: []int64{1, 1}, Reducers: []Reducer{{SecondsPerUnit: 1, Deadline: limit}}})
		require.NoError(t, err)
		assert.Equal(t, fits, len(plan.Unfit) == 0, limit)
	}
}

// Three times 0.1 s and 0.1 s + 0.2 s are within a deadline of 0.3 s, although both are above 0.3 in floating
// point.
func TestRoundingErrorsDoNotBreakADeadline(t *testing.T) {
	reducers := []Reducer{{SecondsPerUnit: .1, Deadline: 300 * time.Millisecond}}
	for limit, unfit := range map[time.Duration][]int{300 * time.Millisecond: nil, 300*time.Millisecond - 1: {1}} {
		reducers[0].Deadline = limit
		plan, err := Assign(Problem{Sizes: []int64{2, 1}, Reducers: reducers})
		require.NoError(t, err)
		assert.Equal(t, unfit, plan.Unfit, limit)
		byEstimate := []Reducer{{Deadline: limit, Seconds: func(size int64) float64 { return float64(size) * .1 }}}
		plan, err = Assign(Problem{Sizes: []int64{2, 1}, Reducers: byEstimate})
		require.NoError(t, err)
		assert.Equal(t, unfit, plan.Unfit, limit)
	}
}

func TestBaselinesReportPartitionsBeyondADeadline_5(t *testing.T) {
	p := Problem{Sizes: []int64{3, 2, 1}, Reducers: []Reducer{{SecondsPerUnit: 1, Deadline: time.Second}, {SecondsPerUnit: 1}}}
	plan, err := Policy{Rule: ByHash}.Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 0}, plan.Reducer)
	assert.Equal(t, []int{0, 2}, plan.Unfit)
	p.Reducers[0].Deadline = 3 * time.Second
	plan, err = Policy{Rule: ByHash}.Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int{2}, plan.Unfit, "partition 0 ends at the deadline")
	p.Reducers[0].Deadline = time.Second
	plan, err = Policy{Rule: LoadBalance}.Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1, 1}, plan.Reducer)
	assert.Equal(t, []int{0}, plan.Unfit)
	p.Reducers[0].Deadline = 3 * time.Second
	plan, err = Policy{Rule: LoadBalance}.Assign(p)
	require.NoError(t, err)
	assert.Empty(t, plan.Unfit, "partition 0 ends at the deadline")
}

func TestValuesPrintTheirNames(t *testing.T) {
	assert.Equal(t, "load-balance", LoadBalance.String())
	assert.Equal(t, "Rule(7)", Rule(7).String())
	data, err := json.Marshal([]Rule{EarliestEnd, ByHash})
	require.NoError(t, err)
	assert.Equal(t, `["earliest-end","by-hash"]`, string(data))
	var rules []Rule
	require.NoError(t, json.Unmarshal(data, &rules))
	assert.Equal(t, []Rule{EarliestEnd, ByHash}, rules)
	assert.ErrorContains(t, json.Unmarshal([]byte(`["hash"]`), &rules), `skew: Rule is "hash", want one of: earliest-end`)
	_, err = Rule(9).MarshalText()
	assert.EqualError(t, err, "skew: Rule is 9, want 0 to 2")
	plan := Plan{Reducer: []int{0, 0, -1}, Load: []int64{5}, Unfit: []int{2}, Seconds: 2.5}
	assert.Equal(t, "partitions=3 reducers=1 ends=2.5s balance=1 unfit=1", plan.String())
	assert.Equal(t, "[partitions=3 reducers=1 ends=2.5 balance=1 unfit=1]", plan.LogValue().String())
	assert.Equal(t, time.Duration(math.MaxInt64), Plan{Seconds: 1e300}.Duration())
}

func TestTheZeroPlanIsEmptyAndEven(t *testing.T) {
	assert.Equal(t, "partitions=0 reducers=0 ends=0s balance=1 unfit=0", Plan{}.String())
	assert.Equal(t, 1.0, Plan{}.Balance())
}

// If an estimate stays constant for sizes above its largest run, further partitions seem to take no time, and one
// worker gets all of them. KnownTo prevents this.
func TestKnownToKeepsAnEstimateFromLevellingOff(t *testing.T) {
	levels := func(size int64) float64 { return min(float64(size), 10) }
	p := Problem{
		Sizes:    []int64{10, 10, 10, 10, 10, 10},
		Reducers: []Reducer{{Seconds: levels}, {Seconds: levels, Ready: 1}},
	}
	plan, err := Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int64{60, 0}, plan.Load)
	for r := range p.Reducers {
		p.Reducers[r].KnownTo = 10
	}
	plan, err = Assign(p)
	require.NoError(t, err)
	assert.Equal(t, []int64{30, 30}, plan.Load)
	assert.InDelta(t, 30, plan.Seconds, 1e-6)
}

// Empty partitions take no time, and estimates are not called with the size 0.
func TestEmptyPartitionsTakeNoTime(t *testing.T) {
	asked := []int64{}
	fixed := func(size int64) float64 { asked = append(asked, size); return 5 }
	plan, err := Assign(Problem{Sizes: []int64{0, 0, 3}, Reducers: []Reducer{{Seconds: fixed}, {Seconds: fixed}}})
	require.NoError(t, err)
	assert.Equal(t, []int64{3, 0}, plan.Load)
	assert.NotContains(t, asked, int64(0))
}
