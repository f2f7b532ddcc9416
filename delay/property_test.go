package delay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowLocality lives through every second, or every declined offer, and moves by one level at a time.
type slowLocality struct {
	waits             []int
	inOffers          bool
	reset             Reset
	candidates        []bool
	level             int
	here, all         int // units waited at this level, and since the wait started
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

// settle is left to the next question, as the level rises with the offer after the last one to be declined.
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

func TestLocalityAgainstASlowOne(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
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
			require.Equal(t, want, d.Allowed, "%+v at %v", slow, now.Sub(start))
			require.Equal(t, launch, d.Action == Launch)
			require.Equal(t, !launch, d.Rejected())
			if slow.inOffers {
				require.Zero(t, d.Rise)
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

// checkRise takes a copy of the slow one to the instant at which the level is said to rise.
func checkRise(t *testing.T, d Decision, slow slowLocality) {
	slow.settle()
	level := slow.level
	if d.Rise == 0 {
		require.True(t, !slow.waiting || level == len(slow.waits))
		return
	}
	for at := time.Second; at <= d.Rise; at += time.Second {
		require.Equal(t, level, slow.level)
		slow.second()
	}
	require.Greater(t, slow.level, level, "%v %+v", d, slow)
}

// checkMisses declines as many offers as are said to be left.
func checkMisses(t *testing.T, d Decision, slow slowLocality) {
	level := slow.level
	for range d.Misses {
		require.Equal(t, level, slow.level)
		require.False(t, slow.offer(len(slow.waits)))
	}
	slow.settle()
	require.True(t, slow.level > level || level == len(slow.waits))
}

// From the first rejection on, a job that launches nothing may launch anywhere after the sum of its waits, whatever
// rounds are closed and whatever nodes come and go.
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

// The exact window is no worse than any of a fine grid, over all kinds of lags.
func TestWindowAgainstAGrid(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 3))
	for range 400 {
		tr := Transfer{
			Size: 10 * source.Float64(), Bandwidth: 1, Contention: .05 + .95*source.Float64(),
			Clones: 2 + source.IntN(4), Reader: Reader(source.IntN(2)),
			Lags: make([]time.Duration, 1+source.IntN(40)),
		}
		for i := range tr.Lags {
			tr.Lags[i] = time.Duration(source.ExpFloat64() * float64(source.IntN(4)) * float64(time.Second))
			if source.IntN(10) == 0 {
				tr.Lags[i] = Forever
			}
		}
		before := slices.Clone(tr.Lags)
		best, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, before, tr.Lags, "the argument is not changed")
		cost := func(window time.Duration) float64 {
			above := 0.0
			for _, lag := range tr.Lags {
				if lag > window {
					above++
				}
			}
			return tr.read(min(window.Seconds(), tr.Size), tr.Size, above/float64(len(tr.Lags)))
		}
		require.InDelta(t, cost(best.Window), best.Read.Seconds(), 2e-9)
		require.InDelta(t, cost(0), best.AtOnce.Seconds(), 2e-9)
		require.LessOrEqual(t, best.Read, min(best.AtOnce, best.InTurn))
		require.LessOrEqual(t, best.Window.Seconds(), tr.Size+1e-9)
		for i := range 1000 {
			window := time.Duration(float64(i) / 1000 * tr.Size * float64(time.Second))
			require.GreaterOrEqual(t, cost(window), best.Read.Seconds()-2e-9, "%+v: %v beats %v", tr, window, best)
		}
	}
}

// The order of the lags does not matter, and neither does a scale.
func TestWindowInvariants(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		tr := Transfer{Size: 8, Bandwidth: 2, Contention: .2 + .8*source.Float64(), Lags: make([]time.Duration, 20)}
		for i := range tr.Lags {
			tr.Lags[i] = time.Duration(source.IntN(50)) * 100 * time.Millisecond
		}
		best, err := Window(tr)
		require.NoError(t, err)
		source.Shuffle(len(tr.Lags), func(i, j int) { tr.Lags[i], tr.Lags[j] = tr.Lags[j], tr.Lags[i] })
		again, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, best, again)
		for i := range tr.Lags {
			tr.Lags[i] *= 4
		}
		tr.Size *= 4
		scaled, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, 4*best.Window, scaled.Window)
		require.InEpsilon(t, 4*best.Read.Seconds(), scaled.Read.Seconds(), 1e-9)
	}
}

