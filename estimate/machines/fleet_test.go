package machines

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

const machinesOfFleet = 9

// number returns the number that a process gives to a machine. Each process gives other numbers.
func number(process, machine int) int { return (machine*7+process)%machinesOfFleet + 3*process }

func member(t testing.TB, process int, c Config) *Record {
	c.Origin = mergetest.Name(process)
	r := newRecord(t, c)
	for machine := range machinesOfFleet {
		require.True(t, r.SetName(number(process, machine), fmt.Sprint("node-", machine)))
	}
	return r
}

// judged returns all verdicts of a record, by the name of the machine.
func judged(r *Record) string {
	var b strings.Builder
	for machine := range machinesOfFleet {
		i := r.fleet.names[fmt.Sprint("node-", machine)]
		n := r.machines[i].number
		v := r.Judge(n)
		elsewhere, known := r.Elsewhere(n)
		fmt.Fprintln(&b, machine, r.Factor(n), v.Standing, v.ClassFactor, v.Attempts, v.Failed, elsewhere, known)
	}
	return b.String()
}

func TestLawsOfMerge(t *testing.T) {
	t.Parallel()
	mergetest.Laws(t, mergetest.Fleet[*Record]{
		New: func(process int) *Record { return member(t, process, Config{HalfLife: time.Minute}) },
		See: func(r *Record, process int, now time.Time, random *rand.Rand) {
			machine := random.IntN(machinesOfFleet)
			a := Attempt{Ran: time.Duration(random.IntN(100)) * time.Second, Usual: 20 * time.Second}
			if machine == 4 {
				a.Ran *= 8
			}
			if random.IntN(3) == 0 {
				a.Done = random.Float64()
			}
			how := Finished
			if random.IntN(3) == 0 {
				how = Outcome(random.IntN(3))
			}
			r.End(now, number(process, machine), 0, a, how)
		},
		Answer: func(r *Record, _ time.Time) string { return judged(r) },
	})
}

// After a merge, one process knows the evidence of the other, and judges as if it had seen it itself.
func TestAMergedRecordJudgesByAllEvidence(t *testing.T) {
	a, b := member(t, 0, Config{}), member(t, 1, Config{})
	for machine := range machinesOfFleet {
		ratio := 1.
		if machine == 4 {
			ratio = 8
		}
		finish(a, 100, number(0, machine), ratio, ratio)
		finish(b, 130, number(1, machine), ratio)
	}
	assert.Equal(t, Unknown, b.Judge(number(1, 4)).Standing)
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(delta), 25*2*machinesOfFleet)
	require.NoError(t, b.Merge(at(131), delta))
	assert.Equal(t, []int{number(1, 4)}, b.AppendAvoid(nil))
	before, _ := b.MarshalBinary()
	require.NoError(t, b.Merge(at(131), delta))
	after, _ := b.MarshalBinary()
	assert.Equal(t, before, after, "a delta that comes twice changes nothing")

	delta, err = a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	assert.Len(t, delta, 7, "b knows all evidence, so the delta is empty")
	_, err = a.AppendDelta(nil, []byte("rubbish"))
	assert.ErrorContains(t, err, "estimate/machines: version: ")
	delta, _ = b.AppendDelta(nil, nil, "scheduler-2")
	assert.Len(t, delta, 7, "no process has this name, so the delta is empty")
}

func TestDamagedDeltasAreRefused(t *testing.T) {
	a, b := member(t, 0, Config{}), member(t, 1, Config{})
	for machine := range machinesOfFleet {
		finish(a, 200, number(0, machine), 1, 2, 3)
	}
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	mergetest.Refuses(t, b, at(200), delta)

	var wrong *straggler.FieldError
	c := member(t, 2, Config{})
	require.ErrorAs(t, c.Merge(at(139), delta), &wrong)
	assert.EqualError(t, wrong,
		"estimate/machines: delta of scheduler-0 is 1m1.000026s, want at most 1m0s ahead of this clock")
	assert.NoError(t, c.Merge(at(141), delta))
	require.ErrorAs(t, newRecord(t, Config{}).Merge(at(0), delta), &wrong)
	assert.Equal(t, "Config.Origin", wrong.Field)
}

// The evidence of one process is at most half of the evidence about a machine, however many attempts it reports.
func TestOneProcessGivesAtMostHalfOfTheEvidence(t *testing.T) {
	liar, honest, judge := member(t, 0, Config{}), member(t, 1, Config{}), member(t, 2, Config{})
	for machine := range machinesOfFleet {
		finish(honest, 100, number(1, machine), 1, 1, 1, 1, 1, 1, 1, 1)
	}
	for range 100 {
		finish(liar, 110, number(0, 3), 50)
	}
	for _, r := range []*Record{liar, honest} {
		delta, err := r.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, judge.Merge(at(120), delta))
	}
	assert.Equal(t, Normal, judge.Judge(number(2, 3)).Standing)
	finish(honest, 111, number(1, 3), 50, 50, 50, 50, 50)
	delta, err := honest.AppendDelta(nil, judge.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, judge.Merge(at(121), delta))
	assert.Equal(t, Slow, judge.Judge(number(2, 3)).Standing, "two processes agree that the machine is slow")
}

