package machines

import (
	"encoding/json"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at returns an instant, in seconds.
func at(seconds float64) time.Time { return time.Unix(0, 0).Add(span(seconds)) }

func span(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }

func newRecord(t testing.TB, c Config) *Record {
	t.Helper()
	r, err := New(c)
	require.NoError(t, err)
	return r
}

// attempt returns an attempt that has run for the given seconds with the given progress. The typical time of its
// work is 20 s.
func attempt(ran, done float64) Attempt {
	return Attempt{Ran: span(ran), Usual: 20 * time.Second, Done: done}
}

// finish records finished attempts on a machine. Each of them took ratio times the typical time.
func finish(r *Record, now float64, machine int, ratios ...float64) {
	for _, ratio := range ratios {
		r.End(at(now), machine, 0, attempt(20*ratio, 0), Finished)
	}
}

// cluster returns a record with n healthy machines, which have the numbers first, first+1 and so on.
func cluster(t testing.TB, c Config, first, n int) *Record {
	r := newRecord(t, c)
	for machine := first; machine < first+n; machine++ {
		finish(r, 0, machine, 1, 1, 1, 1)
	}
	return r
}

// Of ten machines one is 8 times slower. The slow machine's attempts are killed after 4 s of the 160 s that they
// would take.
func TestMachineThatNeverFinishesIsKnown(t *testing.T) {
	r := newRecord(t, Config{})
	now := 0.
	for key := range uint64(3) {
		for machine := 1; machine < 10; machine++ {
			r.Running(at(now+4), machine, 0, attempt(now+4, (now+4)/20))
		}
		assert.Equal(t, 1., r.Factor(0), "after %d", key)
		r.Running(at(now+2), 0, key, attempt(2, 2./160))
		r.Running(at(now+4), 0, key, attempt(4, 4./160))
		r.End(at(now+4), 0, key, attempt(4, 4./160), Killed)
		now += 4
	}
	assert.InDelta(t, 8, r.Factor(0), 1e-6)
	for machine := 1; machine < 10; machine++ {
		assert.InDelta(t, 1, r.Factor(machine), 1e-6)
	}
	assert.Equal(t, "slow class-factor=8 threshold=2 attempts=2.39999", r.Judge(0).String())
	assert.Equal(t, []int{0}, r.AppendAvoid(nil))
	factor, known := r.Elsewhere(0)
	assert.InDelta(t, 1, factor, 1e-6)
	assert.Equal(t, 9, known)
}

// Without progress, the time of a killed or running attempt is a lower bound.
func TestBoundsAreEvidence(t *testing.T) {
	r := cluster(t, Config{}, 1, 5)
	for key := range uint64(3) {
		r.Running(at(100), 0, key, attempt(100, 0))
	}
	assert.InDelta(t, 9.5, r.Factor(0), .1, "three hung attempts of 100 s, typically 20 s: half take twice 100 s")
	for key := range uint64(3) {
		r.End(at(100), 0, key, attempt(100, 0), Killed)
	}
	assert.InDelta(t, 9.5, r.Factor(0), .1)
	for range 9 {
		r.End(at(100), 1, 0, attempt(2, 0), Killed)
	}
	assert.Equal(t, 1., r.Factor(1), "an attempt that was killed early says nothing")
}

func TestOneSlowTaskBrandsNoMachine(t *testing.T) {
	r := cluster(t, Config{}, 1, 5)
	finish(r, 0, 0, 9)
	assert.Equal(t, 1., r.Factor(0))
	finish(r, 0, 0, 9)
	assert.Equal(t, 1., r.Factor(0))
	assert.Equal(t, Unknown, r.Judge(0).Standing)
	finish(r, 0, 0, 9)
	assert.InDelta(t, 9, r.Factor(0), 1e-6)
	finish(r, 0, 0, 1, 1, 1)
	assert.InDelta(t, 1, r.Factor(0), 1e-6, "two slow tasks against as many healthy tasks")
	r = cluster(t, Config{}, 0, 5)
	finish(r, 0, 0, 9, 9, 9)
	assert.InDelta(t, 1, r.Factor(0), 1e-6, "a known machine needs more slow tasks")
	finish(r, 0, 0, 9, 9, 9, 9)
	assert.InDelta(t, 9, r.Factor(0), 1e-6)
}

// A slow machine gets no task, so its evidence fades until it gets a task again. If this task is slow as well, it
// is enough to call the machine slow again.
func TestSlowMachineIsTriedAgain(t *testing.T) {
	r := cluster(t, Config{}, 1, 5)
	finish(r, 0, 0, 8, 8, 8)
	tried := 0
	for now := 60.; now < 8*3600; now += 60 {
		finish(r, now, 1+tried%5, 1)
		if !r.Judge(0).Avoid() {
			tried++
			finish(r, now, 0, 8)
			assert.Equal(t, Slow, r.Judge(0).Standing)
		}
	}
	assert.InDelta(t, 12, tried, 5, "the machine is tried about every 40 minutes")
}

// Two machines with a GPU are five times faster than eight machines without. None is slow, and the factors are
// right. A machine that is slower than its class is slow.
func TestClassesAreComparedAmongThemselves(t *testing.T) {
	r := newRecord(t, Config{})
	for machine := range 12 {
		if machine < 4 {
			require.True(t, r.SetClass(machine, 1))
		}
	}
	for machine := range 12 {
		ratio := 1.
		if machine < 4 {
			ratio = .2
		}
		finish(r, 0, machine, ratio, ratio, ratio)
	}
	assert.InDelta(t, .2, r.Factor(0), 1e-6)
	assert.InDelta(t, 1, r.Factor(7), 1e-6)
	assert.Empty(t, r.AppendAvoid(nil))
	finish(r, 0, 0, 1, 1, 1, 1, 1, 1)
	assert.InDelta(t, 1, r.Factor(0), 1e-6)
	assert.InDelta(t, 5, r.Judge(0).ClassFactor, 1e-6)
	assert.Equal(t, []int{0}, r.AppendAvoid(nil))
	require.True(t, r.SetClass(99, 1))
	assert.InDelta(t, .2, r.Factor(99), 1e-6, "a machine without evidence has the factor of its class")
	require.True(t, r.SetClass(0, 0), "in the other class the machine is as the other machines")
	assert.Equal(t, Normal, r.Judge(0).Standing)
	assert.False(t, r.SetClass(0, -1) || r.SetClass(0, 256) || r.SetClass(-1, 0))
}

func TestForgetDropsAllEvidence(t *testing.T) {
	r := cluster(t, Config{}, 1, 5)
	finish(r, 0, 0, 8, 8, 8)
	r.Forget(0)
	r.Forget(77)
	assert.Equal(t, Verdict{}, r.Judge(0))
	assert.Equal(t, 1., r.Factor(0))
	assert.Equal(t, 5, r.Len())
	finish(r, 0, 0, 1)
	assert.Equal(t, 1., r.Factor(0))
}

// The host chooses the numbers, and a hash is a valid number. With more than MaxMachines machines, the record
// forgets the machine that has had no event for the longest time.
func TestAnyNumberIsValidAndMemoryIsBounded(t *testing.T) {
	r := newRecord(t, Config{MaxMachines: 100})
	random := rand.New(rand.NewPCG(4, 4))
	bad := math.MaxInt - 5
	for i := range 20000 {
		finish(r, float64(i), int(random.Uint64()>>1), 1)
		if i%50 == 0 {
			finish(r, float64(i), bad, 7)
		}
	}
	assert.Equal(t, 100, r.Len())
	assert.Len(t, r.machines, 100)
	assert.InDelta(t, 7, r.Factor(bad), 1e-6)
	assert.False(t, r.Running(at(0), -1, 0, attempt(1, 1)) || r.End(at(0), -3, 0, attempt(1, 1), Finished))
	assert.False(t, r.End(at(0), 3, 0, attempt(1, 1), Failed+1))
	sound(t, r)
	assert.LessOrEqual(t, unsafe.Sizeof(machine{}), uintptr(640))
}

func TestAMachineFailsOnlyIfOthersDoNot(t *testing.T) {
	r := cluster(t, Config{}, 1, 5)
	for range 3 {
		r.End(at(0), 0, 0, attempt(1, 0), Failed)
	}
	v := r.Judge(0)
	assert.Equal(t, Failing, v.Standing)
	assert.Equal(t, 1., v.Failed)
	assert.Equal(t, []int{0}, r.AppendAvoid(nil))
	for machine := 1; machine < 6; machine++ {
		for range 3 {
			r.End(at(0), machine, 0, attempt(1, 0), Failed)
		}
	}
	assert.NotEqual(t, Failing, r.Judge(0).Standing, "if attempts fail on all machines, the job is the cause")
	assert.Empty(t, r.AppendAvoid(nil))
}

// "A restart only if a better place becomes available": the only other machine is 8.7 times slower.
func TestElsewhereIsTheBestOtherMachine(t *testing.T) {
	r := newRecord(t, Config{})
	factor, known := r.Elsewhere(3)
	assert.Equal(t, 1., factor)
	assert.Zero(t, known)
	finish(r, 0, 0, 1, 1, 1)
	finish(r, 0, 1, 8.7, 8.7, 8.7)
	factor, known = r.Elsewhere(0)
	assert.InDelta(t, 8.7, factor, 1e-5)
	assert.Equal(t, 1, known)
	factor, _ = r.Elsewhere(1, 1, 55)
	assert.Equal(t, 1., factor)
	finish(r, 0, 2, .25, .25, .25)
	factor, known = r.Elsewhere(0, 1)
	assert.Equal(t, 1., factor, "the factor is at least 1, whatever the other machines")
	assert.Equal(t, 1, known)
	factor, known = r.Elsewhere(0, 1, 2)
	assert.Equal(t, 1., factor)
	assert.Zero(t, known)
}

// For a single machine Elsewhere uses faster code. It gives the same answer as the general code.
func TestElsewhereOfOneMachine(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 8))
	for range 100 {
		r, n := newRecord(t, Config{}), 1+random.IntN(6)
		for step := range 60 {
			finish(r, float64(step), random.IntN(n), .5+float64(random.IntN(4)))
			machine := random.IntN(n + 1)
			factor, known := r.Elsewhere(machine)
			again, knownAgain := r.Elsewhere(machine, machine)
			require.Equal(t, again, factor)
			require.Equal(t, knownAgain, known)
			if random.IntN(20) == 0 {
				r.Forget(machine)
			}
		}
	}
}

