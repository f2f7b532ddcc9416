package machines

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBinsAndPowersAreExact(t *testing.T) {
	for i := range bins {
		require.Equal(t, i, bin(edge(i)))
		require.Equal(t, i, bin(math.Nextafter(edge(i+1), 0)))
	}
	for i := range 9 {
		assert.InEpsilon(t, math.Pow(.013, float64(i)/8), power(.013, i), 1e-14)
	}
	assert.Equal(t, 1., edge(octaves*perOctave))
	for i, root := range roots {
		assert.InEpsilon(t, math.Exp2(float64(i)/perOctave), root, 1e-15)
	}
	assert.Equal(t, []int{-4 * perOctave, bins + 11*perOctave}, []int{bin(math.Ldexp(1, -12)), bin(math.Ldexp(1, 19))})
	for k := range maxGrid + 1 {
		assert.InEpsilon(t, math.Exp2(float64(k)/4), factor(k), 1e-15)
	}
}

// The prior of a machine adds up to 1, and its tail is as slowShare says.
func TestPriorAddsUpToOne(t *testing.T) {
	g := newGrid(100, slowShare)
	sum, twice := 0., 0.
	for k := range g.steps {
		sum += g.prior[k]
		if factor(k) >= 2 {
			twice += g.prior[k]
		}
	}
	assert.InDelta(t, 1, sum, .001)
	assert.InDelta(t, slowShare/2, twice, slowShare/50, "the rest of the half is above Limit")
	assert.Equal(t, 27, g.steps, "the grid reaches 2^6.5")
	only := newGrid(1, slowShare)
	most := newGrid(1e6, slowShare)
	assert.Equal(t, []int{1, 80}, []int{only.steps, most.steps})
}

// slowSurvivors computes the product-limit estimate by its definition, from the attempts on the other machines of a
// class and the guessed attempts. The result is a function: the share of the attempts that reach a bin. In each
// earlier bin, the survivors fall by the share of the attempts at risk that end in the bin.
func slowSurvivors(r *Record, own *machine, centre float64) func(bin int) float64 {
	guessed := func(i int) float64 {
		ratio := math.Exp2(float64(i)/perOctave-octaves) / centre
		switch {
		case i == 0:
			return 1 // a ratio below the first bin belongs to the first bin
		case ratio > 1:
			return 1 / (2 * ratio)
		}
		return 1 - ratio/2
	}
	var reach, end [bins]int // attempts that reach a bin and no later bin, and those of them that end there
	for _, m := range r.machines {
		if m.number == own.number || m.class != own.class {
			continue
		}
		all := slices.Clone(m.past[:m.pasts])
		for _, p := range m.present[:m.presents] {
			all = append(all, p.evidence)
		}
		for _, e := range all {
			if e.kind == silent || e.seen < full {
				continue
			}
			at := min(max(int(math.Floor(perOctave*(math.Log2(float64(e.ratio))+octaves)+1e-9)), 0), bins-1)
			if reach[at]++; e.kind == point {
				end[at]++
			}
		}
	}
	var lives [bins + 1]float64
	lives[0] = 1
	for i := range bins {
		ends, come := r.config.Trust*(guessed(i)-guessed(i+1)), r.config.Trust*guessed(i)
		for _, n := range reach[i:] {
			come += float64(n)
		}
		lives[i+1] = lives[i] * (1 - (ends+float64(end[i]))/come)
	}
	return func(bin int) float64 { return lives[min(max(bin, 0), bins)] }
}