func TestANameBelongsToOneMachine(t *testing.T) {
	r := newRecord(t, Config{Origin: "a"})
	assert.False(t, r.SetName(-1, "x"))
	assert.False(t, r.SetName(0, ""))
	assert.False(t, r.SetName(0, strings.Repeat("x", 256)))
	assert.True(t, r.SetName(0, "x"))
	assert.True(t, r.SetName(0, "x"), "a name may be set again")
	assert.False(t, r.SetName(0, "y"), "the machine has another name")
	assert.False(t, r.SetName(1, "x"), "another machine has the name")
	finish(r, 1, 2, 1, 1, 1)
	assert.True(t, r.SetName(2, "z"), "the machine is known by its number")
	other := newRecord(t, Config{Origin: "b"})
	delta, err := r.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, other.Merge(at(2), delta))
	assert.Equal(t, 1, other.Len())
	assert.Empty(t, other.AppendAvoid(nil), "the machine has no number yet")
	assert.True(t, other.SetName(9, "z"))
	assert.Equal(t, Normal, other.Judge(9).Standing)
	assert.Equal(t, 1, other.Len())
	other.Forget(9)
	assert.Equal(t, 0, other.Len())
}

// Old evidence is removed, and so is its origin. Evidence of just 32 half-lives stays. The time is not 0 at the begin, as
// no time is before 0.
func TestOldEvidenceIsForgotten(t *testing.T) {
	const begin, age = 1000, 32 * 60
	a, b := member(t, 0, Config{HalfLife: time.Minute}), member(t, 1, Config{HalfLife: time.Minute})
	finish(a, begin, number(0, 0), 1, 1, 1)
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, b.Merge(at(begin+age), delta))
	assert.InDelta(t, 3./(1+32*32), b.Judge(number(1, 0)).Attempts, 1e-9, "all three, of 32 half-lives")
	require.NoError(t, b.Merge(at(begin+age+1), delta))
	assert.Zero(t, b.Judge(number(1, 0)))
	assert.Len(t, b.AppendVersion(nil), 6)
}

// If the clock of a process is set back, the process continues as another origin. So all processes accept its new
// evidence.
func TestAClockThatStepsBackMakesANewOrigin(t *testing.T) {
	a, b := member(t, 0, Config{}), member(t, 1, Config{})
	finish(a, 1000, number(0, 0), 1, 1)
	tell := func(now float64) {
		delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
		require.NoError(t, err)
		require.NoError(t, b.Merge(at(now), delta))
	}
	tell(1000)
	finish(a, 400, number(0, 0), 1, 1)
	tell(1000)
	assert.InDelta(t, 4, b.Judge(number(1, 0)).Attempts, .2)
	tell(401)
	assert.InDelta(t, 2, b.Judge(number(1, 0)).Attempts, .2, "the clock of b steps back as well")
	c := member(t, 2, Config{})
	delta, err := b.AppendDelta(nil, c.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, c.Merge(at(401), delta))
	assert.Equal(t, judged(b), judged(c))
	tell(1000)
	assert.InDelta(t, 2, b.Judge(number(1, 0)).Attempts, .2, "a has forgotten the other evidence as well")
}

// A clock was years ahead. The evidence of that time is not kept for years, and it does not prevent that later
// evidence is accepted.
func TestAClockThatWasAheadDoesNoHarm(t *testing.T) {
	for _, ahead := range []int64{7200, 2e9, 1e11} {
		r := member(t, 0, Config{})
		for range 20 {
			r.End(time.Unix(1000+ahead, 0), number(0, 4), 0, attempt(160, 0), Finished)
		}
		for machine := range machinesOfFleet {
			finish(r, 1000, number(0, machine), slices.Repeat([]float64{1}, 20)...)
		}
		assert.Equal(t, Normal, r.Judge(number(0, 4)).Standing, "%v s", ahead)
		saved, err := r.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, new(Record).UnmarshalBinary(saved), "%v s", ahead)
		delta, err := r.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, member(t, 1, Config{}).Merge(at(1001), delta))
	}
}

// If a clock shows the latest possible instant, a record continues to work, and its snapshots are valid.
func TestARecordWorksAtTheEndOfTime(t *testing.T) {
	r := member(t, 0, Config{})
	for range 3 {
		for range 3 {
			r.End(time.Unix(1e11, 0), number(0, 0), 0, attempt(20, 0), Finished)
		}
		saved, err := r.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, r.UnmarshalBinary(saved))
	}
}

