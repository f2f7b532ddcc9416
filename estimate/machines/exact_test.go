package machines

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// end ends attempts of 20 s on a machine: first the failed attempts, then the finished attempts.
func end(r *Record, now float64, machine, failed, finished int) {
	for range failed {
		r.End(at(now), machine, 0, attempt(20, 0), Failed)
	}
	for range finished {
		r.End(at(now), machine, 0, attempt(20, 0), Finished)
	}
}

// A machine is failing if four conditions are true. The test has a case at the limit of each condition, and a case
// beyond it. More attempts than Trust, which is 2, failed on the machine; more than half of its ended attempts
// failed; more attempts than Trust ended on other machines; less than a quarter of these failed.
func TestFailingIsExactAtItsBounds(t *testing.T) {
	for _, c := range []struct {
		failed, finished, failedElsewhere, finishedElsewhere int
		want                                                 bool
	}{
		{3, 0, 0, 3, true},
		{2, 0, 0, 3, false}, // no more than Trust
		{3, 3, 0, 3, false}, // half
		{4, 3, 0, 3, true},
		{3, 0, 0, 2, false}, // no more than Trust on other machines
		{3, 0, 1, 3, false}, // a quarter
		{3, 0, 1, 4, true},
	} {
		r := newRecord(t, Config{})
		end(r, 0, 0, c.failed, c.finished)
		end(r, 0, 1, c.failedElsewhere, c.finishedElsewhere)
		assert.Equal(t, c.want, r.Judge(0).Standing == Failing, "%+v", c)
		assert.InDelta(t, float64(c.failed)/float64(c.failed+c.finished), r.Judge(0).Failed, 1e-12)
	}
}

// An attempt failed an hour ago, which is the HalfLife, and another has finished now.
func TestFailuresFadeWithTheirAge(t *testing.T) {
	r := newRecord(t, Config{})
	end(r, 0, 0, 1, 0)
	end(r, 3600, 0, 0, 1)
	assert.InDelta(t, .5/1.5, r.Judge(0).Failed, 1e-12)
	assert.InDelta(t, 1.5, r.ended.Value(), 1e-12)
}

// The weights of a machine's attempts are computed again when more than a sixteenth of the HalfLife has passed.
func TestWeightsAreAtMostASixteenthOfAHalfLifeOld(t *testing.T) {
	r := newRecord(t, Config{HalfLife: 16 * time.Second})
	finish(r, 0, 0, 1)
	finish(r, 1, 1, 1) // an event on another machine, which tells the time
	assert.Equal(t, 1., r.Judge(0).Attempts)
	finish(r, 2, 1, 1)
	assert.InDelta(t, 64./65, r.Judge(0).Attempts, 1e-12, "1/(1+(2/16)^2)")
}

// A machine that takes SlowFactor times as long is slow. It is spared if as many machines of its class as MaxShare
// allows are slower: in a class of six, one machine.
func TestSlowAndSparedAreExactAtTheirBounds(t *testing.T) {
	r := cluster(t, Config{}, 2, 4)
	finish(r, 0, 1, 2, 2, 2, 2)
	assert.Equal(t, Verdict{Standing: Slow, ClassFactor: 2, Threshold: 2, Attempts: 4}, r.Judge(1), "a machine that is exactly twice as slow is slow")
	finish(r, 0, 0, 8, 8, 8, 8)
	assert.Equal(t, Verdict{Standing: Slow, ClassFactor: 8, Threshold: 2, Attempts: 4}, r.Judge(0))
	assert.Equal(t, Verdict{Standing: Spared, ClassFactor: 2, Threshold: 2, Attempts: 4}, r.Judge(1))
	assert.Equal(t, Verdict{Standing: Normal, ClassFactor: 1, Threshold: 2, Attempts: 4}, r.Judge(5))
	assert.False(t, r.Judge(1).Avoid())
	finish(r, 0, 6, 8, 8)
	assert.Equal(t, Unknown, r.Judge(6).Standing, "two attempts are no more than Trust")
	r.End(at(0), 7, 0, Attempt{Ran: time.Second}, Killed)
	assert.Equal(t, Verdict{}, r.Judge(7), "an attempt without a typical time says nothing")
	_, known := r.Elsewhere(7)
	assert.Equal(t, 7, known)

	r = newRecord(t, Config{})
	for machine, ratio := range []float64{2, 2, 8} {
		finish(r, 0, machine, ratio, ratio, ratio, ratio)
	}
	factor, _ := r.Elsewhere(0, 1)
	assert.Equal(t, 4., factor, "the factor is against the average, which is 2")
}

