package causes_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

func TestAnswersReadBackFromTextAndJSON(t *testing.T) {
	tasks := even(40)
	for i := range tasks {
		if tasks[i].Cohort = i % 2; tasks[i].Machine == 3 {
			tasks[i].Took *= 3
		}
	}
	tasks[1].Waited, tasks[5].Took, tasks[5].Bytes = 2*s, 25*s, 300
	p := causes.Phase{Tasks: tasks}
	r := causes.Explain(p)
	require.Greater(t, len(r.Outliers), 3)
	for _, o := range r.Outliers {
		wiretest.Through(t, o)
	}
	require.NotEmpty(t, r.Machines)
	wiretest.Through(t, r.Machines[0])
	wiretest.Through(t, r.Model)
	wiretest.Through(t, r.Parts)
	wiretest.Through(t, causes.Bill{})
	wiretest.Through(t, causes.Charge([]causes.Phase{p, p, p, p}))

	r.Moments = append(r.Moments, causes.Moment{From: time.Second, To: time.Hour, Ratio: 1.7, Tasks: 9})
	var back causes.Report
	data, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &back), "%s", data)
	assert.Equal(t, r, back)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"colour":7}`), &back), "colour")
}

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, causes.Config{Outlier: 2}, `{"outlier":2}`)
}