// However slow the machines are, fewer than half of a class are slow, and at most MaxShare.
func TestNeverHalfOfTheMachinesAreSlow(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		r := newRecord(t, Config{MaxShare: []float64{0, .1, .5}[random.IntN(3)]})
		n := 1 + random.IntN(30)
		for machine := range n {
			// the ratios stay below Limit, because machines with equal factors are slow together
			ratio := math.Exp(1.2 * random.NormFloat64())
			finish(r, 0, machine, ratio, ratio, ratio, ratio)
		}
		slow := r.AppendAvoid(nil)
		require.LessOrEqual(t, 2*len(slow), n)
		require.LessOrEqual(t, len(slow), max(1, int(r.Config().MaxShare*float64(n))))
		for i, machine := range slow {
			require.Equal(t, Slow, r.Judge(machine).Standing)
			require.True(t, i == 0 || r.Factor(slow[i-1]) >= r.Factor(machine), "the slowest machine is first")
		}
		spared := 0
		for machine := range n {
			if r.Judge(machine).Standing == Spared {
				spared++
				require.LessOrEqual(t, r.Factor(machine), r.Factor(slow[len(slow)-1]))
			}
		}
	}
}

// LATE §4: the total progress sums succeeded and running attempts over all jobs; it is halved as time passes.
func TestProgressOfMachines(t *testing.T) {
	r := newRecord(t, Config{})
	total, of := r.Progress(0)
	assert.Zero(t, total)
	assert.Nil(t, of)
	r.SetClass(5, 0)
	for machine := range 4 {
		require.True(t, r.AddProgress(at(0), machine, float64(machine)+.5))
	}
	r.AddProgress(at(0), 3, -.5)
	total, of = r.Progress(3)
	assert.Equal(t, 3., total)
	assert.Equal(t, 5, of.Len(), "a machine without progress counts")
	assert.Equal(t, .5, of.Quantile(.25+1e-9))
	r.AddProgress(at(2*3600), 0, 1)
	total, _ = r.Progress(3)
	assert.Equal(t, .75, total)
	r.Forget(3)
	assert.Equal(t, 4, of.Len())
	assert.False(t, r.AddProgress(at(1), -1, 1) || r.AddProgress(at(1), 0, math.NaN()) || r.AddProgress(at(1), 0, 1e7))
	r.AddProgress(at(2*3600), 0, -99)
	total, _ = r.Progress(0)
	assert.Zero(t, total, "a total is never negative")
}

