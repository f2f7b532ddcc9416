package replicate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowLosses keeps every event and counts those of the last 15 to 16 sixteenths of the window.
type slowLosses struct {
	config LossesConfig
	events []lossEvent
}

type lossEvent struct {
	at                     time.Duration
	machine, outputs, lost int
}

func (s *slowLosses) probability(now time.Duration, machine int) float64 {
	slice := s.config.Window / sixteenths
	count := func(of int) (outputs, lost float64) {
		for _, e := range s.events {
			if now/slice-e.at/slice < sixteenths && (of < 0 || e.machine == of) {
				outputs += float64(e.outputs)
				lost += float64(e.lost)
			}
		}
		return outputs, lost
	}
	w := s.config.Weight
	outputs, lost := count(-1)
	cluster := min(1, (lost+w*s.config.Prior)/(outputs+w))
	outputs, lost = count(machine)
	return min(1, (lost+w*cluster)/(outputs+w))
}

func TestLossesAgainstACountOfAllEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 50 {
		l, err := NewLosses(3, LossesConfig{Window: 160 * time.Second, Weight: 10, Prior: 0.05})
		require.NoError(t, err)
		slow := slowLosses{config: l.Config()}
		start, now := time.Unix(rng.Int64N(1e10)-5e9, rng.Int64N(1e9)), time.Duration(0)
		for range 200 {
			seen := now
			if rng.IntN(5) == 0 {
				seen -= 20 * time.Second // a clock that steps back changes nothing
			}
			machine := rng.IntN(3)
			e := lossEvent{at: now, machine: machine, outputs: rng.IntN(5) + 1}
			require.True(t, l.Produced(start.Add(now), machine, e.outputs))
			if rng.IntN(2) == 0 {
				e.lost = 1 + rng.IntN(2)
				require.True(t, l.Lost(start.Add(seen), machine, e.lost))
			}
			slow.events = append(slow.events, e)
			m := rng.IntN(3)
			require.InDelta(t, slow.probability(now, m), l.Probability(start.Add(seen), m), 1e-12)
			now += time.Duration(rng.IntN(30)) * time.Second
			if rng.IntN(30) == 0 {
				now += 200 * time.Second
			}
		}
	}
}

func TestOnsetAgainstACountOfAllLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 100 {
		needed := 1 + rng.IntN(3)
		o, err := NewOnset(2, OnsetConfig{Losses: needed, Window: time.Minute})
		require.NoError(t, err)
		var events [2][]time.Duration
		now := time.Duration(0)
		for range 100 {
			now += time.Duration(rng.IntN(40)) * time.Second
			machine := rng.IntN(2)
			got := false
			if rng.IntN(2) == 0 {
				got = o.Active(time.Unix(0, 0).Add(now), machine)
			} else {
				events[machine] = append(events[machine], now)
				got = o.Lost(time.Unix(0, 0).Add(now), machine)
			}
			recent := 0
			for _, at := range events[machine] {
				if now-at <= time.Minute {
					recent++
				}
			}
			require.Equal(t, recent >= needed, got, "%d losses of %v within a minute of %v, %d needed", recent, events[machine], now, needed)
		}
	}
}
