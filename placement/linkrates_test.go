package placement

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var noon = time.Unix(1_700_000_000, 0)

func linkRates(t testing.TB, racks int) *LinkRates {
	l, err := NewLinkRates(LinkRatesConfig{Racks: racks})
	require.NoError(t, err)
	return l
}

// At any time six tasks share the downlink of rack 0, with 60 MB/s. Each task reads equal amounts from racks 1 and 2.
func TestSection52LinkRatesFromWhatTasksAchieved(t *testing.T) {
	l := linkRates(t, 3)
	for task := range 100 {
		end := noon.Add(time.Duration(task+6) * 10 * time.Second / 6 * 3)
		assert.True(t, l.Observe(end, 0, []float64{1e9, 150e6, 150e6}, 30*time.Second))
	}
	rate, ok := l.Rate(Link{0, Down})
	assert.True(t, ok)
	assert.InDelta(t, 60e6, rate, 2e6)
	rate, ok = l.Rate(Link{1, Up})
	assert.True(t, ok)
	assert.InDelta(t, 30e6, rate, 1e6)
	for _, link := range []Link{{0, Up}, {1, Down}, {2, Down}, {3, Up}, {-1, Up}, {0, 2}} {
		_, ok = l.Rate(link)
		assert.False(t, ok, "%v has a rate, although it carried nothing or does not exist", link)
	}
	assert.False(t, l.Observe(noon, 0, []float64{1e9, 150e6, 150e6}, 0), "a read that took no time has no rate")
	nominal := Problem{Up: []float64{1e9, 1e9, 1e9}, Down: []float64{1e9, 1e9, 1e9}}
	measured, known := l.Fill(nominal)
	assert.Equal(t, 3, known)
	assert.Equal(t, []float64{1e9, 1e9, 1e9}, nominal.Up)
	assert.Equal(t, 1e9, measured.Up[0])
	assert.Less(t, measured.Down[0], 1e8)
	_, known = l.Fill(Problem{Up: []float64{1}, Down: []float64{1}})
	assert.Zero(t, known)
}

// Little traffic over an idle link does not show a small capacity.
func TestAnIdleLinkHasNoRate(t *testing.T) {
	l := linkRates(t, 2)
	for i := range 50 {
		l.Observe(noon.Add(time.Duration(i)*20*time.Second), 0, []float64{0, 1e3}, 20*time.Second)
	}
	_, ok := l.Rate(Link{0, Down})
	assert.False(t, ok)
}

// A read is reported when it ends. A window with unfinished long reads must not seem to have less traffic than it has.
func TestLinkRatesWaitForUnfinishedReads(t *testing.T) {
	l := linkRates(t, 2)
	for start := range 400 { // each second a read of 60 s starts, so 60 reads run at a time, with 100 bytes/s each
		l.Observe(noon.Add(time.Duration(start+60)*time.Second), 0, []float64{0, 6000}, time.Minute)
	}
	rate, ok := l.Rate(Link{0, Down})
	assert.True(t, ok)
	assert.InDelta(t, 6000, rate, 1)
}

// The rates equal rates that are computed from the list of all reads so far.
func TestLinkRatesEqualTheRatesOfAllReads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		racks, memory := 1+r.IntN(4), 2+r.IntN(10)
		window := time.Duration(1+r.IntN(10)) * time.Second
		l, err := NewLinkRates(LinkRatesConfig{Racks: racks, Windows: memory, Window: window})
		require.NoError(t, err)
		type read struct {
			rack       int
			from       []float64
			start, end float64
		}
		var reads []read
		now := 0 // milliseconds
		for range 100 {
			if len(reads) > 0 { // the windows begin at the first read
				now += r.IntN(4000)
			}
			if len(reads) > 0 && r.IntN(40) == 0 {
				now += 100_000
			}
			from := make([]float64, racks)
			for j := range from {
				from[j] = float64(r.IntN(3) * r.IntN(1000))
			}
			took := 1 + r.IntN(20000)
			rd := read{r.IntN(racks), from, float64(now-took) / 1000, float64(now) / 1000}
			reads = append(reads, rd)
			require.True(t, l.Observe(noon.Add(time.Duration(now)*time.Millisecond), rd.rack, from,
				time.Duration(took)*time.Millisecond))
		}
		w := window.Seconds()
		newest := math.Floor(float64(now) / 1000 / w)
		longest := 0.0
		for _, rd := range reads {
			if math.Floor(rd.end/w) > newest-float64(memory) {
				longest = max(longest, rd.end-rd.start)
			}
		}
		longest = min(longest, w*float64(memory))
		for j := range racks {
			for _, direction := range []Direction{Up, Down} {
				bytes, windows := 0.0, 0.0
				for k := newest - 1 - math.Ceil(longest/w-1e-9); k > newest-float64(memory); k-- {
					sum, busy := 0.0, 0.0
					for _, rd := range reads {
						overlap := min(rd.end, (k+1)*w) - max(rd.start, k*w)
						crossing := rd.from[j]
						if direction == Down {
							crossing = -rd.from[rd.rack]
							for _, b := range rd.from {
								crossing += b
							}
						}
						if overlap <= 0 || crossing == 0 || (j == rd.rack) != (direction == Down) {
							continue
						}
						sum += crossing * overlap / (rd.end - rd.start)
						busy += overlap
					}
					if busy >= 2*w-1e-9 {
						bytes += sum
						windows++
					}
				}
				rate, ok := l.Rate(Link{j, direction})
				require.Equal(t, windows > 0 && bytes > 0, ok)
				if ok {
					require.InEpsilon(t, bytes/windows/w, rate, 1e-6)
				}
			}
		}
	}
}

