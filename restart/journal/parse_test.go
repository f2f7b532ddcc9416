package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// An event of every kind, and the line in which it is written.
func samples() map[string]tracker.Event {
	return map[string]tracker.Event{
		"slots 12":                             {Kind: tracker.SlotsSet, Slots: 12},
		"eligible task=2":                      {Kind: tracker.EligibleSet, Task: 2},
		"eligible task=2 copy=no":              {Kind: tracker.EligibleSet, Task: 2, NoCopy: true},
		"eligible task=2 restart=no":           {Kind: tracker.EligibleSet, Task: 2, NoRestart: true},
		"add work=2.5":                         {Kind: tracker.Added, Work: 2.5},
		"add work=0":                           {Kind: tracker.Added},
		"add":                                  {Kind: tracker.Added, Work: -1},
		"forget task=2":                        {Kind: tracker.Forgotten, Task: 2},
		"10s start task=3 machine=1":           {Kind: tracker.Started, Time: at(10 * time.Second), Task: 3, Machine: 1},
		"-1s start task=3":                     {Kind: tracker.Started, Time: at(-time.Second), Task: 3, Machine: -1},
		"12s report task=3 attempt=0 done=0.5": {Kind: tracker.Reported, Time: at(12 * time.Second), Task: 3, Report: tracker.Report{Done: 0.5}},
		"0s report task=0 attempt=0":           {Kind: tracker.Reported, Time: at(0)},
		"1s report task=1 attempt=2 done=-1 score=2 remaining=1.5s": {
			Kind: tracker.Reported, Time: at(time.Second), Task: 1, Attempt: 2,
			Report: tracker.Report{Done: -1, Score: 2, Remaining: 1500 * time.Millisecond},
		},
		"0.5s report task=1 attempt=0 remaining=?": {
			Kind: tracker.Reported, Time: at(time.Second / 2), Task: 1, Report: tracker.Report{Remaining: estimate.Unknown},
		},
		"1s decide task=-3":                   {Kind: tracker.Asked, Time: at(time.Second), Task: -3},
		"1s next machine=2":                   {Kind: tracker.Offered, Time: at(time.Second), Machine: 2},
		"1s next":                             {Kind: tracker.Offered, Time: at(time.Second), Machine: -1},
		"1s progress task=2 attempt=1 done=3": {Kind: tracker.Recorded, Time: at(time.Second), Task: 2, Attempt: 1, Report: tracker.Report{Done: 3}},
		"1s sweep":                            {Kind: tracker.Swept, Time: at(time.Second)},
		"1s merge delta=bQAA_-":               {Kind: tracker.Merged, Time: at(time.Second), Delta: "bQAA_-"},
		"2s close":                            {Kind: tracker.Closed, Time: at(2 * time.Second)},
		"1s finish task=1 attempt=2":          {Kind: tracker.Finished, Time: at(time.Second), Task: 1, Attempt: 2},
		"1s fail task=1 attempt=2":            {Kind: tracker.Failed, Time: at(time.Second), Task: 1, Attempt: 2},
		"1s kill task=1 attempt=-2":           {Kind: tracker.Killed, Time: at(time.Second), Task: 1, Attempt: -2},
		"1s restart task=1 attempt=2":         {Kind: tracker.Restarted, Time: at(time.Second), Task: 1, Attempt: 2},
		"1s lose machine=-2":                  {Kind: tracker.MachineLost, Time: at(time.Second), Machine: -2},
		"1s leave machine=2 in=60s":           {Kind: tracker.MachineLeaves, Time: at(time.Second), Machine: 2, Leaves: at(61 * time.Second)},
		"1s leave machine=2":                  {Kind: tracker.MachineLeaves, Time: at(time.Second), Machine: 2},
		"1s lose task=2":                      {Kind: tracker.OutputLost, Time: at(time.Second), Task: 2},
		"1s submit task=2 machine=5":          {Kind: tracker.Submitted, Time: at(time.Second), Task: 2, Machine: 5},
		"1s give-up task=2":                   {Kind: tracker.GivenUp, Time: at(time.Second), Task: 2},
		"1s retry task=2":                     {Kind: tracker.Retried, Time: at(time.Second), Task: 2},
		"1s submit task=2":                    {Kind: tracker.Submitted, Time: at(time.Second), Task: 2, Machine: -1},
		"1s begin task=2 attempt=1":           {Kind: tracker.Begun, Time: at(time.Second), Task: 2, Attempt: 1, Machine: -1},
		"1s begin task=2 attempt=1 machine=0": {Kind: tracker.Begun, Time: at(time.Second), Task: 2, Attempt: 1},
	}
}

