package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/why"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a quarter less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// rewrite is the flag that makes TestGolden write its files.
var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// hostile is a name that would run a script in the page if the page did not escape it.
const hostile = `<script>alert(1)</script>"'&`

func build(t testing.TB, phases []*sim.Phase, in Input) *Report {
	t.Helper()
	policies, err := compare.Choose("mantri,late,dolly")
	require.NoError(t, err)
	c, err := compare.Run(phases, compare.Options{Policies: policies, Seed: 1, Seeds: 2, Step: func() {}})
	require.NoError(t, err)
	in.Seed = 1
	r, err := Build(phases, c, policies, in)
	require.NoError(t, err)
	r.Diagnose()
	r.Work = Work{Events: 1, Seconds: 1, Rate: 1} // the real figures differ from run to run
	return r
}

func sample(t testing.TB) *Report {
	var phases []*sim.Phase
	for _, p := range workload.Generate(100, 3) {
		if len(p.Tasks) <= 30 && len(phases) < 12 {
			phases = append(phases, p)
		}
	}
	for _, p := range phases {
		for i := range p.Tasks {
			p.Tasks[i].Host = fmt.Sprint("host ", i%7, hostile)
		}
	}
	phases[3].Job, phases[3].Name = hostile, "map "+hostile
	phases[5].DependsOn = []int{3}
	r := build(t, phases, Input{Name: hostile, Generated: true})
	var explained []causes.Phase
	for _, p := range phases {
		explained = append(explained, why.FromPhase(p))
	}
	require.NoError(t, r.Explain(phases, explained, nil))
	r.Causes.Machines = []Machine{{"host " + hostile, 2.5, 12, 9, 3}}
	r.Notes = []string{"a note about " + hostile}
	r.Diagnose()
	return r
}

// Text, JSON and page of a report are equal to the files in testdata; go test -rewrite writes the files.
func TestGolden(t *testing.T) {
	r := sample(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.txt":  func(b *bytes.Buffer) error { return r.Text(b, Style{}) },
		"report.json": func(b *bytes.Buffer) error { return r.JSON(b) },
		"report.html": func(b *bytes.Buffer) error { return r.HTML(b) },
	} {
		var got bytes.Buffer
		require.NoError(t, write(&got), name)
		path := filepath.Join("testdata", name)
		if *rewrite {
			require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got.Bytes()),
			"%s differs from testdata: run go test ./internal/report -rewrite and check the difference", name)
		assertFinite(t, got.String(), name)
	}
}

func assertFinite(t *testing.T, text, name string) {
	t.Helper()
	text, _, _ = strings.Cut(text, "<script>") // the script itself contains NaN
	for _, bad := range []string{"NaN", "Inf", "#-8"} {
		assert.False(t, strings.Contains(text, bad), "%s holds %s", name, bad)
	}
}

func TestPageIsSelfContained(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, sample(t).HTML(&page))
	html := page.String()
	assert.NotContains(t, html, hostile)
	assert.Contains(t, html, "&lt;script&gt;alert(1)")
	for _, outside := range []string{"http:", "https:", "src=", "@import", "url("} {
		rest := strings.ReplaceAll(html, "http://www.w3.org/", "")
		assert.NotContains(t, rest, outside)
	}
	assert.Equal(t, strings.Count(html, "<svg"), strings.Count(html, "<desc>"), "every picture has a description")
	assert.NotContains(t, html, "#010101", "no colour of a template is left in the page")
}

// mostPage is the largest size of a page in bytes, however many tasks the log has.
const mostPage = 600_000

// The page of a large input has the phases in which stragglers cost most, and stays small. The input has 1,000
// phases, or 10,000 with STRAGGLER_LIVES.
func TestPageStaysSmall(t *testing.T) {
	var many []*sim.Phase
	size := 1_000
	if os.Getenv("STRAGGLER_LIVES") != "" {
		size = 10_000
	}
	for len(many) < size {
		for _, p := range workload.Generate(100, 1) {
			if len(p.Tasks) < 12 {
				many = append(many, p)
			}
		}
	}
	many = many[:size]
	r := build(t, many, Input{Name: "large", Generated: true})
	var page, text bytes.Buffer
	require.NoError(t, r.HTML(&page))
	require.NoError(t, r.JSON(&text))
	assert.Less(t, page.Len(), mostPage)
	assert.Less(t, text.Len(), 5<<20)
	assert.Positive(t, r.PhasesLeftOut)
	assert.Equal(t, size, r.PhasesLeftOut+len(r.Phases))
}

// A page on which every part has its largest size, and every name its largest length, stays small.
func TestLargestPageStaysSmall(t *testing.T) {
	r := sample(t)
	name := strings.Repeat("n", 1000)
	r.Workers, r.Worst, r.Schedules, r.Heat = nil, nil, nil, &Heat{Seconds: 3600}
	random := rand.New(rand.NewPCG(1, 1))
	for range mostPhases {
		r.Phases = append(r.Phases, Phase{Job: name, Name: name, SlowestName: name, SlowestHost: name,
			With: []float64{1, 2}, Causes: r.Causes.CostParts})
	}
	for range mostWorst {
		r.Workers = append(r.Workers, Worker{Host: name, Excess: 1234.5})
		r.Worst = append(r.Worst, Straggler{Job: name, Name: name, Task: name, Host: name, Seconds: 12345, Times: 9,
			Cause: SameTask})
	}
	for range mostHeatRows {
		cells := make([]*float64, heatColumns)
		for i := range cells {
			ratio := 1 + 3*random.Float64()
			cells[i] = &ratio
		}
		r.Heat.Hosts, r.Heat.Cells = append(r.Heat.Hosts, name), append(r.Heat.Cells, cells)
	}
	for len(r.Schedules) < mostSchedules {
		s := Schedule{Policy: "least-cost", Seconds: [2]float64{12345, 1234}, Lanes: drawnLanes}
		for i := range mostBars / 2 {
			s.Names = append(s.Names, name)
			bar := Bar{
				Lane: i % drawnLanes, Start: float64(i) * 12.345, End: float64(i+1) * 12.345, Kind: kindStraggler,
				Name: name[:20], Host: name[:40],
				Bytes: 1e9, Cause: "machine", Decision: "copied: 2.34 min to go, a new attempt needs 1.23 min",
			}
			s.Before, s.After = append(s.Before, bar), append(s.After, bar)
		}
		r.Schedules = append(r.Schedules, s)
	}
	r.Diagnose()
	var page bytes.Buffer
	require.NoError(t, r.HTML(&page))
	assert.Less(t, page.Len(), mostPage)
	assert.NotContains(t, page.String(), name[:mostName+1], "long names are cut")
}

