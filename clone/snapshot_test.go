package clone

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

// A state is saved and restored at any point, also after the clock steps back. Its answers equal the answers of a state that
// never stopped.
func TestARestoredStateAnswersAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	states := 12 // or 30 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		states = 30
	}
	for range states {
		e, err := NewEstimator(EstimatorConfig{MinTasks: 20, Period: 10 * time.Minute})
		require.NoError(t, err)
		b, err := NewBlacklist(12, BlacklistConfig{MinTasks: 1, MaxShare: .5})
		require.NoError(t, err)
		e2, b2 := snapshottest.Through(t, e), snapshottest.Through(t, b)
		now := time.Unix(rng.Int64N(1e9), rng.Int64N(1e9))
		for range 200 {
			if now = now.Add(time.Duration(rng.IntN(100)) * time.Second); rng.IntN(20) == 0 {
				now = now.Add(-time.Hour)
			}
			rates := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
			require.Equal(t, e.Observe(now, rates), e2.Observe(now, rates))
			p, known := e.P(now)
			p2, known2 := e2.P(now)
			require.Equal(t, known, known2)
			require.True(t, p == p2 || !known)
			machine, slow := rng.IntN(12), rng.IntN(3) == 0
			require.Equal(t, b.Observe(now, machine, slow), b2.Observe(now, machine, slow))
			require.Equal(t, b.AppendBanned(nil, now), b2.AppendBanned(nil, now))
			if rng.IntN(4) == 0 {
				e2, b2 = snapshottest.Through(t, e2), snapshottest.Through(t, b2)
			}
			if rng.IntN(40) == 0 {
				n := rng.IntN(12)
				b.Resize(n)
				b2.Resize(n)
				b.Resize(12)
				b2.Resize(12)
			}
		}
	}
}

func TestSnapshotsRefuseInvalidBytes(t *testing.T) {
	var e Estimator
	assert.EqualError(t, e.UnmarshalBinary(nil), "clone: Estimator: snapshot: want a snapshot, got no bytes")
	assert.EqualError(t, e.UnmarshalBinary([]byte{9}), "clone: Estimator: snapshot: version is 9, want 129; another version of the library wrote it: begin without it")
	good, err := e.MarshalBinary()
	require.NoError(t, err)
	assert.ErrorContains(t, e.UnmarshalBinary(append(good, 1)), "checksum does not match")
	var b Blacklist
	assert.ErrorContains(t, b.UnmarshalBinary(good), "clone: Blacklist: snapshot: ")
}

// The zero values have the paper's defaults.
func TestZeroValuesAreUsable(t *testing.T) {
	var b Budget
	d := b.Admit(Job{Tasks: 10}, Cluster{Capacity: 1800, Busy: 900, Straggler: .1})
	assert.Equal(t, "clone room-for-all clones=3 tasks=10 wanted=3 spent=30 budget=90 busy=930 ceiling=1440", d.String())
	assert.Equal(t, 30, b.Cancel(d.Grant))
	assert.Equal(t, Config{AcceptableRisk: .05, BudgetShare: .05, Ceiling: .8}, b.Config())
	assert.Empty(t, b.Victims(nil, Job{Tasks: 4}, Cluster{Capacity: 1, Straggler: .5}))

	now := time.Unix(0, 0)
	var e Estimator
	_, known := e.P(now)
	assert.False(t, known)
	for range 25 {
		assert.Equal(t, 5.0, e.Observe(now, []float64{10, 10, 10, 1}))
	}
	p, known := e.P(now)
	assert.True(t, known)
	assert.Equal(t, .25, p)

	var l Blacklist
	assert.False(t, l.Observe(now, 0, true))
	assert.False(t, l.Banned(now.Add(time.Hour), 0))
	l.Resize(10)
	for range 3 {
		assert.True(t, l.Observe(now, 4, true))
	}
	assert.Equal(t, 5*time.Minute, l.Config().Window)
	assert.Empty(t, l.AppendBanned(nil, now))
}

