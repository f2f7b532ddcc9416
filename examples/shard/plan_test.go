package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reported returns the report for packages of which only the history is known, not the files.
func reported(t testing.TB, history string, o options, packages ...string) *report {
	t.Helper()
	h := newHistory()
	require.NoError(t, h.read(strings.NewReader(history)))
	m, err := newModel(h)
	require.NoError(t, err)
	sources, err := named(strings.NewReader(strings.Join(packages, "\n")))
	require.NoError(t, err)
	suites, err := m.suites(sources)
	require.NoError(t, err)
	r, err := o.decide(m, sources, suites)
	require.NoError(t, err)
	return r
}

// hive is what https://github.com/hivecommons/hive/pull/4120 says of its packages: the hub's 117 s, the five
// longest of the rest, and 50 of at most 23 s each, of which it gives no more: all are taken for as long as that.
// The machine ran four packages at once.
func hive() (history string, packages []string) {
	seconds := map[string]float64{"pkg/hub": 117, "pkg/agent": 429.2, "pkg/github": 51, "pkg/dashboard": 48,
		"pkg/proxy": 47, "pkg/hubbackup": 29}
	for i := range 50 {
		seconds[fmt.Sprintf("pkg/other%02d", i)] = 23
	}
	history = "run\tr\t2026-08-19T10:00:00Z\tci\t1000\t1000\t4000\t0\n"
	for pkg, took := range seconds {
		history += fmt.Sprintf("%s\t-\t%g@r\n", pkg, took)
		packages = append(packages, pkg)
	}
	return history, packages
}

// More than two machines do not help as long as pkg/agent is not cut. The project found this by hand, in two tries.
func TestTheFloorIsSaid(t *testing.T) {
	history, packages := hive()
	for _, n := range []int{2, 3, 4, 6} {
		r := reported(t, history, options{n: n}, packages...)
		assert.InDelta(t, 429.2, r.seconds, .01, "%d machines", n)
		assert.Equal(t, "Two machines are enough: pkg/agent alone takes 7m9s, and the times of its tests are not known.",
			r.sentence())
	}
	// With the times of its 840 tests, of which none runs beside another, it is cut, as they did.
	for i := range 840 {
		history += fmt.Sprintf("pkg/agent\tTestA%03d\t%g@r\n", i, math.Round(429200./840)/1000)
	}
	r := reported(t, history, options{n: 9}, packages...)
	assert.InDelta(t, 117, r.seconds, .01)
	assert.Contains(t, r.sentence(), " machines are enough: pkg/hub alone takes 1m57s")
	pieces := 0
	for _, s := range r.shards {
		for _, p := range s.parts {
			if p.pkg == "pkg/agent" {
				pieces++
			}
		}
	}
	assert.Greater(t, pieces, 4)
}

// randomHistory returns a history of packages with and without tests, on two kinds of machines.
func randomHistory(r *rand.Rand) (history string, packages []string, tests map[string][]string) {
	tests = map[string][]string{}
	history = "run\ta\t2026-01-01T00:00:00Z\tnew\t0\t0\t0\t0\nrun\tb\t2026-01-02T00:00:00Z\told\t0\t0\t0\t0\n"
	for i := range 1 + r.IntN(12) {
		pkg := fmt.Sprintf("m/p%d", i)
		packages = append(packages, pkg)
		if r.IntN(8) == 0 {
			continue // new
		}
		sum := 0.
		for k := range r.IntN(3) * r.IntN(30) {
			took := math.Exp(2 * r.NormFloat64())
			test := fmt.Sprintf("Test%c_%d", 'A'+k%26, k)
			tests[pkg] = append(tests[pkg], test)
			history += fmt.Sprintf("%s\t%s\t%.3f@a\n", pkg, test, took)
			sum += took
		}
		history += fmt.Sprintf("%s\t-\t%.3f@a %.3f@b\n", pkg, sum*(.3+r.Float64()), 2*sum*(.3+r.Float64()))
	}
	return history, packages, tests
}

// called is a call of go test, with the pattern of its flag -run or -skip, if it has one.
type called struct {
	words   []string
	pattern *regexp.Regexp
}

// calledBy returns the calls of all shards of a plan.
func calledBy(t *testing.T, of *report) (all []called) {
	for i := range of.shards {
		for _, words := range of.shards[i].calls([]string{"-short"}) {
			c := called{words: words}
			if flag := words[2]; len(words) == 4 && flag[0] == '-' { // go test -short -run=... pkg
				_, pattern, _ := strings.Cut(flag, "=")
				require.NotContains(t, pattern, "/")
				c.pattern = regexp.MustCompile(pattern)
			}
			all = append(all, c)
		}
	}
	return all
}