// The median of the posterior equals its definition, on random records of two classes.
func TestPosteriorAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	slow := 0
	for range 200 {
		r := newRecord(t, Config{Limit: []float64{0, 12, 5000}[random.IntN(3)]})
		apart := random.Float64()
		for m := range 12 {
			r.SetClass(m, m%5/4)
			for range random.IntN(20) {
				a := attempt(20*math.Exp(apart*random.NormFloat64()), 0)
				if r.End(at(3600*random.Float64()), m, 0, a, Outcome(random.IntN(3))); random.IntN(4) == 0 {
					r.Running(at(3600), m, random.Uint64N(10), a)
				}
			}
		}
		m := &r.machines[random.IntN(12)]
		for range random.IntN(9) {
			a := attempt(20*(1.3+9*random.Float64()*random.Float64()), 0)
			r.End(at(3600), m.number, 0, a, Killed)
		}
		centre := math.Exp(.1 * random.NormFloat64())
		lives := slowSurvivors(r, m, centre)
		var all [maxGrid + 1]float64
		sum := 0.
		for k := range r.grid.steps {
			all[k] = r.grid.prior[k]
			shown := slices.Clone(m.past[:m.pasts])
			for _, p := range m.present[:m.presents] {
				shown = append(shown, p.evidence)
			}
			for _, e := range shown {
				if e.kind == silent {
					continue
				}
				w := math.Round(8*e.weight(r.clock.Since, r.config.HalfLife)) / 8
				p := 0.
				for at, share := range map[int]float64{bin(float64(e.ratio)) - 4*k: 31. / 32, bin(float64(e.ratio)): 1. / 32} {
					if k == 0 {
						share = 1
					}
					if e.kind == bound {
						p += share * lives(at)
					} else {
						p += share * (lives(at-1) - lives(at+2))
					}
				}
				all[k] *= math.Pow(p, w)
			}
			sum += all[k]
		}
		half, k := all[0], 0
		for half < sum/2 {
			k++
			half += all[k]
		}
		want := min(math.Exp2(float64(k)/4)*centre, r.config.Limit)
		require.InEpsilon(t, want, r.posterior(m, centre), 1e-9)
		if k > 3 {
			slow++
		}
	}
	assert.Greater(t, slow, 10)
}

// Of ten machines one is 8 times slower, and no attempt reports progress. Every attempt that runs for 1.3 times the
// typical time is killed. If the attempts on other machines end between 0.75 and 1.25, a few kills are enough to
// know the slow machine.
func TestKillsAreEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	r := newRecord(t, Config{})
	for kills := 1; ; kills++ {
		for machine := 1; machine < 10; machine++ {
			finish(r, 26*float64(kills), machine, .75+.5*random.Float64())
		}
		r.End(at(26*float64(kills)), 0, 0, attempt(26, 0), Killed)
		if v := r.Judge(0); v.Standing == Slow {
			assert.Equal(t, 6, kills)
			assert.GreaterOrEqual(t, v.ClassFactor, 2.)
			break
		}
		require.Less(t, r.Factor(0), 2., "%d kills", kills)
	}
	for range 9 {
		r.End(at(300), 0, 0, attempt(26, 0), Killed)
	}
	assert.InDelta(t, 3.36, r.Factor(0), .1, "the factor is 1.7 or more, and the prior says how much more")
	assert.Equal(t, []int{0}, r.AppendAvoid(nil))
}

// The same kills prove little in three cases: attempts run as long on other machines, few attempts are known of
// other machines, or the machine's class takes longer.
func TestKillsProveLittleIfOthersRunAsLong(t *testing.T) {
	kill := func(r *Record, machine, n int) {
		for range n {
			r.End(at(0), machine, 0, attempt(26, 0), Killed)
		}
	}
	r := cluster(t, Config{}, 1, 9)
	for machine := 1; machine < 10; machine++ {
		kill(r, machine, 3)
	}
	kill(r, 0, 3)
	assert.Equal(t, 1., r.Factor(0), "3 of 7 attempts run as long on other machines")
	r = cluster(t, Config{}, 1, 1)
	kill(r, 0, 4)
	assert.Less(t, r.Factor(0), 2., "only four attempts are known of other machines")
	r = newRecord(t, Config{})
	for machine := 1; machine < 15; machine++ {
		scale := 1.
		if machine > 9 {
			r.SetClass(machine, 1)
			scale = 1.3
		}
		finish(r, 0, machine, .75*scale, .9*scale, scale, 1.1*scale, 1.25*scale)
	}
	r.SetClass(0, 1)
	kill(r, 0, 9)
	assert.InDelta(t, 1.3, r.Factor(0), .1, "the machine is as slow as its class")
	assert.Equal(t, Normal, r.Judge(0).Standing)
	r.SetClass(0, 0)
	assert.Equal(t, Slow, r.Judge(0).Standing, "in the other class it is slow")
}

// In a first wave the quick attempts end first, and all other attempts look long, on every machine. A machine is
// slow only if its attempts continue after the others' attempts have ended.
func TestLongAttemptsOfAFirstWaveAreNotSlow(t *testing.T) {
	r := newRecord(t, Config{})
	for machine := range 10 {
		finish(r, 20, machine, 1)
		for key := range uint64(4) {
			r.Running(at(32), machine, key, attempt(32, 0))
		}
	}
	for machine := range 10 {
		require.False(t, r.Judge(machine).Avoid())
	}
	for machine := 1; machine < 10; machine++ {
		for key := range uint64(4) {
			r.End(at(34), machine, key, attempt(32+float64(key), 0), Finished)
		}
	}
	for key := range uint64(4) {
		r.Running(at(80), 0, key, attempt(80, 0))
	}
	assert.Equal(t, []int{0}, r.AppendAvoid(nil))
}