func TestReadmitCharges(t *testing.T) {
	b, err := NewBudget(Config{Charge: ExtraClones})
	require.NoError(t, err)
	for _, c := range [][3]int{{5, 0, 3}, {5, -2, 3}, {5, 5, 1}, {5, 5, -1}, {5, math.MaxInt, math.MaxInt}} {
		assert.Zero(t, b.Readmit(c[0], c[1], c[2]), c)
	}
	assert.Zero(t, b.Spent())
	g := b.Readmit(2, 7, 3) // a size below the number of running tasks counts as this number
	assert.Equal(t, 14, b.Spent())
	assert.Equal(t, []Grant{g}, b.Victims(nil, Job{Tasks: 6}, Cluster{Capacity: 280, Straggler: .1}))
	assert.Equal(t, 4, b.Release(g, 2))
	assert.Equal(t, 10, b.Cancel(g))
	assert.Zero(t, b.Spent())
	b.Readmit(1, 1, 2)
	assert.Equal(t, 1, b.Spent(), "a job of one task with one clone more")
}

func TestDecisionsAndConfigsAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, Decision{}, `single no-reason`, `{"action":"single","reason":"no-reason"}`)
	wiretest.Same(t, Config{AcceptableRisk: .1, BudgetShare: Off, Charge: ExtraClones, Shortage: FirstTasks},
		`acceptable-risk=0.1 budget-share=off charge=extra-clones shortage=first-tasks`,
		`{"acceptable-risk":0.1,"budget-share":-1,"charge":"extra-clones","shortage":"first-tasks"}`)
	wiretest.Same(t, EstimatorConfig{Period: 90 * time.Second, Slow: .123456789, MinTasks: 7},
		`period=90s slow=0.123456789 min-tasks=7`, `{"period":90,"slow":0.123456789,"min-tasks":7}`)
	wiretest.Same(t, BlacklistConfig{Window: 1, Recent: .1, Threshold: .2, MaxShare: .3, MinTasks: 4},
		`window=0.000000001s recent=0.1 threshold=0.2 max-share=0.3 min-tasks=4`,
		`{"window":0.000000001,"recent":0.1,"threshold":0.2,"max-share":0.3,"min-tasks":4}`)

	var b Budget
	d := b.Admit(Job{Tasks: 10}, Cluster{Capacity: 1800, Busy: 900, Straggler: .1})
	data, err := json.Marshal(d)
	require.NoError(t, err)
	assert.JSONEq(t, `{"action":"clone","reason":"room-for-all","clones":3,"tasks":10,"wanted":3,
		"spent":30,"budget":90,"busy":930,"ceiling":1440}`, string(data))
	var c Config
	require.NoError(t, json.Unmarshal([]byte(`{"charge":"extra-clones","shortage":"fewer-clones","ceiling":-1}`), &c))
	assert.Equal(t, Config{Charge: ExtraClones, Shortage: FewerClones, Ceiling: Off}, c)
	assert.Equal(t, "ceiling=off charge=extra-clones shortage=fewer-clones", c.String())
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"charge":"all"}`), &c), `clone: Charge is "all", want one of: all-clones`)
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"shortage":"x"}`), &c), `clone: Shortage is "x", want one of: deny`)
	_, err = json.Marshal(Decision{Reason: 99})
	assert.ErrorContains(t, err, "clone: Reason is 99, want 0 to 10")
}

// Every release reads the snapshots of the releases before it.
func TestCommittedSnapshotsAreRead(t *testing.T) {
	var e Estimator
	e.Observe(time.Unix(7, 0), []float64{10, 10, 10, 1})
	snapshottest.Kept(t, "estimator", &e)
	b, err := NewBlacklist(2, BlacklistConfig{MinTasks: 1, MaxShare: 1})
	require.NoError(t, err)
	b.Observe(time.Unix(7, 0), 1, true)
	b.Banned(time.Unix(307, 0), 1)
	snapshottest.Kept(t, "blacklist", b)
}