// A ninth running attempt replaces the attempt with the oldest report; if reports are equally old, it replaces the
// first of them.
func TestNinthRunningAttemptReplacesTheOldestReport(t *testing.T) {
	r := newRecord(t, Config{})
	for key := range uint64(8) {
		// if a clock is set back, no time passes
		r.Running(at(float64(10-key/2)), 0, key, attempt(5, .25))
	}
	for key := range uint64(8) {
		if key != 5 && key != 6 {
			r.Running(at(20), 0, key, attempt(5, .25))
		}
	}
	r.Running(at(21), 0, 99, attempt(5, .25))
	var keys []uint64
	for _, p := range r.machines[0].present {
		keys = append(keys, p.key)
	}
	assert.Equal(t, []uint64{0, 1, 2, 3, 4, 99, 6, 7}, keys)
}

// A change by at most one thirty-second part is ignored.
func TestASmallChangeOfARunningAttemptIsIgnored(t *testing.T) {
	was := evidence{ratio: 32, seen: full, kind: point}
	for want, all := range map[bool][]evidence{
		true: {
			was, {ratio: 31, seen: full, kind: point}, {ratio: 33, seen: full, kind: point},
			{ratio: 32, seen: full - 2047, kind: point},
		},
		false: {
			{ratio: 30.9, seen: full, kind: point}, {ratio: 33.1, seen: full, kind: point},
			{ratio: 32, seen: full - 2048, kind: point}, {ratio: 32, seen: full, kind: bound},
		},
	} {
		for _, e := range all {
			assert.Equal(t, want, was.near(e), "%+v", e)
		}
	}
}

func TestEvidenceWithoutWeightIsNoSample(t *testing.T) {
	var s sample
	s.add(weightedRatio{1, 0, false})
	s.add(weightedRatio{2, 1, true})
	assert.Equal(t, 1, s.n)
}

// Totals are halved once in each HalfLife, when it has passed.
func TestProgressIsHalvedOnceInAHalfLife(t *testing.T) {
	r := newRecord(t, Config{HalfLife: time.Minute})
	r.AddProgress(at(0), 0, 8)
	for now, want := range map[float64]float64{59: 8, 60: 4, 119: 4, 120: 2, 300: .25} {
		var later Record
		data, err := r.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, later.UnmarshalBinary(data))
		later.AddProgress(at(now/2), 1, 1)
		later.AddProgress(at(now), 1, 1)
		total, _ := later.Progress(0)
		assert.Equal(t, want, total, "after %v s", now)
	}
}

