package estimate

import (
	"math"
	"testing"
)

// FuzzUnitTimes reads its input as a program: triples of an operation, seconds and a work. A run repeats an
// operation, so that short inputs reach several fits of the overhead.
func FuzzUnitTimes(f *testing.F) {
	f.Add(byte(0), []byte{0, 10, 10, 40, 1, 20, 40, 40, 2, 0, 3, 9})
	f.Add(byte(1), []byte{0, 60, 1, 9, 0, 60, 2, 9, 0, 60, 5, 9, 3, 0, 250, 30, 1, 60, 251, 9, 1, 60, 252, 9, 3, 0, 0, 255, 0, 9, 9, 255})
	f.Add(byte(8), []byte{0, 10, 10, 40, 1, 20, 40, 40, 4, 3, 9, 9, 5, 60, 9, 9, 2, 0, 3, 9, 0, 255, 20, 90})
	f.Add(byte(6), []byte{1, 255, 254, 50, 1, 253, 250, 50, 0, 1, 1, 200, 2, 1, 1, 200})
	f.Fuzz(func(t *testing.T, choices byte, program []byte) {
		if len(program) > 400 {
			return
		}
		config := UnitTimesConfig{KeepFirstWave: choices&1 != 0, FixedOverhead: choices&2 != 0}
		if choices&4 != 0 {
			config.Floor = 3
		}
		factors := &changingFactors{[5]float64{1, 8, 1e-3, 1, math.NaN()}}
		if choices&8 != 0 {
			config.Factors = factors
		}
		r, err := NewUnitTimes(config)
		if err != nil {
			t.Fatal(err)
		}
		held := map[int]bool{}
		var ids []int // all ids that were ever in use
		for ; len(program) >= 4 && len(r.samples) < 2000; program = program[4:] {
			for i := range int(program[3]) {
				seconds, work := extreme(program[1]), extreme(program[2])*(1+float64(i%5))
				run := ran(seconds, work)
				run.Machine, run.Path = i%5, extreme(program[2])
				factors.factors[i%5] = extreme(program[1] + byte(i))
				id := NoSample
				if len(ids) > 0 {
					id = ids[(i+int(program[1]))%len(ids)]
				}
				switch program[0] % 6 {
				case 0:
					id = NoSample
					fallthrough
				case 1:
					if !held[id] {
						id = NoSample
					}
					delete(held, id)
					if id = r.Running(id, run); id != NoSample {
						if held[id] {
							t.Fatalf("the id %d of another sample is given away", id)
						}
						held[id], ids = true, append(ids, id)
					}
				case 2:
					r.Finish(NoSample, wave(run, i%3 == 0))
				case 3:
					if held[id] {
						delete(held, id)
						r.Drop(id)
					}
				case 4:
					if held[id] {
						delete(held, id)
						run.Done = float64(i % 2)
						if id = r.Kill(id, run); id != NoSample {
							held[id], ids = true, append(ids, id)
						}
					}
				case 5:
					if held[id] && r.Repeat(id, run) {
						delete(held, id)
					}
				}
			}
			soundUnitTimes(t, r, extreme(program[1]))
		}
	})
}

// extreme converts a byte to a number. Most bytes give an ordinary number, and the largest bytes give extreme
// numbers.
func extreme(b byte) float64 {
	odd := [...]float64{0, 1e-300, 1e-18, 1e18, 1e306, math.NaN(), math.Inf(1)}
	if i := int(b) - 249; i >= 0 {
		return odd[i]
	}
	return float64(b) / 8
}

func soundUnitTimes(t *testing.T, r *UnitTimes, x float64) {
	t.Helper()
	live, aside := 0, 0
	for i := range r.samples {
		switch s := &r.samples[i]; {
		case s.unitTime >= 0:
			live++
		case s.unitTime == censored:
			aside++
		}
	}
	if live != r.all.Len() || live+aside+len(r.free) != len(r.samples) {
		t.Fatalf("%d samples, %d censored, %d free places, %d values, of %d", live, aside, len(r.free), r.all.Len(),
			len(r.samples))
	}
	if err := r.all.values.check(); err != nil {
		t.Fatal(err)
	}
	if !(r.Overhead() >= 0) || math.IsInf(r.Overhead(), 1) {
		t.Fatalf("an overhead of %v units", r.Overhead())
	}
	var others PeerTimes
	r.Peers(&others, 0, 1, 2, 3)
	for _, d := range []Distribution{r, &others} {
		if mean, p, q := d.Mean(), d.CDF(x), d.Quantile(0.5); !(mean >= 0 && p >= 0 && p <= 1 && q >= 0) {
			t.Fatalf("%T: mean %v, CDF(%v) = %v, median %v", d, mean, x, p, q)
		}
	}
}
