package replicate

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// slowLosses stores every event, and adds up the events of the last 15 to 16 sixteenths of the window.
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

// histories returns the number of random histories that a test plays: a fifth of all, or all with STRAGGLER_LIVES.
func histories(all int) int {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return all
	}
	return all / 5
}

// savedEach returns after how many events the tests save and restore the state: after each with STRAGGLER_LIVES, and else
// after seven. A snapshot is restored once more for each of its bytes, with a bit flipped.
func savedEach() int {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return 1
	}
	return 7
}

func TestSection53LossesAgreeWithACountOfAllEvents(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range histories(50) {
		l, err := NewLosses(3, LossesConfig{Window: 160 * time.Second, Weight: 10, Prior: 0.05})
		require.NoError(t, err)
		slow := slowLosses{config: l.Config()}
		// The host's clock steps back sometimes. Time continues from the earlier reading.
		host, now := time.Unix(rng.Int64N(1e10)-5e9, rng.Int64N(1e9)), time.Duration(0)
		for i := range 200 {
			if rng.IntN(5) == 0 {
				l.Probability(host, 0)
				host = host.Add(-time.Duration(rng.IntN(1000)) * time.Second)
			}
			machine := rng.IntN(3)
			e := lossEvent{at: now, machine: machine, outputs: rng.IntN(5) + 1}
			require.True(t, l.Produced(host, machine, e.outputs))
			if rng.IntN(2) == 0 {
				e.lost = 1 + rng.IntN(2)
				require.True(t, l.Lost(host, machine, e.lost))
			}
			slow.events = append(slow.events, e)
			m := rng.IntN(3)
			require.InDelta(t, slow.probability(now, m), l.Probability(host, m), 1e-12)
			passed := time.Duration(rng.IntN(30)) * time.Second
			if rng.IntN(30) == 0 {
				passed += 200 * time.Second
			}
			now += passed
			host = host.Add(passed)
			if i%savedEach() == 0 {
				l = snapshottest.Through(t, l)
			}
		}
	}
}

func TestLossBurstsAgreeWithACountOfAllLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range histories(100) {
		needed := 1 + rng.IntN(3)
		o, err := NewLossBursts(2, LossBurstsConfig{Losses: needed, Window: time.Minute})
		require.NoError(t, err)
		var events [2][]time.Duration
		now := time.Duration(0)
		for i := range 100 {
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
			if i%savedEach() == 0 {
				o = snapshottest.Through(t, o)
			}
			require.Equal(t, recent >= needed, got, "there are %d losses of %v within a minute before %v, and %d begin a burst",
				recent, events[machine], now, needed)
		}
	}
}

// P(lost | burst) is learned only from outputs that were wanted from machines in a burst.
func TestMissingIsLearnedFromBurstsOnly(t *testing.T) {
	b, err := NewLossBursts(3, LossBurstsConfig{Losses: 2, Window: time.Hour, Prior: .5, Weight: 10})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	at := func() time.Time { now = now.Add(time.Second); return now }
	for range 1000 {
		b.Found(at(), 2) // machine 2 is in no burst, so these outputs are not recorded
	}
	_, active := b.Missing(at(), 0)
	assert.False(t, active)
	assert.False(t, b.Lost(at(), 0))
	assert.True(t, b.Lost(at(), 0), "the second loss must begin a burst")
	p, active := b.Missing(at(), 0)
	assert.True(t, active)
	assert.Equal(t, .5, p)
	for range 30 {
		b.Lost(at(), 0)
	}
	for range 10 {
		assert.True(t, b.Found(at(), 0))
	}
	p, _ = b.Missing(at(), 0)
	assert.InDelta(t, (30+5.)/(40+10), p, 1e-12)
	_, active = b.Missing(at(), 1)
	assert.False(t, active)
	_, active = b.Missing(now.Add(2*time.Hour), 0)
	assert.False(t, active, "the burst must be over")

	// After thousands of outputs, the older outputs have less weight, so the probability follows a change.
	for range 5000 {
		b.Lost(at(), 0)
	}
	p, _ = b.Missing(at(), 0)
	assert.Greater(t, p, .98)
	for range 3000 {
		b.Found(at(), 0)
	}
	_ = b.Lost(at(), 0)
	_ = b.Lost(at(), 0)
	p, active = b.Missing(at(), 0)
	assert.True(t, active)
	assert.Less(t, p, .35)
}

// Every release reads the snapshots of the releases before it.
func TestCommittedSnapshotsAreRead(t *testing.T) {
	now := time.Unix(1000, 0)
	l, err := NewLosses(2, LossesConfig{Window: 20 * time.Minute})
	require.NoError(t, err)
	l.Produced(now, 1, 30)
	l.Lost(now.Add(time.Second), 1, 2)
	snapshottest.Kept(t, "losses", l)
	b, err := NewLossBursts(2, LossBurstsConfig{})
	require.NoError(t, err)
	b.Found(now, 0)
	b.Lost(now, 1)
	snapshottest.Kept(t, "bursts", b)
}
