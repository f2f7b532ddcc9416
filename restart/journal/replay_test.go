package journal

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

func replay(t *testing.T, text string, o Options) string {
	t.Helper()
	out, err := Replay([]byte(text), o)
	require.NoError(t, err, text)
	return string(out)
}

// Comments, empty lines and the spelling stay. Answers are replaced, wherever they are.
func TestReplayRewritesAnswersOnly(t *testing.T) {
	before := `# A title.

phase  tasks=2 slots=2 interval=1s   # the default policy
0.0s start machine=4 task=1  # first
    keep not-slow
    kill slower-attempt attempt=7

1m decide task=1
  # a remark
	copy near-end
# the end`
	want := `# A title.

phase  tasks=2 slots=2 interval=1s   # the default policy
0.0s start machine=4 task=1  # first

1m decide task=1
    keep no-estimate remaining=? fresh=?
  # a remark
# the end
`
	got := replay(t, before, Options{})
	assert.Equal(t, want, got)
	assert.Equal(t, want, replay(t, got, Options{}), "a second replay changes nothing")
}

func TestReplayKeepsLineEnds(t *testing.T) {
	text := "phase interval=1s tasks=1 slots=1\r\n\r\n0s decide task=0\r\n    keep not-running\r\n# end\r\n"
	assert.Equal(t, text, replay(t, text, Options{}))
	assert.Equal(t, "", replay(t, "", Options{}))
	assert.Equal(t, "# only a remark\n", replay(t, "# only a remark", Options{}))
}

// A tracker also gives answers that are no decisions.
func TestAnswersThatAreNoDecisions(t *testing.T) {
	text := `phase tasks=3 slots=4 machines=2 interval=1s
0s start task=0 machine=0
0s start task=0 machine=1
    attempt=1
0s start task=0 machine=1
    attempt=2
0s start task=1 machine=1
0s start task=7 machine=1
    ignored
0s next machine=0
    task=2 start next-waiting
1s finish task=0 attempt=1
    ends attempt=2,0
1s finish task=0 attempt=0
    ignored
1s start task=0 machine=0
    ignored
2s lose machine=1
    waits task=1
2s lose machine=1
2s lose task=0
2s lose task=0
    ignored
2s lose task=99
    ignored
eligible task=99
    ignored
slots 1
2s fail task=1 attempt=0
    ignored
2s kill task=1 attempt=0
    ignored
2s restart task=1 attempt=0
    ignored
2s decide task=1
    keep not-running
2s sweep
2s report task=2 attempt=3 done=1
    keep not-running
    ignored
`
	assert.Equal(t, text, replay(t, text, Options{}))
}

// The journal in the package's comment is valid.
func TestDocumentedJournalReplays(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(source), "//\tphase ")
	require.True(t, found)
	block, _, _ := strings.Cut("//\tphase "+after, "\n// A [Recorder]")
	var text strings.Builder
	for _, l := range strings.Split(block, "\n") {
		text.WriteString(strings.TrimPrefix(strings.TrimPrefix(l, "//"), "\t") + "\n")
	}
	assert.Equal(t, 3, strings.Count(text.String(), "start"))
	assert.Equal(t, text.String(), replay(t, text.String(), Options{}))
}

// A journal may hold several phases. Each begins with a new tracker.
func TestEachPhaseBeginsWithANewTracker(t *testing.T) {
	text := `phase tasks=1 slots=1 policy=never
0s start task=0
9s decide task=0
    keep disabled
phase tasks=1 slots=1 policy=never
0s decide task=0
    keep not-running
`
	assert.Equal(t, text, replay(t, text, Options{}))
}

func TestReplayErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"0s sweep": "line 1: got sweep, want a phase first",
		"work 1,2": "line 1: got work, want the work line directly below the line of its phase",
		"phase interval=1s tasks=1\n0s sweep\nwork 1":                   "line 3: got work, want the work line directly below",
		"phase interval=1s tasks=3\nwork 1,2\nwork 1,2":                 "line 3: got works for 4 tasks so far, want at most 3, the number of tasks of the phase",
		"phase interval=1s tasks=3\n\nwork 1,2\n0s sweep":               "line 1: restart/tracker: Config.Tasks is 3, want 0 or len(Work), which is 2",
		"phase tasks=1 interval=1s slots=-1":                            "line 1: restart/tracker: Config.Slots is -1, want 0 to 2^30",
		"phase interval=1s tasks=1 slots=-1\nphase tasks=1 interval=1s": "line 1: restart/tracker: Config.Slots is -1",
		"#\nphase policy=mantri,max-restarts=-2":                        "line 2: phase: restart: Mantri.MaxRestarts is -2",
		"phase tasks=1 interval=1s min-samples=-1":                      "line 1: restart/tracker: Config.UnitTimes: estimate: UnitTimesConfig.MinSamples is -1",
		"phase policy=custom":                                           "line 1: the policy is custom, want it in Options.Policy",
		"phase prior=custom":                                            "line 1: the prior is custom, want Options.Configure to supply it",
		"phase knowledge=custom":                                        "line 1: the knowledge is custom, want Options.Configure to supply it as it was",
		"phase path=custom":                                             "line 1: the path is custom, want Options.Configure to supply it",
		"phase tasks=1073741824":                                        "line 1: the phase has 1073741824 tasks and 0 machines, want no more than 1048576, or a higher Options.MaxTasks",
		"phase tasks=1 machines=9999999":                                "line 1: the phase has 1 tasks and 9999999 machines, want no more than 1048576, or a higher Options.MaxTasks",
	} {
		out, err := Replay([]byte(text), Options{})
		assert.ErrorContains(t, err, "journal: "+want, text)
		assert.Nil(t, out)
	}
	_, err := Replay([]byte("phase tasks=5"), Options{MaxTasks: 4})
	assert.ErrorContains(t, err, "no more than 4")
	_, err = Replay([]byte("phase work=1,1,1,1,1"), Options{MaxTasks: 4})
	assert.ErrorContains(t, err, "no more than 4")
}

