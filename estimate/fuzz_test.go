package estimate

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// FuzzEmpirical reads its input as a program: pairs of an operation and a value. The number of different values is
// small, so many values are equal. One operation repeats another many times, so that short inputs reach deep trees.
func FuzzEmpirical(f *testing.F) {
	f.Add([]byte{0, 1, 200, 0, 2, 200, 0, 3, 200, 1, 2, 200})
	f.Add([]byte{2, 0, 255, 2, 9, 255, 3, 0, 255, 2, 5, 255, 1, 5, 99})
	f.Add([]byte{2, 1, 255, 2, 2, 255, 2, 3, 255, 4, 128, 255, 4, 7, 255, 4, 0, 255, 0, 1, 1})
	f.Fuzz(func(t *testing.T, program []byte) {
		e, o := new(Empirical), new(oracle)
		for len(program) >= 3 && len(o.values) < 5000 {
			op, arg, run := program[0], float64(program[1]), int(program[2])
			program = program[3:]
			for i := range run {
				step(t, e, o, op, arg, i)
			}
			if err := e.values.check(); err != nil {
				t.Fatal(err)
			}
			agree(t, e, o, arg, false)
		}
		agree(t, e, o, 1, true)
		if len(o.values) > 0 {
			if want, got := o.mean(), e.Mean(); math.Abs(got-want) > want*0x1p-50 {
				t.Fatalf("Mean() = %v, want %v", got, want)
			}
		}
	})
}

func step(t *testing.T, e *Empirical, o *oracle, op byte, arg float64, i int) {
	x := arg
	switch op % 5 {
	case 0, 1:
	case 2:
		x = arg + float64(i)/256
	case 3:
		x = arg - float64(i)/256
	case 4:
		if len(o.values) > 0 {
			x = o.values[int(arg)*(len(o.values)-1)/255]
		}
	}
	if op%5 == 1 || op%5 == 4 {
		if got, want := e.Delete(x), o.remove(x); got != want {
			t.Fatalf("Delete(%v) = %v, want %v", x, got, want)
		}
		return
	}
	if got, want := e.Insert(x), x >= 0; got != want {
		t.Fatalf("Insert(%v) = %v, want %v", x, got, want)
	}
	if x >= 0 {
		o.insert(x)
	}
}

// FuzzQuantile checks the definition of a quantile: CDF(Quantile(p)) must be at least p, and the CDF of each
// smaller value must be less than p, except for the rounding that Quantile allows.
func FuzzQuantile(f *testing.F) {
	f.Add(uint16(100), .07)
	f.Add(uint16(49), 1./49)
	f.Add(uint16(1), 0.)
	f.Add(uint16(65535), math.NaN())
	f.Fuzz(func(t *testing.T, n uint16, p float64) {
		e := new(Empirical)
		for i := range int(n) {
			e.Insert(float64(i))
		}
		x := e.Quantile(p)
		if n == 0 {
			if !math.IsInf(x, 1) {
				t.Fatalf("Quantile(%v) of nothing = %v", p, x)
			}
			return
		}
		p = math.Min(math.Max(p, 0), 1)
		if e.CDF(x) < p-0x1p-51 || x > 0 && e.Below(x) >= p+0x1p-51 {
			t.Fatalf("Quantile(%v) of %d = %v, where P(X < x) = %v and P(X <= x) = %v", p, n, x, e.Below(x), e.CDF(x))
		}
	})
}

// FuzzLinear reports arbitrary progress. No answer is negative or overflows, equal reports give equal answers, and
// more progress never makes an answer longer. The first progress is an exception: before it, the answer is the age.
func FuzzLinear(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), int64(0), int64(0), int64(0), int64(1e10), 100., .5)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0x24, 0x40}, int64(1e9), int64(1e9), int64(7), int64(5e9), 20., 1.)
	f.Add([]byte{}, int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(math.MaxInt64), math.MaxFloat64, math.Inf(1))
	f.Fuzz(func(t *testing.T, reports []byte, window, grace, wrapUp, age int64, work, extra float64) {
		m := Linear{Window: time.Duration(window), Grace: time.Duration(grace), WrapUp: time.Duration(wrapUp)}
		var p, again Progress
		for len(reports) >= 16 {
			at := time.Duration(binary.LittleEndian.Uint64(reports))
			done := math.Float64frombits(binary.LittleEndian.Uint64(reports[8:]))
			before := p
			if used := m.Report(&p, at, done); used != m.Report(&again, at, done) || !used && p != before {
				t.Fatalf("Report(%v, %v) used %v: %+v, %+v, before %+v", at, done, used, p, again, before)
			}
			reports = reports[16:]
		}
		got := m.Remaining(&p, time.Duration(age), work)
		if got < 0 && got != Unknown || got != m.Remaining(&again, time.Duration(age), work) {
			t.Fatalf("%+v after %+v, age %d, work %v: %v", m, p, age, work, got)
		}
		if !(p.Rate() >= 0) {
			t.Fatalf("rate %v of %+v", p.Rate(), p)
		}
		more := p
		if p.Done() == 0 || !m.Report(&more, more.At()+1, more.Done()+extra) {
			return
		}
		m.Report(&p, p.At()+1, p.Done())
		less, further := m.Remaining(&p, time.Duration(age), work), m.Remaining(&more, time.Duration(age), work)
		if less != Unknown && further > less {
			t.Fatalf("%+v: %+v leaves %v, but %+v leaves %v", m, p, less, more, further)
		}
	})
}

// FuzzTimeLeft checks that no estimate of LATE is negative, and that a higher score never makes an estimate longer.
func FuzzTimeLeft(f *testing.F) {
	f.Add(.6, int64(20e9), .5, .1, int64(10e9), .01)
	f.Add(0., int64(0), 0., 0., int64(0), 0.)
	f.Add(5e-324, int64(math.MaxInt64), math.MaxFloat64, math.Inf(1), int64(math.MaxInt64), 5e-324)
	f.Fuzz(func(t *testing.T, score float64, age int64, share, part float64, partAge int64, others float64) {
		left := TimeLeft(score, time.Duration(age))
		if left < 0 && left != Unknown {
			t.Fatalf("TimeLeft(%v, %d) = %v", score, age, left)
		}
		if more := TimeLeft(score+.1, time.Duration(age)); left != Unknown && more > left {
			t.Fatalf("TimeLeft(%v, %d) = %v, at .1 more %v", score, age, left, more)
		}
		parts := []Subphase{{Weight: .5, Score: score, Age: time.Duration(age)}, {Weight: share, Score: part, Age: time.Duration(partAge), PeerRate: others}}
		left = TimeLeftBySubphase(parts)
		if left < 0 && left != Unknown {
			t.Fatalf("TimeLeftBySubphase(%+v) = %v", parts, left)
		}
	})
}
