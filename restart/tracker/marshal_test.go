package tracker_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The JSON of an answer has names for actions and reasons, seconds for durations, and the machines to avoid.
func TestAnswersHaveNamesInJSON(t *testing.T) {
	tr := newTracker(t, tracker.Config{
		Tasks: 2, Slots: 1, Machines: 9, Interval: time.Second, UnitTimes: estimate.UnitTimesConfig{Prior: policytest.Certain(1.5)},
	})
	tr.Start(at(0), 1, 7)
	text, err := json.Marshal(tr.Report(at(10), 1, 0, tracker.Report{Done: 0.02, Remaining: 490 * time.Second}))
	require.NoError(t, err)
	assert.Equal(t, `{"task":1,"action":"restart","reason":"fresh-sooner","attempt":0,"remaining":490,"fresh":1.5,`+
		`"measure":"slot-seconds","value":735,"threshold":2.25,"gain":488.5,"avoid":[7]}`, string(text))
	text, err = json.Marshal(tr.Next(at(10), 7))
	require.NoError(t, err)
	assert.Equal(t, `{"task":0,"action":"start","reason":"largest-work"}`, string(text))
	text, err = json.Marshal(map[restart.Action]restart.Reason{restart.Keep: restart.NotSlow})
	require.NoError(t, err)
	assert.Equal(t, `{"keep":"not-slow"}`, string(text))
	text, err = json.Marshal(restart.Decision{Reason: restart.NoEstimate, Remaining: estimate.Unknown})
	require.NoError(t, err)
	assert.Equal(t, `{"action":"keep","reason":"no-estimate","remaining":null}`, string(text))
	_, err = json.Marshal(restart.Reason(99))
	assert.Error(t, err)
}

func TestALedgerPrintsWhatIsNotZero(t *testing.T) {
	assert.Equal(t, "", tracker.Ledger{}.String())
	l := tracker.Ledger{Started: 5, Restarts: 2, ClockSteps: 1, Used: time.Minute, Wasted: 9 * time.Second}
	assert.Equal(t, "started=5 restarts=2 clock-steps=1 used=60s wasted=9s", l.String())
	assert.Equal(t, "[started=5 restarts=2 clock-steps=1 used=60 wasted=9]", l.LogValue().String())

	var all tracker.Ledger // a field that is added later must be printed
	v := reflect.ValueOf(&all).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(int64(i + 1))
	}
	assert.Equal(t, v.NumField(), strings.Count(all.String(), "="))
	assert.Len(t, all.LogValue().Group(), v.NumField())
}

// Each decision is counted once, by action and reason.
func TestDecisionsAreCounted(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 3, Interval: time.Second, Policy: rules.Dryad{MinFinished: 1}})
	for task := range 3 {
		tr.Start(at(0), task, task)
	}
	tr.Decide(at(1), 0)
	tr.Decide(at(1), 1)
	tr.Finish(at(2), 0, 0)
	tr.Sweep(at(5), func(tracker.Answer) {})
	got := map[string]int{}
	for d, n := range tr.Decisions() {
		got[d.String()] = n
	}
	assert.Equal(t, map[string]int{"keep too-few-finished": 2, "copy beyond-peers": 2}, got)
}

func TestKindsReadBackFromTheirWords(t *testing.T) {
	for k := range tracker.Kind(tracker.Kinds + 1) {
		var kind tracker.Kind
		require.NoError(t, kind.UnmarshalText([]byte(k.String())))
		assert.Equal(t, k, kind)
	}
	assert.Error(t, new(tracker.Kind).UnmarshalText([]byte("begun")))
	_, err := tracker.Kind(200).MarshalText()
	assert.Error(t, err)
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// The sentence of an answer names the task, and the attempt that is killed. The sentence of an answer about no task
// names none.
func TestASentenceNamesTaskAndAttempt(t *testing.T) {
	held := restart.Decision{Action: restart.Restart, Reason: restart.Held, Attempt: 2}
	for want, a := range map[string]tracker.Answer{
		"attempt 2 of task 7 restarted: ": {Task: 7, Decision: held},
		"task 7 kept: ":                   {Task: 7},
		"kept: ":                          {Task: -1},
	} {
		assert.Equal(t, want, a.Sentence()[:len(want)])
		assert.True(t, strings.HasSuffix(a.Sentence(), a.Decision.Sentence()))
	}
}
