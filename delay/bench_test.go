package delay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func BenchmarkOffer(b *testing.B) {
	for _, levels := range []int{2, 3, 6} {
		b.Run(fmt.Sprintf("levels=%d", levels), func(b *testing.B) {
			waits := make([]time.Duration, levels-1)
			for i := range waits {
				waits[i] = 10 * time.Millisecond
			}
			policy, err := New(Config{Waits: waits})
			if err != nil {
				b.Fatal(err)
			}
			j, now := policy.Start(start), start
			for i := 0; b.Loop(); i++ {
				now = now.Add(time.Millisecond)
				j.Offer(now, i%levels)
			}
		})
	}
}

func BenchmarkWindow(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("lags=%d", n), func(b *testing.B) {
			tr := Transfer{Lags: lags(n), Size: 100e6, Bandwidth: 10e6, Contention: .7}
			for b.Loop() {
				if _, err := Window(tr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAssign(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("inputs=%d", n), func(b *testing.B) {
			inputs := make([]Input, n)
			for i := range inputs {
				inputs[i].Copies = []Copy{{State: Finished, Readers: 1}, {}, {}}
			}
			for b.Loop() {
				if Assign(inputs, time.Second).Action != Wait {
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

func TestNoAllocation(t *testing.T) {
	policy, err := New(Config{Reset: NoRejection})
	require.NoError(t, err)
	j, now := policy.Start(start), start
	inputs := []Input{{Copies: []Copy{{State: Finished, Readers: 1}, {}}}}
	windows, err := NewWindows(WindowsConfig{MinSamples: 10, Keep: 10})
	require.NoError(t, err)
	observe := func() {
		windows.ObserveLag(5, time.Second)
		windows.ObserveRead(5, 1e6, time.Second, false)
		windows.ObserveRead(5, 1e6, 2*time.Second, true)
	}
	for range 10 {
		observe()
	}
	windows.Refresh()
	biased, err := NewBiased(Class{})
	require.NoError(t, err)
	for name, f := range map[string]func(){
		"Locality": func() {
			now = now.Add(time.Second)
			j.Offer(now, 2)
			j.SetCandidates(now, 0b110)
			j.Allowed(now)
			j.EndRound(now, true)
		},
		"Start":   func() { j = policy.Start(now) },
		"Assign":  func() { Assign(inputs, time.Second) },
		"Windows": func() { observe(); windows.Refresh(); windows.For(5) },
		"Gain":    func() { _, _ = Gain(1, 2, 3) },
		"Biased":  func() { biased.For(3) },
		"Inputs":  func() { _, _, _ = ManyToOne.Inputs(3, 10, 4) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
