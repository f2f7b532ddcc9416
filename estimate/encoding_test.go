package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// changingFactors are Factors of machines that change during a test.
type changingFactors struct{ factors [5]float64 }

func (m *changingFactors) Factor(machine int) float64 { return m.factors[machine] }

// act does one random thing to a UnitTimes and returns the answer.
func act(u *UnitTimes, f *changingFactors, held *[]int, r *rand.Rand) float64 {
	i := r.IntN(len(*held))
	id := &(*held)[i]
	run := Run{Age: span(40 * r.Float64()), Work: 10 * r.Float64(), Machine: r.IntN(5), FirstWave: r.IntN(2) == 0}
	run.Done = run.Work * r.Float64()
	switch r.IntN(9) {
	case 0:
		u.Finish(*id, run)
		*id = NoSample
	case 1:
		u.Drop(*id)
		*id = NoSample
	case 2:
		*id = u.Kill(*id, run)
	case 3:
		if u.Repeat(*id, run) {
			*id = NoSample
		}
	case 4:
		f.factors[r.IntN(5)] = .5 + 8*r.Float64()
	default:
		*id = u.Running(*id, run)
	}
	return float64(*id) + u.Mean() + u.Quantile(r.Float64()) + u.Below(r.Float64()) + u.Overhead()
}

// After any history, a restored UnitTimes continues as if it had never stopped: equal answers, ids and bytes.
func TestRestoredUnitTimesContinueAsBefore(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		factors := &changingFactors{[5]float64{1, 1, 1, 1, 8}}
		config := UnitTimesConfig{Floor: float64(r.IntN(2)), KeepFirstWave: r.IntN(2) == 0, FixedOverhead: r.IntN(3) == 0}
		if seed%2 == 0 {
			config.Factors = factors
		}
		old, err := NewUnitTimes(config)
		require.NoError(t, err)
		held := make([]int, 40)
		for i := range held {
			held[i] = NoSample
		}
		for range r.IntN(600) {
			act(old, factors, &held, r)
		}
		data, err := old.MarshalBinary()
		require.NoError(t, err)
		fresh, err := NewUnitTimes(UnitTimesConfig{Factors: config.Factors})
		require.NoError(t, err)
		require.NoError(t, fresh.UnmarshalBinary(data))
		require.NoError(t, fresh.all.values.check())
		require.Equal(t, old.Config(), fresh.Config())
		again, err := fresh.AppendBinary([]byte("x"))
		require.NoError(t, err)
		require.Equal(t, data, again[1:])
		// Both UnitTimes use the same factors. So the test undoes a change that the first call of act has made
		// before the second call.
		twin := append([]int(nil), held...)
		for range 300 {
			pcg := rand.NewPCG(seed, r.Uint64())
			saved, before := *pcg, factors.factors
			want := act(old, factors, &held, rand.New(pcg))
			factors.factors = before
			require.Equal(t, want, act(fresh, factors, &twin, rand.New(&saved)))
		}
	}
}

func TestRestoredEmpiricalContinuesAsBefore(t *testing.T) {
	for _, n := range []int{0, 1, 2, 48, 49, 64, 65, 1000, 30000} {
		r := rand.New(rand.NewPCG(uint64(n), 8))
		e := new(Empirical)
		var values []float64
		for i := range n {
			values = append(values, math.Exp(9*r.NormFloat64()))
			if i%10 == 0 {
				values[i] = float64(i % 4)
			}
			e.Insert(values[i])
			if i%3 == 2 {
				e.Delete(values[i-1])
				values[i-1] = values[i]
			}
		}
		data, err := e.MarshalBinary()
		require.NoError(t, err)
		var restored Empirical
		require.NoError(t, restored.UnmarshalBinary(data))
		require.NoError(t, restored.values.check())
		for range 2000 {
			x, p := math.Exp(9*r.NormFloat64()), r.Float64()
			require.Equal(t, e.Rank(x), restored.Rank(x))
			require.Equal(t, e.Quantile(p), restored.Quantile(p))
			require.Equal(t, e.Mean(), restored.Mean())
			require.Equal(t, e.Insert(x), restored.Insert(x))
			if n > 0 {
				y := values[r.IntN(n)]
				require.Equal(t, e.Delete(y), restored.Delete(y))
			}
		}
		require.NoError(t, restored.values.check())
	}
}

func TestRestoredWrapUpContinuesAsBefore(t *testing.T) {
	var w, restored WrapUp
	for i := range 9 {
		data, err := w.AppendBinary(nil)
		require.NoError(t, err)
		require.NoError(t, restored.UnmarshalBinary(data))
		require.Equal(t, w, restored)
		w.Observe(time.Duration(i), 7*time.Duration(i*i))
	}
}