// The chart shows the default, the policy of the engine's own setting and the best, as shares of the longest time.
func TestChartOfPolicies(t *testing.T) {
	policy := func(name string, time, slots float64) Policy {
		return Policy{
			Name: name, All: Figure{Mean: time}, Resource: Figure{Mean: slots}, Time: Figure{Mean: 100 * (1 - time)},
			Used: Figure{Mean: 1000 * (1 - slots)},
		}
	}
	p := view{Report: &Report{
		NoAction: NoAction{Time: 100, Used: 1000}, Setting: &Setting{Engine: "Spark", Policy: "spark"},
		Policies: []Policy{policy("least-cost", 0.2, 0), policy("late", 0.1, 0), policy("spark", 0, -0.25),
			policy("mantri", 0.4, 0.1)},
	}}
	p.compare()
	assert.Equal(t, []line{
		{"no action", "", bar{0.8, "100 s"}, bar{0.8, "16.7 min"}},
		{"least-cost", "the library's default", bar{0.64, "80 s, 20.0% less"}, bar{0.8, "16.7 min, the same"}},
		{"spark", "Spark's own setting", bar{0.8, "100 s, the same"}, bar{1, "20.8 min, 25.0% more"}},
		{"mantri", "saves most time", bar{0.48, "60 s, 40.0% less"}, bar{0.72, "15 min, 10.0% less"}},
	}, p.Lines)
}

// A report of very little input is written without errors: one task, equal tasks, tasks that take no time.
func TestPoorInput(t *testing.T) {
	for name, durations := range map[string][]time.Duration{
		"one task": {time.Second}, "equal": {time.Second, time.Second, time.Second}, "no time": {0, 0}, "little": {1, 1, 5},
	} {
		p := &sim.Phase{Job: "j", Name: name, Interval: time.Second, Slots: []sim.Slot{{Machine: -1}}}
		for i, d := range durations {
			p.Tasks = append(p.Tasks, sim.Task{Attempts: []sim.Attempt{{Duration: d}}})
			p.Order = append(p.Order, int32(i))
		}
		r := build(t, []*sim.Phase{p}, Input{Name: name})
		for _, form := range []func(*bytes.Buffer) error{
			func(b *bytes.Buffer) error { return r.Text(b, Style{}) }, func(b *bytes.Buffer) error { return r.JSON(b) },
			func(b *bytes.Buffer) error { return r.HTML(b) },
		} {
			var out bytes.Buffer
			require.NoError(t, form(&out), name)
			assertFinite(t, out.String(), name)
		}
	}
}

// Decoding the JSON gives the report from which it was written.
func TestJSONReadsBack(t *testing.T) {
	r := sample(t)
	var out bytes.Buffer
	require.NoError(t, r.JSON(&out))
	var back Report
	decoder := json.NewDecoder(&out)
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&back))
	assert.Equal(t, *r, back)
	assert.Equal(t, Schema, back.Schema)
}

func TestWords(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 119: "119 s", 120: "2 min", 7200: "2 h", 3.6e7: "10000 h",
		3.6e9: "1000000 h"} {
		assert.Equal(t, want, Span(seconds))
	}
	for reduction, want := range map[float64]string{0: "0.0%", 0.0004: "0.0%", -0.0004: "0.0%", 0.2: "-20.0%",
		-0.0551: "+5.5%"} {
		assert.Equal(t, want, Change(reduction))
	}
	assert.Equal(t, "0.0%", Percent(math.Copysign(0, -1)))
	for ratio, want := range map[float64]string{0.5: "h0", 1.2: "h0", 1.3: "h1", 1.5: "h1", 2: "h2", 3: "h3", 3.1: "h4"} {
		assert.Equal(t, want, hotness(ratio))
	}
	assert.Equal(t, []string{"0 min", "1 min", "2 min", "3 min", "4 min"}, axis(240, secondsAs(240)))
	assert.Equal(t, "112 d", secondsAs(1e7)(112*86400))
	for reduction, want := range map[float64]string{0: "the same", 0.0004: "the same", 0.2: "20.0% less",
		-0.0551: "5.5% more"} {
		assert.Equal(t, want, compared(reduction))
	}
	assert.Equal(t, strings.Repeat("é", mostName), short(strings.Repeat("é", mostName)))
	assert.Equal(t, strings.Repeat("é", 40)+"…"+strings.Repeat("é", 16)+"17.x",
		short(strings.Repeat("é", mostName)+"17.x"), "the end tells names apart")
	assert.Equal(t, "job 1 maps", named("job 1", "job 1 maps"))
	assert.Equal(t, "night extract", named("night", "extract"))
}
