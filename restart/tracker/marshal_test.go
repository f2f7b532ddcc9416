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
	assert.Equal(t, `{"task":0,"action":"start","reason":"next-waiting"}`, string(text))
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

// Each decision is counted once, by its action and its reason.
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

// A value can be read back from its JSON exactly.
func TestWrittenValuesReadBack(t *testing.T) {
	answers := []tracker.Answer{
		{Task: -1}, {Task: 0, Decision: restart.Decision{Action: restart.Start, Reason: restart.NextWaiting}},
		{Task: 2, Decision: restart.Decision{Attempt: 3}}, // a task was started
		{Task: 7, Decision: restart.Decision{
			Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: 1, Remaining: estimate.Unknown, Bar: 1234567891, Comparison: restart.Compare(restart.FasterAttempts, 0.125, 1),
		}},
		{Task: -1, Found: []tracker.Answer{{Task: 2, Decision: restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot}}}},
		{Task: 4, Ignored: true, Overtaken: []int{2, 1}}, {Task: -1, Waiting: []int{5, 6}},
	}
	for _, a := range answers {
		text, err := json.Marshal(a)
		require.NoError(t, err)
		var back tracker.Answer
		require.NoError(t, json.Unmarshal(text, &back), "%s", text)
		assert.Equal(t, a, back, "%s", text)
	}
	for k := range tracker.EventKind(tracker.EventKinds + 1) {
		e := tracker.Event{
			Kind: k, Time: time.Unix(1e9, 5).UTC(), Task: 3, Attempt: 1, Machine: 2, Leaves: time.Unix(2e9, 0).UTC(), Slots: 4,
			Report: tracker.Report{Done: 0.1, Score: 0.2, Remaining: 1, Saved: 0.3}, NoCopy: true, NoRestart: true,
		}
		if k == 0 {
			e = tracker.Event{}
		}
		text, err := json.Marshal(e)
		require.NoError(t, err)
		var back tracker.Event
		require.NoError(t, json.Unmarshal(text, &back), "%s", text)
		assert.Equal(t, string(text), string(must(json.Marshal(back))))
		assert.Equal(t, e.Report, back.Report)
		assert.Equal(t, e.Time, back.Time)
		var kind tracker.EventKind
		require.NoError(t, kind.UnmarshalText([]byte(k.String())))
		assert.Equal(t, k, kind)
	}
	l := tracker.Ledger{Started: 5, Restarts: 2, ClockSteps: 1, Used: time.Minute + 1, Wasted: 9 * time.Second}
	var back tracker.Ledger
	require.NoError(t, json.Unmarshal(must(json.Marshal(l)), &back))
	assert.Equal(t, l, back)
	assert.Error(t, json.Unmarshal([]byte(`{"started":1,"lots":2}`), &back), "an unknown key is an error")
	assert.Error(t, new(tracker.EventKind).UnmarshalText([]byte("begun")))
	_, err := tracker.EventKind(200).MarshalText()
	assert.Error(t, err)
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// The sentence of an answer contains the task, and the attempt to kill. The sentence of an answer about no task
// contains neither.
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