func TestConfigNamesTheFieldOutOfRange(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, c := range map[string]Config{
		"Config.HalfLife is -1ns":     {HalfLife: -1},
		"Config.Trust is -1":          {Trust: -1},
		"Config.Trust is NaN":         {Trust: nan},
		"Config.Limit is 0.5":         {Limit: .5},
		"Config.Limit is +Inf":        {Limit: inf},
		"Config.SlowFactor is 0.9":    {SlowFactor: .9},
		"Config.MaxShare is 0.6":      {MaxShare: .6},
		"Config.MaxMachines is -1":    {MaxMachines: -1},
		"Config.MaxSkew is -1ns":      {MaxSkew: -1},
		"want at most 255 bytes":      {Origin: strings.Repeat("x", 256)},
		"MaxMachines is 1073741825, ": {MaxMachines: 1<<30 + 1},
	} {
		_, err := New(c)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "machines: ")
	}
	assert.Equal(t, Config{
		HalfLife: time.Hour, Trust: 2, Limit: 100, SlowFactor: 2, MaxShare: .25, MaxMachines: 65536, MaxSkew: time.Minute,
	}, newRecord(t, Config{}).Config())
}

func TestZeroRecordAnswersWithoutEvidence(t *testing.T) {
	var r Record
	r.Forget(1)
	factor, known := r.Elsewhere(1)
	assert.Equal(t, []any{1., 1., 0, Verdict{}, 0}, []any{r.Factor(1), factor, known, r.Judge(1), r.Len()})
	assert.Empty(t, r.AppendAvoid(nil))
	_, err := r.MarshalBinary()
	assert.NoError(t, err)
}

