package delay

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowLocality is a slow model of Locality: it adds up single seconds, or single declined offers, and moves by one
// level at a time.
type slowLocality struct {
	waits             []int
	inOffers          bool
	reset             Reset
	candidates        []bool
	level             int
	here, all         int // seconds or offers waited at this level, and since the wait started
	waiting, declined bool
	rejected, tainted bool
	launched          []int
}

func (s *slowLocality) unit() {
	if s.level < len(s.waits) {
		s.here++
		s.all++
	}
}

// settle runs before each answer, because the level rises with the offer after the last declined offer.
func (s *slowLocality) settle() {
	total := 0
	for _, w := range s.waits {
		total += w
	}
	for s.level < len(s.waits) && (!s.candidates[s.level] || s.here >= s.waits[s.level] || s.all >= total) {
		s.level++
		s.here = 0
	}
}

func (s *slowLocality) second() {
	s.settle()
	if s.waiting && !s.inOffers {
		s.unit()
	}
	s.settle()
}

func (s *slowLocality) restart(level int) {
	s.level, s.here, s.all, s.declined = level, 0, 0, false
	s.settle()
}

func (s *slowLocality) offer(level int) bool {
	s.settle()
	if level > s.level {
		s.waiting, s.rejected, s.declined = true, true, true
		if s.inOffers {
			s.unit()
		}
		return false
	}
	s.launched = append(s.launched, level)
	if s.reset != NoRejection {
		s.restart(level)
		s.waiting = s.reset == ToLaunched
	}
	return true
}

func (s *slowLocality) setCandidates(levels uint64) {
	s.settle()
	back := s.level
	for i := len(s.waits) - 1; i >= 0; i-- {
		has := levels>>i&1 != 0
		if has && !s.candidates[i] && i < s.level {
			back = i
		}
		s.candidates[i] = has
	}
	if back != s.level {
		s.level, s.here = back, 0
	}
	s.settle()
}

func (s *slowLocality) endRound(all bool) {
	s.settle()
	switch {
	case s.reset != NoRejection:
	case s.rejected:
		s.tainted = true
	case !all && s.tainted:
	case len(s.launched) > 0:
		s.tainted = false
		s.restart(slices.Min(s.launched))
	default:
		s.tainted = false
		if !s.declined {
			s.restart(s.level)
		}
	}
	s.rejected, s.launched = false, nil
}

func TestLocalityEqualsASlowModel(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 1))
	histories := 1500 // or 4000 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		histories = 4000
	}
	for range histories {
		slow := &slowLocality{reset: Reset(source.IntN(3)), inOffers: source.IntN(4) == 0}
		config := Config{Reset: slow.reset}
		if slow.inOffers {
			config.Misses = []int{}
		} else {
			config.Waits = []time.Duration{}
		}
		for range source.IntN(5) {
			w := source.IntN(6)
			slow.waits = append(slow.waits, w)
			if slow.inOffers {
				config.Misses = append(config.Misses, w)
			} else {
				config.Waits = append(config.Waits, time.Duration(w)*time.Second)
			}
		}
		for range slow.waits {
			slow.candidates = append(slow.candidates, true)
		}
		slow.waiting = slow.reset != OnLaunch
		playAlong(t, source, started(t, config), slow)
	}
}

func playAlong(t *testing.T, source *rand.Rand, j *Locality, slow *slowLocality) {
	now := start
	for range 60 {
		for range source.IntN(4) {
			now = now.Add(time.Second)
			slow.second()
		}
		switch source.IntN(6) {
		case 0:
			all := source.IntN(2) == 0
			j.EndRound(now, all)
			slow.endRound(all)
		case 1:
			levels := source.Uint64()
			j.SetCandidates(now, levels)
			slow.setCandidates(levels)
		default:
			slow.settle()
			want, level := slow.level, source.IntN(len(slow.waits)+1)
			launch := slow.offer(level)
			d := j.Offer(now, level)
			require.Equal(t, want, d.Allowed, "the allowed level differs from %+v at %v", slow, now.Sub(start))
			require.Equal(t, launch, d.Action == Launch)
			require.Equal(t, !launch, d.Reason == Delayed)
			if slow.inOffers {
				require.Zero(t, d.NextLevelIn)
				checkMisses(t, d, *slow)
			} else {
				require.Zero(t, d.Misses)
				checkRise(t, d, *slow)
			}
		}
		level, _ := j.Allowed(now)
		slow.settle()
		require.Equal(t, slow.level, level, "%+v at %v", slow, now.Sub(start))
	}
}

// checkRise runs the slow model to the time at which the level must rise, according to the decision.
func checkRise(t *testing.T, d Decision, slow slowLocality) {
	slow.settle()
	level := slow.level
	if d.NextLevelIn == 0 {
		require.True(t, !slow.waiting || level == len(slow.waits))
		return
	}
	for at := time.Second; at <= d.NextLevelIn; at += time.Second {
		require.Equal(t, level, slow.level)
		slow.second()
	}
	require.Greater(t, slow.level, level, "%v %+v", d, slow)
}

// checkMisses declines the number of offers that the decision states.
func checkMisses(t *testing.T, d Decision, slow slowLocality) {
	level := slow.level
	for range d.Misses {
		require.Equal(t, level, slow.level)
		require.False(t, slow.offer(len(slow.waits)))
	}
	slow.settle()
	require.True(t, slow.level > level || level == len(slow.waits))
}

// After a job has declined its first offer, it may launch on any machine after the sum of its waits, if it
// launches no task. This is true for every sequence of rounds, even if machines join and leave.
func TestLocalityNeverWaitsBeyondItsBound(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		waits, total := make([]time.Duration, 1+source.IntN(4)), time.Duration(0)
		for i := range waits {
			waits[i] = time.Duration(source.Int64N(int64(10 * time.Second)))
			total += waits[i]
		}
		j := started(t, Config{Waits: waits, Reset: Reset(source.IntN(3))})
		now := at(source.Float64() * 100)
		end := now.Add(total)
		for j.Offer(now, len(waits)).Action != Launch {
			require.True(t, now.Before(end), "%v", waits)
			for range source.IntN(3) {
				j.EndRound(now, source.IntN(2) == 0)
				j.SetCandidates(now, source.Uint64())
			}
			if now = now.Add(time.Duration(source.Int64N(int64(3 * time.Second)))); now.After(end) {
				now = end
			}
		}
	}
}