// runs reports whether the call runs the test of a package that it names.
func (c called) runs(test string) bool {
	return c.pattern == nil || c.pattern.MatchString(test) == strings.HasPrefix(c.words[2], "-run=")
}

func TestEveryTestRunsOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	cut, histories := 0, 40
	if long {
		histories = 300
	}
	for range histories {
		history, packages, tests := randomHistory(r)
		of := reported(t, history, options{machines: fmt.Sprintf("new*%d,old/0.5+%ds", 1+r.IntN(6), r.IntN(9))}, packages...)
		calls := calledBy(t, of)
		for _, pkg := range packages {
			for _, test := range append(tests[pkg], "TestNobodyKnows", "TestA", "ExampleB_0") {
				count := 0
				for _, c := range calls {
					named := 0
					for _, word := range c.words {
						if word == pkg {
							named++
						}
					}
					if named > 1 {
						t.Fatalf("%v names %s twice", c.words, pkg)
					}
					if named == 1 && c.pattern != nil {
						cut++
					}
					if named == 1 && c.runs(test) {
						count++
					}
				}
				if count != 1 {
					t.Fatalf("%s of %s runs %d times in %+v", test, pkg, count, of.rows())
				}
			}
		}
		require.GreaterOrEqual(t, of.seconds, of.earliest*.999)
	}
	assert.Greater(t, cut, 4*histories)
}

// A plan never ends later than longest-first without cuts.
func TestPlansAgainstLongestFirst(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 2))
	for range 200 {
		history, packages, _ := randomHistory(r)
		n := 1 + r.IntN(5)
		of := reported(t, history, options{machines: fmt.Sprintf("new*%d", n)}, packages...)
		load := make([]float64, n)
		latest := 0.
		for _, p := range longestFirst(of.suites) {
			least := 0
			for i := range load {
				if load[i] < load[least] {
					least = i
				}
			}
			load[least] += p.whole() * of.shards[0].factor / of.shards[0].width
			latest = max(latest, load[least], p.whole()*of.shards[0].factor)
		}
		require.LessOrEqual(t, of.seconds, latest*1.0011)
	}
}

func longestFirst(suites []suite) []*suite {
	var all []*suite
	for i := range suites {
		at := len(all)
		for at > 0 && all[at-1].whole() < suites[i].whole() {
			at--
		}
		all = append(all[:at], append([]*suite{&suites[i]}, all[at:]...)...)
	}
	return all
}

func TestScriptsAndMatrix(t *testing.T) {
	history := "run\tr\t2026-01-01T00:00:00Z\tci\t60\t50\t50\t50\nm/a\t-\t40@r\nm/a\tTestX\t20@r\nm/a\tExample_it's\t20@r\nm/b\t-\t10@r\n"
	r := reported(t, history, options{n: 2, flags: "-race"}, "m/a", "m/b")
	var out bytes.Buffer
	require.NoError(t, printMatrix(&out, r))
	assert.JSONEq(t, `{"include":[
		{"shard":"1/2","machine":"ci","seconds":41,"run":"failed=0; go test -race '-skip=^(TestX)$' m/a & p0=$!; go test -race m/b & p1=$!; wait $p0 || failed=1; wait $p1 || failed=1; exit $failed"},
		{"shard":"2/2","machine":"ci","seconds":31,"run":"go test -race '-run=^(TestX)$' m/a"}]}`, out.String())
	out.Reset()
	require.NoError(t, printText(&out, r))
	assert.Equal(t, `shard 1/2  41s      ci  1 of 2 tests of m/a, 1 package
shard 2/2  31s      ci  1 of 2 tests of m/a
All machines end after 41s. One machine alone would take 1m0s. No plan for these machines ends before 35s.
Three machines are enough: Example_it's of m/a alone takes 31s.
The last run took 1m0s; the prediction was 50s (+20%).
`, out.String())
	r = reported(t, history, options{machines: "ci/2,ci"}, "m/b", "m/new")
	out.Reset()
	require.NoError(t, printLines(&out, r))
	assert.Equal(t, "go test m/b m/new\ntrue\n", out.String())
	assert.Equal(t, `'it'\''s'`, quote("it's"))
}

func BenchmarkPlan(b *testing.B) {
	for _, tests := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("tests=%d", tests), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 3))
			var history strings.Builder
			history.WriteString("run\tr\t2026-01-01T00:00:00Z\tci\t0\t0\t0\t0\n")
			var packages []string
			for i := range tests {
				pkg := fmt.Sprintf("m/p%d", i/500)
				fmt.Fprintf(&history, "%s\tTest%d\t%.3f@r\n", pkg, i, math.Exp(2*r.NormFloat64()-3))
				if i%500 == 0 {
					packages = append(packages, pkg)
				}
			}
			for b.Loop() {
				reported(b, history.String(), options{n: 16}, packages...)
			}
		})
	}
}
