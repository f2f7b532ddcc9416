package preempt

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

func TestNoAllocations(t *testing.T) {
	pools := make([]fairshare.Pool, 1000)
	for i := range pools {
		pools[i].Demand = 10
	}
	s, shares := watched(t, pools, 5000, Config{Cooldown: Off, ByMachine: true})
	for i := range 20 {
		s.SetWaiting(500+i, Waiting{Units: 2 + int64(i), OneMachine: i%2 == 0})
	}
	usage := make([]int64, len(pools))
	usage[0] = 5000
	tasks := runningTasks(0, 500)
	for i := range tasks {
		tasks[i].Slots = 1 + int64(i%4)
	}
	free := []int64{3, 0, 7}
	now := time.Unix(0, 0)
	require.NoError(t, s.Observe(now, shares, usage))
	assert.Zero(t, testing.AllocsPerRun(10, func() { // the first run is not counted: it allocates the working space
		now = now.Add(time.Hour)
		_ = s.Observe(now, shares, usage)
		if len(s.Plan(now, tasks, free).Victims) == 0 {
			t.Error("the plan must have victims")
		}
	}))
}

func TestZeroValuesHaveNoPools(t *testing.T) {
	var tree fairshare.Tree
	fresh, err := New(&tree, Config{})
	require.NoError(t, err)
	for _, s := range []*Preemptor{fresh, {}} {
		require.NoError(t, s.Resume(&Preemptor{}, nil))
		require.NoError(t, s.Observe(time.Time{}, nil, nil))
		assert.Empty(t, s.Plan(time.Time{}, []Task{{}}, []int64{1}))
		assert.Empty(t, s.Config().Pools)
		data, err := s.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, s.UnmarshalBinary(data))
	}
}

func TestValuesPrintTheirNames(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"to-threshold": ToThreshold, "no-cause": NoCause, "below-share": BelowShare, "spared": Spared, "unknown-pool": UnknownPool,
		"across-share": AcrossShare, "Outcome(99)": Outcome(99), "kill above-share task=3 for=1": Victim{3, 1, AboveShare},
	} {
		assert.Equal(t, want, got.String())
	}
	for want, got := range map[string]slog.LogValuer{
		"[cause=below-minimum pool=1 deficit=2 waited=60 usage=3 due=5 granted=1]": Claim{1, BelowMinimum, 2, time.Minute,
			3, 5, 1},
		"[reason=across-share task=3 for=1]": Victim{3, 1, AcrossShare},
	} {
		assert.Equal(t, want, got.LogValue().String())
	}
}

func TestJSONHasNames(t *testing.T) {
	for want, v := range map[string]any{
		`{"reason":"across-share","task":3,"for":1}`: Victim{3, 1, AcrossShare},
		`{"cause":"below-minimum","pool":1,"deficit":2,"waited":60,"usage":3,"due":5,"granted":1}`: Claim{
			1, BelowMinimum, 2, time.Minute, 3, 5, 1},
		`["spared","at-share"]`: []Outcome{Spared, AtShare},
		`"to-share"`:            ToShare,
	} {
		got, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}