// A snapshot is restored with each number at its largest valid value, and refused with the next larger value.
func TestASnapshotIsRefusedBeyondTheLargestValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *Record)
		want   string // "" if it is restored
	}{
		{"16 that have ended", func(r *Record) { finish(r, 0, 0, make([]float64, recent)...) }, ""},
		{"8 that run", func(r *Record) {
			for key := range uint64(MostRunning) {
				r.Running(at(0), 0, key, attempt(9, 0))
			}
		}, ""},
		{"all progress", func(r *Record) { r.machines[0].total = 1<<61 - 1 }, ""},
		{"more progress", func(r *Record) { r.machines[0].total = 1 << 61 }, "out of range"},
		{"a machine twice", func(r *Record) { r.machines[1].number = 0 }, "a machine twice"},
		{"a class too many", func(r *Record) { r.machines[1].class = 1 }, "where -1 to 0 is expected"},
		{"slowest", func(r *Record) { r.machines[0].past[0].ratio = 100 }, ""},
		{"too slow", func(r *Record) { r.machines[0].past[0].ratio = 100.1 }, "a ratio out of range"},
		{"too fast", func(r *Record) { r.machines[0].past[0].ratio = 1e-3 }, "a ratio out of range"},
		{"no ratio", func(r *Record) { r.machines[0].past[0].ratio = 0 }, "a ratio out of range"},
		{"silent", func(r *Record) { r.machines[0].past[0] = evidence{} }, ""},
		{"no kind", func(r *Record) { r.machines[0].past[0].kind = bound + 1 }, "evidence of an unknown kind"},
		{"to come", func(r *Record) { r.machines[0].past[0].at = time.Second + 1 }, "a time in the future"},
		{"now", func(r *Record) { r.machines[0].past[0].at = time.Second }, ""},
		{"found later", func(r *Record) { r.machines[0].found = time.Second + 1 }, "a time in the future"},
		{"found now", func(r *Record) { r.machines[0].found = time.Second }, ""},
		{"more ended than it holds", func(r *Record) { r.machines[0].ended = 17 }, "more evidence than fits"},
		{"more failed than ended", func(r *Record) { r.machines[0].failed = 5 }, "more evidence than fits"},
		{"more weight", func(r *Record) { r.machines[0].weight = 24.5 }, "more evidence than fits"},
		{"no location", func(r *Record) { r.machines[0].location = 0 }, "a machine with a location out of range"},
		{"location", func(r *Record) { r.machines[0].location = 1e19 }, "a machine with a location out of range"},
		{"unknown without a location", func(r *Record) { r.removeFromTrees(&r.machines[0]); r.machines[0].location = 0 }, ""},
		{"a sum of ended", func(r *Record) { r.ended.Add(1) }, "a sum that differs"},
		{"a sum of failed", func(r *Record) { r.failed.Add(-1) }, "a sum that differs"},
		{"halved later", func(r *Record) { r.progress.halved = time.Second + 1 }, "a time in the future"},
		{"halved now", func(r *Record) { r.progress.halved = time.Second }, ""},
		{"a flag beyond", func(r *Record) { r.machines[0].flag = 2 }, "a flag twice"},
		{"a flag twice", func(r *Record) { r.machines[0].flag, r.machines[1].flag = 0, 0 }, "a flag twice"},
		{"a flag left out", func(r *Record) { r.machines[0].flag = 1 }, "leaves out the number of a flagged machine"},
		{"as many as MaxMachines", func(r *Record) { r.config.MaxMachines = 2 }, ""},
		{"more than MaxMachines", func(r *Record) { r.config.MaxMachines = 1 }, "more machines than MaxMachines"},
	} {
		r := cluster(t, Config{}, 0, 2)
		r.AddProgress(at(1), 0, 1)
		c.change(r)
		data, err := r.MarshalBinary()
		require.NoError(t, err)
		var restored Record
		if err := restored.UnmarshalBinary(data); c.want != "" {
			assert.ErrorContains(t, err, c.want, c.name)
			assert.Zero(t, restored.Len())
		} else if assert.NoError(t, err, c.name) {
			again, _ := restored.MarshalBinary()
			assert.Equal(t, data, again, c.name)
		}
	}
}

// Evidence that is read has a ratio that is positive and finite.
func TestARatioThatIsReadIsPositiveAndFinite(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  bool
	}{
		{math.SmallestNonzeroFloat32, true}, {math.MaxFloat32, true}, {0, false}, {math.Copysign(0, -1), false}, {-1, false},
		{math.Inf(1), false}, {math.NaN(), false},
	} {
		of := evidence{kind: point, seen: full, ratio: float32(c.ratio)}
		data, err := snapshot.Append(nil, 'x', of.code)
		require.NoError(t, err)
		from, read := snapshot.Codec{In: snapshot.NewReader("test", 'x', data)}, evidence{}
		read.code(&from)
		if err := from.In.Close(); c.want {
			assert.NoError(t, err, "%v", c.ratio)
			assert.Equal(t, of, read)
		} else {
			assert.ErrorContains(t, err, "a ratio out of range", "%v", c.ratio)
		}
	}
}