func at(d time.Duration) time.Time { return start().Add(d) }

func TestEventsReadAsTheyAreWritten(t *testing.T) {
	seen := map[tracker.EventKind]bool{}
	for text, want := range samples() {
		seen[want.Kind] = true
		assert.Equal(t, text, string(AppendEvent(nil, start(), want)))

		e, err := ParseEvent([]byte(text))
		require.NoError(t, err, text)
		switch want.Kind { // these have a machine
		case tracker.Started, tracker.Submitted, tracker.Begun, tracker.Offered, tracker.MachineLost, tracker.MachineLeaves:
		default:
			want.Machine = unknownMachine
		}
		assert.Equal(t, want, e, text)
	}
	assert.Len(t, seen, tracker.EventKinds, "each kind of event needs a sample")
}

func TestOrderAndSpacesDoNotMatter(t *testing.T) {
	for text, want := range map[string]string{
		"10s\tstart  machine=1   task=3":      "10s start task=3 machine=1",
		"1m30.5s finish task=2":               "90.5s finish task=2 attempt=0",
		"100ms sweep # nothing":               "0.1s sweep",
		"1s sweep\t#nothing":                  "1s sweep",
		"1s sweep #":                          "1s sweep",
		"1s sweep\r\n":                        "1s sweep",
		"eligible task=1 restart=yes copy=no": "eligible task=1 copy=no",
		"phase policy=never slots=1 work=1,1": "phase tasks=2 slots=1 work=1,1 policy=never",
		"phase":                               "phase tasks=0 policy=least-cost",
		"phase tasks=1 policy=spark,min-runtime=off,long-run=3": "phase tasks=1 policy=spark,min-runtime=off,long-run=3",
	} {
		if strings.HasPrefix(text, wordPhase) {
			phases, err := Parse([]byte(text))
			require.NoError(t, err, text)
			assert.Equal(t, want+"\n", string(appendPhase(nil, phases[0].Config)))
			continue
		}
		e, err := ParseEvent([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, string(AppendEvent(nil, start(), e)))
	}
}

// Each error states the line and the expected form.
func TestErrorsNameTheLineAndTheExpectedForm(t *testing.T) {
	for text, want := range map[string]string{
		"strat task=1":                         `got "strat", want a time or one of phase, work, since,`,
		"10 start task=1":                      `got "10", want a time or one of`,
		"10s":                                  `got only a time, want one of start, submit,`,
		"10s strat task=1":                     `got "strat", want`,
		"start task=1":                         "start has no time, want a time before it, such as 10s start",
		"1s slots 3":                           "slots has a time, want no time before it",
		"1s phase tasks=1":                     "phase has a time, want no time before it",
		"slots":                                "slots wants one word after it, got 0",
		"slots 1 2":                            "slots wants one word after it, got 2",
		"slots x":                              `slots is "x", want a whole number`,
		"work":                                 "work wants one word after it, got 0",
		"work 1,,2":                            `work of task 1 is "", want a number, or ? for unknown`,
		"0s start":                             "start wants task=",
		"0s start machine=1":                   "start wants task=",
		"0s start task=":                       `start: task is "", want a whole number`,
		"0s start task=1.5":                    `start: task is "1.5", want a whole number`,
		"0s start task=99999999999999999999":   `want a whole number`,
		"0s start task=1 task=2":               "start: task is given twice",
		"0s start task":                        `start has no field "task", want one of task, machine, each with = and a value`,
		"0s report task=1 done=half":           `report: done is "half", want a number, or ? for unknown`,
		"0s report task=1 done=1e999":          `report: done is "1e999", want a number`,
		"0s report task=1 remaining=5":         `report: remaining is "5", want a duration such as 1.5s or 2m`,
		"0s sweep now":                         `sweep has no fields, got "now"`,
		"0s lose":                              "lose wants machine=, or task= for the output of a task",
		"0s lose machine=1 task=2":             "lose wants machine=, or task= for the output of a task, and no other field",
		"0s lose machine=x":                    `lose machine: machine is "x", want a whole number`,
		"eligible":                             "eligible wants task=",
		"eligible task=1 copy=maybe":           `eligible: copy is "maybe", want yes or no`,
		"phase 7":                              `phase has no field "7", want one of tasks, slots,`,
		"phase tasks=1 tasks=2":                "phase: tasks is given twice",
		"phase taks=1":                         `phase has no field "taks", want one of tasks, slots, machines, interval, lag, clones,`,
		"phase tasks=x":                        `phase: tasks is "x", want a whole number`,
		"phase work=":                          `phase: work of task 0 is ""`,
		"phase policy=mantra":                  `phase: restart/rules: policy is "mantra", want one of mantri, never, late, hadoop, mapreduce, dryad, spark, flink`,
		"phase policy=":                        `phase: restart/rules: policy is "", want one of`,
		"phase policy=mantri,":                 `phase: restart/rules: policy mantri has no field "", want one of max-restarts,`,
		"phase policy=mantri,gamma=3":          `phase: restart/rules: policy mantri has no field "gamma", want one of max-restarts,`,
		"phase policy=mantri,idle-gain=x":      `phase: restart/rules: policy mantri: idle-gain is "x", want a number`,
		"phase policy=late,early=off":          `phase: restart/rules: policy late: early is "off", want yes or no`,
		"phase policy=late,early=yes,early=no": "phase: restart/rules: policy late: early is given twice",
		"phase policy=never,a=1":               `phase: restart/rules: policy never has no fields, got "a=1"`,
		"phase policy=custom,a=1":              `phase: restart/rules: policy is "custom", want one of`,
		"phase budget=x":                       `phase: budget is "x", want a whole number`,
		"phase budget=-1":                      "phase: restart/tracker: BudgetConfig.Slots is -1, want a positive number",
		"phase budget=1,cap=2":                 `phase: budget has no field "cap", want one of share, rate, floor`,
		"phase prior=1":                        `phase: prior is "1", want custom`,
		"phase knowledge=1":                    `phase: knowledge is "1", want custom`,
		"":                                     "got an empty line, want an event",
		"# a comment":                          "",
	} {
		e, err := ParseEvent([]byte(text))
		if text == "# a comment" {
			assert.Error(t, err)
			continue
		}
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "journal: ")
		assert.Contains(t, err.Error(), want, text)
		assert.Zero(t, e, "an event with an error is empty")
		if text == "" {
			continue
		}
		_, err = Parse([]byte("# one\nphase tasks=1\n\n" + text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "journal: line 4: ")
		assert.Contains(t, err.Error(), want, text)
	}
}

func TestIndentedLinesAreAnswers(t *testing.T) {
	_, err := Parse([]byte("    keep not-slow\n"))
	assert.ErrorContains(t, err, "line 1: an indented line is an answer, want an event before it")

	// A rewrite would drop an event that was indented by mistake.
	for _, text := range []string{" 10s start task=1", "\tslots 3", "  eligible task=1", " phase tasks=1", " work 1"} {
		_, err = Parse([]byte("phase tasks=1\n" + text + "\n"))
		assert.ErrorContains(t, err, "line 2: an indented line is an answer, want it to begin with one of keep,", text)
	}
	for action := restart.Keep; action <= restart.Start; action++ {
		assert.NoError(t, checkAnswer(action.String()+" not-slow"))
	}
	_, err = Parse([]byte("# no event\n\n   # nor here\n"))
	assert.NoError(t, err)
}

func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{long, "0s start " + long, "phase " + long + "=1", "phase policy=" + long, "0s start task=" + long,
		"phase policy=mantri," + long, "work " + long, "phase tasks=1\n  " + long, "phase " + long + "=1 " + long + "=1"} {
		_, err := Parse([]byte(text))
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 500)
	}
}