// A healthy machine turns bad, and every attempt on it is killed. When it is healthy again, finished attempts show
// this to the record.
func TestMachineThatTurnsBad(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	r := newRecord(t, Config{})
	now := 0.
	others := func() {
		for machine := 1; machine < 10; machine++ {
			finish(r, now, machine, .75+.5*random.Float64())
		}
		now += 26
	}
	for range 50 {
		others()
		finish(r, now, 0, .75+.5*random.Float64())
	}
	kills := 0
	for ; r.Judge(0).Standing != Slow; kills++ {
		others()
		r.End(at(now), 0, 0, attempt(26, 0), Killed)
		require.Less(t, kills, recent)
	}
	assert.Equal(t, 14, kills)
	ends := 0
	for ; r.Judge(0).Standing != Normal; ends++ {
		others()
		finish(r, now, 0, 1)
		require.Less(t, ends, recent)
	}
	assert.Less(t, ends, 6)
}

// alarms simulates clusters of twenty machines that differ by 10 %. Attempts differ by 25 %, and a twentieth are 8
// times slower on any machine. An attempt that runs for the given multiple of the typical time is killed, and no
// attempt reports progress. The first machine of each cluster is slow, unless slow is 1. alarms returns three
// numbers: how many other machines were ever called slow, how many first machines were, and the mean number of
// attempts before a first machine was called slow.
func alarms(t *testing.T, clusters, attempts int, killed, slow, share float64) (others, first int, after float64) {
	random := rand.New(rand.NewPCG(9, uint64(10*killed)))
	for range clusters {
		r := newRecord(t, Config{})
		r.grid = newGrid(r.config.Limit, share)
		var factors [20]float64
		for m := range factors {
			factors[m] = math.Exp(.1 * random.NormFloat64())
		}
		if slow > 1 {
			factors[0] = slow
		}
		var called [20]bool
		for i := range attempts {
			for m, factor := range factors {
				ratio := factor * math.Exp(.25*random.NormFloat64())
				if random.Float64() < .05 {
					ratio *= 8
				}
				how := Finished
				if ratio > killed {
					ratio, how = killed, Killed
				}
				r.End(at(float64(20*i)), m, 0, Attempt{Ran: span(20 * ratio), Usual: 20 * time.Second}, how)
				if v := r.Judge(m); called[m] || v.Standing != Slow && v.Standing != Spared {
					continue
				}
				called[m] = true
				if m > 0 || slow == 1 {
					others++
				} else {
					first++
					after += float64(i + 1)
				}
			}
		}
	}
	return others, first, after / float64(max(first, 1))
}

// TestAlarmsByKills makes the second table of the package's documentation. The first number is how many of 10,000
// healthy machines are ever called slow within 60 attempts. The others are the attempts before a machine is called
// slow that is 2 or 8 times slower. The last two rows vary slowShare. With STRAGGLER_LIVES the test makes all rows. An
// ordinary run makes the second row, with 4,000 healthy machines, of which one is called slow.
func TestAlarmsByKills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		killed, share float64
		alarms        int
		twice, eight  float64
	}{
		{1.3, slowShare, 8, 10.0, 7.5},
		{1.6, slowShare, 2, 8.2, 4.7},
		{2.5, slowShare, 2, 15.8, 3.3},
		{1.3, slowShare / 10, 2, 14.4, 10.7},
		{1.3, slowShare * 10, 41, 7.0, 5.1},
	} {
		clusters := 500
		if os.Getenv("STRAGGLER_LIVES") == "" {
			if c.share != slowShare || c.killed != 1.6 {
				continue
			}
			clusters, c.alarms = 200, 1
		}
		wrong, _, _ := alarms(t, clusters, 60, c.killed, 1, c.share)
		_, some, twice := alarms(t, 50, 60, c.killed, 2, c.share)
		_, all, eight := alarms(t, 50, 60, c.killed, 8, c.share)
		assert.Equal(t, c.alarms, wrong, "%+v", c)
		assert.GreaterOrEqual(t, some, 49, "%+v", c)
		assert.Equal(t, 50, all, "%+v", c)
		assert.InDeltaSlice(t, []float64{c.twice, c.eight}, []float64{twice, eight}, .06, "%+v", c)
	}
}
