package assign

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func BenchmarkWindow(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("lags=%d", n), func(b *testing.B) {
			m := Model{Lags: lags(n), Size: 100e6, Bandwidth: 10e6, Contention: .7}
			for b.Loop() {
				if _, err := ChooseWindow(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("inputs=%d", n), func(b *testing.B) {
			inputs := make([]Input, n)
			for i := range inputs {
				inputs[i].Clones = []Clone{{State: Finished, Readers: 1}, {}, {}}
			}
			for b.Loop() {
				if Decide(inputs, time.Second).Action != Wait {
					b.Fatal("no wait")
				}
			}
		})
	}
}

func lags(n int) []time.Duration {
	source := rand.New(rand.NewPCG(1, 1))
	lags := make([]time.Duration, n)
	for i := range lags {
		lags[i] = time.Duration(source.ExpFloat64() * float64(3*time.Second))
	}
	return lags
}

// BenchmarkWindowOfTask measures a window with computation times, which a host computes once an hour for each size of job.
func BenchmarkWindowOfTask(b *testing.B) {
	b.Run("lags=1000/compute=1000", func(b *testing.B) {
		m := Model{Lags: lags(1000), Compute: lags(1000), Size: 100e6, Bandwidth: 10e6, Contention: .7}
		for b.Loop() {
			if _, err := ChooseWindow(m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWindowTable(b *testing.B) {
	w, _ := NewWindowTable(WindowTableConfig{})
	fill(w, rand.New(rand.NewPCG(1, 1)), 5, 1000)
	w.Refresh()
	for name, inputs := range map[string]int{"told=yes": 1, "told=no": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, ok := w.For(Job{Tasks: 5, Inputs: 1 + i%inputs}); !ok {
					b.Fatal("no window")
				}
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	inputs := []Input{{Clones: []Clone{{State: Finished, Readers: 1}, {}}, Ahead: 1}}
	w, err := NewWindowTable(WindowTableConfig{MinSamples: 10, Keep: 10})
	require.NoError(t, err)
	observe := func() {
		w.ObserveLag(5, time.Second)
		w.ObserveCompute(5, 3*time.Second)
		w.ObserveRead(5, 1e6, time.Second, false)
		w.ObserveRead(5, 1e6, 2*time.Second, true)
	}
	for range 10 {
		observe()
	}
	w.Refresh()
	w.For(Job{Tasks: 5})
	for name, f := range map[string]func(){
		"Decide":      func() { Decide(inputs, time.Second) },
		"WindowTable": func() { observe(); w.Refresh(); w.For(Job{Tasks: 5}) },
		"Inputs":      func() { _, _, _ = ManyToOne.Inputs(3, 10, 4) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