func TestLinkRatesRefuseIllFormedReads(t *testing.T) {
	for want, c := range map[string]LinkRatesConfig{
		"placement: LinkRatesConfig.Racks is 0":    {},
		"placement: LinkRatesConfig.Window is -1s": {Racks: 1, Window: -time.Second},
		"placement: LinkRatesConfig.Windows is 1":  {Racks: 1, Windows: 1},
	} {
		_, err := NewLinkRates(c)
		assert.ErrorContains(t, err, want)
	}
	l := linkRates(t, 2)
	assert.Equal(t, LinkRatesConfig{Racks: 2, Window: 10 * time.Second, Windows: 30}, l.Config())
	for _, from := range [][]float64{nil, {1}, {1, -1}, {1, math.NaN()}, {math.MaxFloat64, math.MaxFloat64}} {
		assert.False(t, l.Observe(noon, 0, from, time.Second))
	}
	assert.False(t, l.Observe(noon, 2, []float64{1, 1}, time.Second))
	assert.False(t, l.Observe(noon, 0, []float64{1, 1}, 0))
	var zero LinkRates
	assert.False(t, zero.Observe(noon, 0, nil, time.Second))
	_, ok := zero.Rate(Link{})
	assert.False(t, ok)
}

// The rates stay finite if the clock steps back or far ahead, and for reads of any length.
func FuzzLinkRates(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := linkRates(t, 3)
		now := noon
		for ; len(data) >= 4; data = data[4:] {
			now = now.Add(time.Duration(int8(data[0])) << (data[1] % 60))
			l.Observe(now, int(data[2]%4), []float64{float64(data[3]), 1, math.Ldexp(1, int(data[3]))},
				time.Duration(1)<<(data[2]%63))
			for j := range 3 {
				for _, direction := range []Direction{Up, Down} {
					rate, ok := l.Rate(Link{j, direction})
					require.Equal(t, ok, rate > 0)
					require.False(t, math.IsInf(rate, 1))
				}
			}
		}
	})
}

func TestLinkRatesDoNotAllocate(t *testing.T) {
	l := linkRates(t, 40)
	from := make([]float64, 40)
	for j := range from {
		from[j] = 1e6
	}
	now := noon
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		now = now.Add(time.Second)
		l.Observe(now, 3, from, time.Minute)
		l.Rate(Link{3, Down})
	}))
}

func BenchmarkLinkRates(b *testing.B) {
	l := linkRates(b, 40)
	from := make([]float64, 40)
	for j := range from {
		from[j] = 1e6
	}
	now := noon
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		l.Observe(now, 3, from, time.Minute)
	}
}

// Readers share a link of 100 MB/s equally, as in a network, at loads from idle to overloaded. If readers compete for the
// link, the rate is within a tenth of the capacity. If the link is hardly used, it has no rate.
func TestLinkRatesOfASharedLink(t *testing.T) {
	const capacity, step = 100e6, 10 * time.Millisecond
	for _, c := range []struct {
		readers int // number of readers at a time
		known   bool
	}{{1, false}, {3, true}, {8, true}, {40, true}} {
		r := rand.New(rand.NewPCG(4, uint64(c.readers)))
		l := linkRates(t, 2)
		type read struct{ left, size, began float64 }
		var reads []read
		for tick := range 40_000 { // 400 s
			at := float64(tick) * step.Seconds()
			for len(reads) < c.readers {
				size := 50e6 * (1 + 9*r.Float64())
				reads = append(reads, read{size, size, at})
			}
			share := capacity * step.Seconds() / float64(len(reads))
			for i := 0; i < len(reads); i++ {
				if reads[i].left -= share; reads[i].left > 0 {
					continue
				}
				took := time.Duration((at + step.Seconds() - reads[i].began) * 1e9)
				require.True(t, l.Observe(noon.Add(time.Duration(tick+1)*step), 0, []float64{0, reads[i].size}, took))
				reads[i] = reads[len(reads)-1]
				reads = reads[:len(reads)-1]
				i--
			}
		}
		for _, link := range []Link{{0, Down}, {1, Up}} {
			rate, ok := l.Rate(link)
			require.Equal(t, c.known, ok, "%d readers", c.readers)
			if ok {
				assert.InEpsilon(t, capacity, rate, .1, "%d readers", c.readers)
			}
		}
	}
}
