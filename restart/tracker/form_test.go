package tracker_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Every field of Event is encoded and decoded. The test also covers fields that are added later.
func TestEveryFieldOfAnEventIsWrittenAndRead(t *testing.T) {
	var e tracker.Event
	fill(reflect.ValueOf(&e).Elem())
	for k := range tracker.EventKind(tracker.EventKinds + 1) {
		e.Kind = k
		data, err := json.Marshal(e)
		require.NoError(t, err)
		var back tracker.Event
		require.NoError(t, json.Unmarshal(data, &back))
		for of, key := range map[*int]string{&e.Task: "task", &e.Attempt: "attempt", &e.Machine: "machine", &e.Slots: "slots"} {
			if !k.Has(key) {
				*of = 0
			}
		}
		require.Equal(t, e, back, "%s", data)
		fill(reflect.ValueOf(&e).Elem())
	}
}

// fill sets each field to some value.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(1e9, 0).UTC()))
		case bool:
			f.SetBool(true)
		case float64:
			f.SetFloat(0.5)
		case int, time.Duration:
			f.SetInt(7)
		case tracker.Report:
			fill(f)
		}
	}
}

// The text has one event of each kind, as this version writes it. Every later version must read it, or reject it
// because of its version number.
func TestTheFormOfThisVersionIsRead(t *testing.T) {
	wiretest.Same(t, tracker.Answer{Task: 7, Decision: restart.Decision{
		Action: restart.Kill, Reason: restart.SlowerAttempt, Attempt: 3, Remaining: 9 * time.Second,
	}}, "task=7 kill slower-attempt attempt=3 remaining=9s",
		`{"task":7,"action":"kill","reason":"slower-attempt","attempt":3,"remaining":9}`)
	wiretest.Same(t, tracker.Event{
		Kind: tracker.Reported, Time: time.Unix(1e9, 5).UTC(), Task: 3, Report: tracker.Report{Done: 0.25, Remaining: 90 * time.Second},
	}, "report time=2001-09-09T01:46:40.000000005Z task=3 attempt=0 done=0.25 remaining=90s",
		`{"kind":"report","time":"2001-09-09T01:46:40.000000005Z","task":3,"attempt":0,"done":0.25,"remaining":90}`)
	wiretest.Same(t, tracker.Ledger{Started: 5, Restarts: 2, BadAnswers: 1, Used: time.Minute},
		"started=5 restarts=2 bad-answers=1 used=60s", `{"started":5,"restarts":2,"bad-answers":1,"used":60}`)

	b, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 100, Rate: restart.Off})
	require.NoError(t, err)
	b.CopyLaunched()
	snapshottest.Kept(t, "budget", b)
}