// Every upstream task is read as often as the pattern says, in order.
func TestPatterns(t *testing.T) {
	for upstream := 1; upstream < 20; upstream++ {
		for downstream := 1; downstream < 20; downstream++ {
			for p := AllToAll; p <= OneToOne; p++ {
				next, longest, shortest := 0, 0, math.MaxInt
				for task := range downstream {
					first, end, err := p.Inputs(task, upstream, downstream)
					if p == OneToOne && upstream != downstream || p == ManyToOne && upstream < downstream {
						require.ErrorContains(t, err, "delay: upstream is ")
						continue
					}
					require.NoError(t, err)
					if p == AllToAll {
						require.Equal(t, [2]int{0, upstream}, [2]int{first, end})
						continue
					}
					require.Equal(t, next, first)
					next = end
					longest, shortest = max(longest, end-first), min(shortest, end-first)
					if task == downstream-1 {
						require.Equal(t, upstream, end)
						require.LessOrEqual(t, longest-shortest, 1)
					}
				}
			}
		}
	}
}

// For every clone of every task, each upstream task is read once, whatever the order of events, and with a window without
// end no copy is read twice within a task.
func TestAssignToTheEnd(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 5))
	for trial := range 500 {
		clones, inputs := 2+source.IntN(3), 1+source.IntN(4)
		window := []time.Duration{0, 2 * time.Second, Forever}[trial%3]
		ends := make([][]time.Duration, inputs) // of each copy
		for i := range ends {
			for range clones {
				ends[i] = append(ends[i], time.Duration(source.IntN(8))*time.Second)
			}
		}
		readers := make([][]int, inputs)
		for i := range readers {
			readers[i] = make([]int, clones)
		}
		read := make([][]bool, clones)
		for i := range read {
			read[i] = make([]bool, inputs)
		}
		left := clones * inputs
		for now := time.Duration(0); left > 0; now += time.Second / 2 {
			require.Less(t, now, 20*time.Second)
			for clone := range clones {
				var facts []Input
				var which []int
				for i := range inputs {
					if read[clone][i] {
						continue
					}
					in := Input{Copies: make([]Copy, clones)}
					for c := range in.Copies {
						if ends[i][c] <= now {
							in.Copies[c] = Copy{State: Finished, Readers: readers[i][c]}
						}
					}
					in.Waited = max(0, now-slices.Min(ends[i]))
					facts, which = append(facts, in), append(which, i)
				}
				a := Assign(facts, window)
				if a.Action == Wait {
					require.True(t, window != 0 || a.Reason != WindowOpen)
					continue
				}
				i := which[a.Input]
				require.LessOrEqual(t, ends[i][a.Copy], now)
				require.Equal(t, a.Action == Read, readers[i][a.Copy] == 0)
				require.True(t, a.Action == Read || window != Forever)
				readers[i][a.Copy]++
				read[clone][i] = true
				left--
			}
		}
	}
}

func TestGainLimits(t *testing.T) {
	for _, b := range []struct{ wait, spacing, cost, want time.Duration }{
		{0, 3, 10, 0},
		{0, Forever, Forever, 0},
		{Forever, 3, 10, 7},
		{Forever, 10, 3, -7},
		{5, Forever, 10, -5},
		{Forever, Forever, 10, -Forever},
		{5, Forever, Forever, -5},
		{5, 0, 10, 10},
		{5, 3, Forever, Forever},
		{Forever, Forever - 1, 0, -Forever},
	} {
		g, err := Gain(b.wait, b.spacing, b.cost)
		require.NoError(t, err)
		assert.InDelta(t, float64(b.want), float64(g), math.Abs(float64(b.want))*1e-12, "%+v", b)
	}
	p, err := LocalWithin(2*time.Second, time.Second, 1)
	require.NoError(t, err)
	assert.Equal(t, 1., p)
	p, err = LocalWithin(2*time.Second, time.Second, 0)
	require.NoError(t, err)
	assert.Zero(t, p)
}