// A million samples are restored in well under a second; see BenchmarkRestore. Data with false numbers is refused
// at once.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	e, _ := filled(100)
	u, err := NewUnitTimes(UnitTimesConfig{})
	require.NoError(t, err)
	for i := range 100 {
		u.Running(NoSample, ran(float64(1+i%7), 3))
	}
	u.Drop(7)
	var w WrapUp
	w.Observe(1, 3)
	type state interface {
		AppendBinary([]byte) ([]byte, error)
		UnmarshalBinary([]byte) error
	}
	for name, s := range map[string]state{"Empirical": e, "UnitTimes": u, "WrapUp": &w, "Progress": new(Progress)} {
		data, err := s.AppendBinary(nil)
		require.NoError(t, err)
		for n := range data {
			assert.ErrorContains(t, s.UnmarshalBinary(data[:n]), "estimate: "+name, "cut to %d", n)
		}
		assert.Error(t, s.UnmarshalBinary(append(data[:len(data):len(data)], 0)))
		snapshottest.Flips(t, data, s.UnmarshalBinary)
		data[0]++
		assert.ErrorContains(t, s.UnmarshalBinary(data), fmt.Sprintf("version is %d, want %d", data[0], data[0]-1))
		data[0]--
		after, err := s.AppendBinary(nil)
		require.NoError(t, err)
		assert.Equal(t, data, after, "%s: a refused snapshot leaves the value unchanged", name)
	}
}

// Every release reads the snapshots of the releases before it.
func TestCommittedSnapshotsAreRead(t *testing.T) {
	e, w, p := new(Empirical), new(WrapUp), new(Progress)
	for i := range 5 {
		e.Insert(float64(i) * 1.5)
	}
	w.Observe(time.Second, 3)
	Linear{Window: time.Minute}.Report(p, 4*time.Second, 2)
	u, err := NewUnitTimes(UnitTimesConfig{MinSamples: 2, Floor: 1})
	require.NoError(t, err)
	u.Drop(u.Running(NoSample, ran(5, 1)))
	for i := range 4 {
		u.Finish(NoSample, Run{Age: time.Duration(3+i) * time.Second, Work: 3, Machine: i % 2, FirstWave: i < 2})
	}
	u.Running(NoSample, ran(9, 2))
	snapshottest.Kept(t, "empirical", e)
	snapshottest.Kept(t, "wrap-up", w)
	snapshottest.Kept(t, "progress", p)
	snapshottest.Kept(t, "unit-times", u)
}

func FuzzUnitTimesUnmarshal(f *testing.F) {
	u, _ := NewUnitTimes(UnitTimesConfig{Floor: 1, Factors: &changingFactors{[5]float64{1, 2, 3, 4, 5}}})
	for i := range 20 {
		u.Finish(NoSample, Run{Age: time.Duration(i) * time.Second, Work: 3, Machine: i % 5, FirstWave: i < 9})
	}
	u.Drop(u.Running(NoSample, ran(5, 1)))
	data, _ := u.MarshalBinary()
	f.Add(snapshottest.Body(data))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, config := range []UnitTimesConfig{{}, {Factors: &changingFactors{[5]float64{1, 2, 3, 4, 5}}}} {
			u, _ := NewUnitTimes(config)
			if u.UnmarshalBinary(snapshottest.Sealed(data)) != nil {
				continue
			}
			soundUnitTimes(t, u, 3)
			again, _ := u.MarshalBinary()
			other, _ := NewUnitTimes(config)
			if err := other.UnmarshalBinary(again); err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				u.Finish(u.Running(NoSample, ran(float64(i), 2)), ran(3, 2))
			}
			soundUnitTimes(t, u, 3)
		}
	})
}

func FuzzEmpiricalUnmarshal(f *testing.F) {
	e, _ := filled(200)
	data, _ := e.MarshalBinary()
	f.Add(snapshottest.Body(data))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		var e Empirical
		if e.UnmarshalBinary(data) != nil {
			return
		}
		if err := e.values.check(); err != nil {
			t.Fatal(err)
		}
		again, _ := e.MarshalBinary()
		if e.UnmarshalBinary(again) != nil {
			t.Fatal("a state that was read is not read again")
		}
	})
}

func BenchmarkRestore(b *testing.B) {
	e, _ := filled(1_000_000)
	u, _ := NewUnitTimes(UnitTimesConfig{})
	for i := range 1_000_000 {
		u.Running(NoSample, ran(e.At(i), 1+float64(i%7)))
	}
	values, _ := e.MarshalBinary()
	samples, _ := u.MarshalBinary()
	b.Run("Empirical/samples=1000000", func(b *testing.B) {
		b.SetBytes(int64(len(values)))
		for b.Loop() {
			_ = new(Empirical).UnmarshalBinary(values)
		}
	})
	b.Run("UnitTimes/samples=1000000", func(b *testing.B) {
		b.SetBytes(int64(len(samples)))
		for b.Loop() {
			_ = new(UnitTimes).UnmarshalBinary(samples)
		}
	})
}
