package main

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// By a target time or by a price, the number of machines is the one that trying all numbers finds.
func TestNumberOfMachines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 4))
	histories := 20
	if long {
		histories = 60
	}
	for range histories {
		history, packages, _ := randomHistory(r)
		of := reported(t, history, options{n: 1}, packages...)
		machines := []machine{of.shards[0].machine}
		ends := []float64{0}
		for n := 1; n <= 40; n++ {
			p, err := newPlan(of.suites, more(of.suites, machines, n)[:n])
			require.NoError(t, err)
			ends = append(ends, p.seconds)
		}
		overhead := r.ExpFloat64()
		got, err := cheapest(of.suites, machines, overhead)
		require.NoError(t, err)
		best := 1
		for n := range ends[1:] {
			if ends[n+1]+float64(float64(n+1)*overhead) < ends[best]+float64(float64(best)*overhead) {
				best = n + 1
			}
		}
		require.Equal(t, best, got)
		target := of.floor * (1.001 + r.Float64())
		got, err = fewest(of.suites, machines, target)
		require.NoError(t, err)
		if got > 0 && got <= 40 {
			require.LessOrEqual(t, ends[got], target)
			if got > 1 {
				require.Greater(t, ends[got-1], target*.98, "plans are within some percent of monotone")
			}
		}
	}
}

// If the overhead of each piece keeps all plans away from the floor, a number is enough from which no number ends 2 %
// sooner.
func TestEnoughBesideTheFloor(t *testing.T) {
	for file, most := range map[string]int{"compress": 20, "roaring": 20} {
		h, err := loadHistory(t.Context(), "testdata/"+file+".shard")
		require.NoError(t, err)
		m, err := newModel(h)
		require.NoError(t, err)
		of := map[string]bool{}
		for n := range h.samples {
			of[n.pkg] = true
		}
		var sources []source
		for _, pkg := range slices.Sorted(maps.Keys(of)) {
			sources = append(sources, source{path: pkg})
		}
		suites, err := m.suites(sources)
		require.NoError(t, err)
		r, err := options{}.decide(m, sources, suites)
		require.NoError(t, err)
		assert.Greater(t, r.seconds, r.floor*nearly, "this history is an example of the case")
		assert.Len(t, r.shards, r.enough)
		assert.Greater(t, r.enough, 4)
		assert.Less(t, r.enough, most)
		for _, n := range []int{r.enough + 1, 2 * r.enough, 128, 1024} {
			p, err := newPlan(suites, more(suites, []machine{r.shards[0].machine}, n)[:n])
			require.NoError(t, err)
			assert.GreaterOrEqual(t, p.seconds*nearly, r.seconds, "%d machines", n)
		}
	}
}

func TestOptionsOfMachines(t *testing.T) {
	history, packages := hive()
	// All packages take 7m48s on one machine; pkg/agent alone takes 7m9s.
	for _, c := range []struct {
		options
		machines int
	}{
		{options{}, 2}, {options{target: 9 * time.Minute}, 1}, {options{target: 450 * time.Second}, 2},
		{options{overhead: time.Minute}, 1},
		{options{overhead: time.Second}, 2}, {options{n: 5}, 5},
	} {
		assert.Len(t, reported(t, history, c.options, packages...).shards, c.machines, "%+v", c.options)
	}
	h := newHistory()
	require.NoError(t, h.read(bytes.NewReader([]byte(history))))
	m, err := newModel(h)
	require.NoError(t, err)
	suites, err := m.suites([]source{{path: "pkg/agent"}})
	require.NoError(t, err)
	_, err = options{target: time.Minute}.decide(m, nil, suites)
	assert.EqualError(t, err, "no number of machines up to 1024 ends within 1m0s: pkg/agent alone takes 7m9s")
	for want, o := range map[string]options{
		"-n, -machines, -target and -overhead are four ways": {n: 2, target: time.Minute},
		"-target is -1s":                  {target: -time.Second},
		"-overhead is -1s":                {overhead: -time.Second},
		"-affected needs go list: it doe": {named: true, affected: "main"},
	} {
		assert.ErrorContains(t, o.check(), want)
	}
}

