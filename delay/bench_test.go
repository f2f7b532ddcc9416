package delay

import (
	"fmt"
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

func TestNoAllocation(t *testing.T) {
	policy, err := New(Config{Reset: NoRejection})
	require.NoError(t, err)
	j, now := policy.Start(start), start
	biased, err := NewByReadRate(Class{})
	require.NoError(t, err)
	for name, f := range map[string]func(){
		"Locality": func() {
			now = now.Add(time.Second)
			j.Offer(now, 2)
			j.SetCandidates(now, 0b110)
			j.Allowed(now)
			j.EndRound(now, true)
		},
		"Start":      func() { j = policy.Start(now) },
		"Gain":       func() { _, _ = Gain(1, 2, 3) },
		"ByReadRate": func() { biased.For(3) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