func TestVerdictInLogsAndJSON(t *testing.T) {
	v := Verdict{Standing: Slow, ClassFactor: 8.125, Threshold: 2, Attempts: 3}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	assert.JSONEq(t, `{"standing":"slow","class-factor":8.125,"threshold":2,"attempts":3}`, string(text))
	assert.Equal(t, "[standing=slow class-factor=8.125 threshold=2 attempts=3]", v.LogValue().String())
	assert.Equal(t, slog.KindGroup, v.LogValue().Kind())
	assert.Equal(t, "unknown", Verdict{}.String())
	_, err = Standing(9).MarshalText()
	assert.Error(t, err)
	var o Outcome
	assert.NoError(t, o.UnmarshalText([]byte("killed")))
	assert.Equal(t, Killed, o)
	assert.ErrorContains(t, o.UnmarshalText([]byte("died")), "finished, killed, failed")
	assert.Error(t, new(Standing).UnmarshalText([]byte("x")))
	assert.Equal(t, "Outcome(7)", Outcome(7).String())
}

func TestRecordDoesNotAllocate(t *testing.T) {
	r := newRecord(t, Config{MaxMachines: 50})
	random := rand.New(rand.NewPCG(2, 2))
	now, dst := 0., make([]int, 0, 50)
	do := func() {
		now += random.ExpFloat64()
		machine, key := random.IntN(60), random.Uint64N(20) // more keys than the record remembers
		ratio := 1 + float64(machine%7)*random.Float64()
		done := .25 * float64(random.IntN(2))
		r.Running(at(now), machine, key, attempt(ratio*20, done))
		r.End(at(now), machine, key, attempt(ratio*20, done), Outcome(random.IntN(3)))
		r.AddProgress(at(now), machine, .5)
		r.Factor(machine)
		r.Judge(machine)
		r.Elsewhere(machine, 3, 4)
		dst = r.AppendAvoid(dst[:0])
	}
	for range 5000 {
		do()
	}
	assert.Zero(t, testing.AllocsPerRun(1000, do))
}

func BenchmarkRunning(b *testing.B) {
	for _, name := range []string{"steady", "changing"} {
		b.Run(name, func(b *testing.B) {
			r := cluster(b, Config{}, 0, 1000)
			random := rand.New(rand.NewPCG(2, 2))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				done := .25
				if name == "changing" {
					done = .1 + .5*random.Float64()
				}
				r.Running(at(1), i%1000, uint64(i%4), attempt(5, done))
			}
		})
	}
}

func BenchmarkElsewhere(b *testing.B) {
	r := cluster(b, Config{}, 0, 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Elsewhere(i % 1000)
	}
}

// The benchmark measures the end of an attempt on a machine where most attempts are killed.
func BenchmarkEnd(b *testing.B) {
	for _, how := range []Outcome{Finished, Killed} {
		b.Run(how.String(), func(b *testing.B) {
			r := cluster(b, Config{}, 0, 1000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.End(at(1), i%100, 0, attempt(30, 0), how)
			}
		})
	}
}

// The zero value learns as a new record does.
func TestZeroRecordLearnsAsANewRecord(t *testing.T) {
	made, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	zero := new(Record)
	if got := zero.AppendAvoid(nil); got != nil || zero.Factor(3) != 1 || zero.Judge(3) != (Verdict{}) || zero.Len() != 0 {
		t.Errorf("an empty record says something: %v", got)
	}
	zero.Forget(1)
	for i := range 40 {
		for machine := range 5 {
			took := time.Minute
			if machine == 4 {
				took = 10 * time.Minute
			}
			now := time.Unix(int64(i), 0)
			for _, r := range []*Record{zero, made} {
				r.End(now, machine, uint64(i), Attempt{Ran: took, Usual: time.Minute}, Finished)
				r.AddProgress(now, machine, 0.1)
			}
		}
	}
	for machine := range 5 {
		if zero.Judge(machine) != made.Judge(machine) {
			t.Errorf("machine %d: %v, want %v", machine, zero.Judge(machine), made.Judge(machine))
		}
	}
	if !zero.Judge(4).Avoid() || zero.Config() != made.Config() {
		t.Error("a zero record learns nothing")
	}
	data, err := new(Record).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Record).UnmarshalBinary(data); err != nil {
		t.Error(err)
	}
}