// In a suite of 836 files and 1,928 s, one file takes 382.8 s. On 12 machines the plan ends no sooner, and with this
// file cut it would end after 161 s. These are public timings of a project in Ruby.
func TestExplain(t *testing.T) {
	h := newHistory()
	m, err := newModel(h)
	require.NoError(t, err)
	suites := forem(rand.New(rand.NewPCG(1, 1)))
	explained := func(n int) string {
		r, err := options{n: n}.decide(m, make([]source, len(suites)), suites)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, r.explain(&out))
		return out.String()
	}
	for i := range suites {
		suites[i].at = i
	}
	assert.Regexp(t, `^The floor is longest: it takes 6m23s, so no number of machines ends before 6m23s.
If it were cut into 3 pieces of the same time, these machines would end after 2m4\ds instead of 6m23s \(5\d % sooner\).
next: \S+, file\d+
next: \S+, file\d+
next: \S+, file\d+
$`, explained(12))
	assert.Contains(t, explained(2), "It does not decide this plan: the work of all tests takes these machines 16m4s.\n")
	// A test of a package that is cut already.
	history := "run\tr\t2026-01-01T00:00:00Z\tci\t60\t60\t60\t60\nm/a\t-\t60@r\nm/a\tTestX\t50@r\nm/a\tTestY\t10@r\n"
	r := reported(t, history, options{n: 3}, "m/a")
	var out bytes.Buffer
	require.NoError(t, r.explain(&out))
	assert.Equal(t, `The floor is TestX of m/a: it takes 51s, so no number of machines ends before 51s.
If it were cut into 3 pieces of the same time, these machines would end after 27.7s instead of 51s (46 % sooner).
next: 11s, TestY of m/a
`, out.String())
	// Two tests of the same time, on two machines.
	r = reported(t, strings.ReplaceAll(history, "10@r", "50@r"), options{n: 2}, "m/a")
	out.Reset()
	require.NoError(t, r.explain(&out))
	assert.Contains(t, out.String(),
		"To cut it would bring nothing: each further piece of a package costs a call of go test, 1s.\n")
	require.NoError(t, (&report{}).explain(&out))
}

// Packages are cut for the queue: no piece is longer than a grain of the ideal time, unless it is a single test or so
// short that the overhead counts. Each package has one piece with the rest of its tests.
func TestPieces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 5))
	cut := 0
	for range 200 {
		history, packages, tests := randomHistory(r)
		of := reported(t, history, options{n: 1 + r.IntN(6)}, packages...)
		machines := of.machines()
		all, err := pieces(of.suites, machines)
		require.NoError(t, err)
		ideal := (&packed{suites: of.suites, machines: machines}).ideal()
		whole, fixed := map[string]float64{}, map[string]float64{}
		for i := range of.suites {
			whole[of.suites[i].pkg], fixed[of.suites[i].pkg] = of.suites[i].whole(), of.suites[i].fixed
		}
		ran, rests := map[string]int{}, map[string]int{}
		count := map[string]int{}
		for _, p := range all {
			count[p.Package]++
			require.False(t, math.IsNaN(p.Seconds))
			for _, test := range p.Tests {
				ran[p.Package+" "+test]++
			}
			if p.Rest || p.Tests == nil {
				rests[p.Package]++
			}
			if len(p.Tests) > 1 && len(p.Tests) < len(tests[p.Package]) {
				cut++
				require.LessOrEqual(t, p.Seconds,
					fixed[p.Package]+2*max(grain*ideal, heavy*p.Again, whole[p.Package]/float64(4*len(machines))),
					"a package has at most four pieces for each machine")
			}
		}
		for _, pkg := range packages {
			require.LessOrEqual(t, float64(count[pkg]), max(1, math.Ceil(whole[pkg]/(heavy*usualAgain))), "a piece is worth its call")
			require.Equal(t, 1, rests[pkg])
			for _, test := range tests[pkg] {
				require.LessOrEqual(t, ran[pkg+" "+test], 1)
			}
		}
	}
	assert.Greater(t, cut, 100)
}