// twice copies each task with a known prior and known machines.
type twice struct{}

func (twice) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) == 1 && t.Fresh.UnitTime != nil && t.Fresh.Location == 2 {
		return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot}
	}
	return restart.Decision{Reason: restart.NotSlow}
}

type constant float64

func (c constant) Mean() float64            { return float64(c) }
func (c constant) CDF(x float64) float64    { return map[bool]float64{true: 1}[x >= float64(c)] }
func (c constant) Quantile(float64) float64 { return float64(c) }

// Options supply the custom values in this order: the policy, then Configure.
func TestReplayNeedsCustomValues(t *testing.T) {
	know := func() *tracker.Knowledge {
		know := new(tracker.Knowledge)
		for i := range 9 {
			know.Machines().End(time.Unix(0, 0), i%3, uint64(i), machines.Attempt{Ran: time.Second << (i % 3), Usual: 2 * time.Second}, machines.Finished)
		}
		return know
	}
	path := func(int, int) float64 { return 2 }
	text := appendPhase(nil, tracker.Config{
		Tasks: 1, Slots: 2, Machines: 2, Policy: twice{}, Knowledge: know(), Path: path,
		UnitTimes: estimate.UnitTimesConfig{Prior: constant(1)},
	})
	assert.Equal(t, "phase tasks=1 slots=2 machines=2 policy=custom prior=custom knowledge=custom path=custom\n", string(text))
	text = append(text, `0s start task=0 machine=0
1s decide task=0
    copy idle-slot avoid=0
`...)
	o := Options{Policy: twice{}, Configure: func(_ int, c *tracker.Config) {
		assert.Equal(t, twice{}, c.Policy)
		c.Knowledge, c.Path, c.UnitTimes.Prior = know(), path, constant(1)
	}}
	assert.Equal(t, string(text), replay(t, string(text), o))

	o.Policy = nil
	configure := o.Configure
	o.Configure = func(phase int, c *tracker.Config) { c.Policy = twice{}; configure(phase, c) }
	assert.Equal(t, string(text), replay(t, string(text), o))
}

// Options.Policy replaces the policy of the journal. An invalid policy is refused.
func TestPolicyOfTheOptionsDecides(t *testing.T) {
	text := "phase tasks=1 slots=1 interval=1s policy=never\n0s start task=0\n1s decide task=0\n"
	assert.Contains(t, replay(t, text, Options{}), "keep disabled")
	assert.Contains(t, replay(t, text, Options{Policy: restart.Mantri{}}), "keep no-progress")
	_, err := Replay([]byte(text), Options{Policy: rules.LATE{SlowTask: 7}})
	assert.ErrorContains(t, err, "line 1: restart/rules: LATE.SlowTask is 7")
	_, err = Replay([]byte(text), Options{Policy: rules.LATE{SlowTask: 7}, OnDecision: func(int, restart.Task, restart.Phase, restart.Decision) {}})
	assert.ErrorContains(t, err, "line 1: restart/rules: LATE.SlowTask is 7")
}

func TestOnDecisionSeesEveryDecision(t *testing.T) {
	text := `phase tasks=2 slots=1 machines=3 interval=1s
0s start task=1 machine=2
1s report task=1 done=0.5 remaining=1s
    keep no-estimate remaining=1s fresh=?
# here
2s sweep
2s decide task=0
    keep not-running
`
	var lines []int
	got := replay(t, text, Options{OnDecision: func(line int, task restart.Task, p restart.Phase, d restart.Decision) {
		lines = append(lines, line)
		require.Len(t, task.Attempts, 1)
		assert.Equal(t, 2, task.Attempts[0].Machine)
		assert.Equal(t, []int{2}, task.PastMachines)
		assert.Equal(t, 1, p.Waiting)
		assert.Equal(t, time.Second, p.Interval)
		assert.Equal(t, restart.NoEstimate, d.Reason)
	}})
	assert.Equal(t, text, got, "OnDecision must change no answer")
	assert.Equal(t, []int{3, 6}, lines, "one decision at the report, one at the sweep, none about a task that does not run")
}

// A clock that steps back does no harm, and neither do times at the ends of the range.
func TestReplayTakesOddTimes(t *testing.T) {
	text := `phase tasks=2 slots=2 interval=1s
5s start task=0
-9223372036.854775808s report task=0 done=0.1
9223372036.854775807s report task=0 done=0.2
0s finish task=0
`
	got := replay(t, text, Options{})
	assert.Equal(t, 2, strings.Count(got, indent+"keep"))
	assert.Equal(t, got, replay(t, got, Options{}))
}

// Configure gets the number of the phase in the journal.
func TestConfigureGetsThePhase(t *testing.T) {
	var phases []int
	text := strings.Repeat("phase tasks=1 slots=1 interval=1s policy=never\n0s start task=0\n", 3)
	replay(t, text, Options{Configure: func(phase int, _ *tracker.Config) { phases = append(phases, phase) }})
	assert.Equal(t, []int{0, 1, 2}, phases)
}