// The clock of a process is ahead. This does no harm to another process that gets the evidence through a third
// process.
func TestAThirdProcessAheadDoesNoHarm(t *testing.T) {
	ahead, middle, behind := member(t, 0, Config{}), member(t, 1, Config{}), member(t, 2, Config{})
	finish(ahead, 150, number(0, 0), 1, 1, 1)
	delta, err := ahead.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, middle.Merge(at(100), delta))
	finish(middle, 100, number(1, 0), 1)
	for _, c := range []struct{ now, want float64 }{{80, 1}, {141, 4}} {
		middle.End(at(c.now+20), number(1, 1), 0, attempt(20, 0), Finished)
		delta, err = middle.AppendDelta(nil, behind.AppendVersion(nil))
		require.NoError(t, err)
		require.NoError(t, behind.Merge(at(c.now), delta))
		assert.InDelta(t, c.want, behind.Judge(number(2, 0)).Attempts, .2)
	}
}

// The location of a machine is pulled towards the median of its class. After a merge, this must be the median of
// all machines, and not of the machines that come before it.
func TestMachinesAreDrawnTowardsTheFinalCentre(t *testing.T) {
	a, b := member(t, 0, Config{}), member(t, 1, Config{})
	for machine := range machinesOfFleet {
		finish(a, 100, number(0, machine), slices.Repeat([]float64{4}, 1+min(3*machine, 3))...)
	}
	delta, err := a.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.NoError(t, b.Merge(at(100), delta))
	for machine := range machinesOfFleet {
		assert.Equal(t, 1., b.Factor(number(1, machine)))
	}
}

func FuzzMerge(f *testing.F) {
	a := member(f, 0, Config{})
	random := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		finish(a, 100, number(0, random.IntN(machinesOfFleet)), random.ExpFloat64())
	}
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(delta[:len(delta)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		b := member(t, 1, Config{MaxMachines: 12})
		if b.Merge(at(1000), snapshottest.Sealed(data)) != nil {
			return
		}
		sound(t, b)
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		c := member(t, 2, Config{MaxMachines: 12})
		require.NoError(t, c.Merge(at(1000), again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Record).UnmarshalBinary(saved))
	})
}

// The benchmark merges a million attempts of a thousand processes on ten thousand machines.
func BenchmarkMerge(b *testing.B) {
	var deltas [][]byte
	random := rand.New(rand.NewPCG(1, 1))
	size := 0
	for process := range 1000 {
		r := newRecord(b, Config{Origin: mergetest.Name(process)})
		for k := range 1000 {
			machine := random.IntN(10_000)
			r.SetName(machine, fmt.Sprintf("rack%02d-node%04d", machine/100, machine))
			r.End(at(float64(1000+k)), machine, 0, attempt(20*random.ExpFloat64(), 0), Finished)
		}
		delta, _ := r.AppendDelta(nil, nil)
		deltas, size = append(deltas, delta), size+len(delta)
	}
	for b.Loop() {
		r := newRecord(b, Config{Origin: "reader"})
		for _, delta := range deltas {
			if err := r.Merge(at(2000), delta); err != nil {
				b.Fatal(err)
			}
		}
		r.Factor(0)
	}
	b.ReportMetric(float64(size)/1e6, "B/attempt")
}

// The benchmark measures the first question after a merge.
func BenchmarkSettle(b *testing.B) {
	r, random := newRecord(b, Config{Origin: "a"}), rand.New(rand.NewPCG(1, 1))
	const many = 10_000
	for k := range 16 * many {
		machine := random.IntN(many)
		r.SetName(machine, fmt.Sprintf("node-%d", machine))
		r.End(at(1000+float64(k)/100), machine, 0, attempt(20*random.ExpFloat64(), 0), Finished)
	}
	b.Run(fmt.Sprintf("machines=%d", many), func(b *testing.B) {
		for b.Loop() {
			r.fleet.merged = true
			r.Factor(0)
		}
	})
}

// Every release reads the snapshots of the releases before it. The delta must be read, too, or refused because of its
// first byte.
func TestCommittedSnapshotsAndDeltasAreRead(t *testing.T) {
	r := newRecord(t, Config{Origin: "a"})
	r.SetName(1, "node-1")
	r.SetName(2, "node-2")
	r.End(at(1000), 1, 0, attempt(20, 0), Finished)
	r.End(at(1001), 2, 0, attempt(9, .5), Killed)
	r.End(at(1001), 2, 0, attempt(2, 0), Failed)
	r.Running(at(1002), 2, 7, attempt(3, 0))
	mergetest.Kept(t, "record", r, newRecord(t, Config{Origin: "b"}), at(1002),
		"6d0200066e6f64652d3105013201016180a8d6b9070082b1d0ba07038094ebdc030a808080fc0300c0843d0ae6"+
			"cc99fb03020114cd99b3ee03cc990302b6ba8997")
}
