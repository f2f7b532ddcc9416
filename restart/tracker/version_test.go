package tracker_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// parts returns the parts that a tracker with a Knowledge and a Budget needs.
func parts() tracker.Config {
	return tracker.Config{Knowledge: new(tracker.Knowledge), Budget: new(tracker.Budget)}
}

// saved returns the phase of a committed snapshot: tasks run, end, fail, are copied and killed, a machine leaves, and a
// few tasks still wait.
func saved(t testing.TB, c tracker.Config) *tracker.Tracker {
	t.Helper()
	c.Slots, c.Machines, c.Interval, c.Clones = 8, 3, time.Second, 2
	c.Work = []float64{1, 1, 2, 2, 1, 1, math.NaN(), 1, 3, 1}
	tr, err := tracker.New(c)
	require.NoError(t, err)
	for task := range 6 {
		tr.Start(at(float64(task)/2), task, task%3)
		tr.Report(at(4), task, 0, tracker.Report{Done: 0.1 * float64(task+1)})
	}
	tr.Start(at(5), 3, 1)
	tr.Report(at(8), 3, 1, tracker.Report{Done: 0.3, Saved: 0.2})
	tr.Finish(at(10), 0, 0)
	tr.Finish(at(11), 4, 0)
	tr.Fail(at(11), 1, 0)
	tr.Leave(at(12), 2, at(60))
	tr.Start(at(12), 6, -1)
	tr.Submit(at(12), 7, 1)
	if c.Recent > 0 {
		tr.Forget(0)
		tr.Forget(8)
		tr.Add(2)
	}
	tr.Sweep(at(13), func(tracker.Answer) {})
	for range 3 {
		if a := tr.Next(at(14), 1); a.Action == restart.Start || a.Action == restart.Copy {
			tr.Start(at(14), a.Task, 1)
		}
	}
	return tr
}

// savedPhases returns the configurations of the committed snapshots. Together they have each field.
func savedPhases() map[string]tracker.Config {
	all := parts()
	all.Kind, all.Policy, all.Limits = "daily", restart.Mantri{}, restart.Limits{Restarts: 2, LossShare: .1}
	return map[string]tracker.Config{
		"phase":       {},
		"phase-parts": all,
		"phase-late":  {Policy: rules.LATE{}, Limits: published},
		"phase-flink": {Policy: rules.Flink{Ratio: .1}, Stream: true},
		"phase-grows": {Policy: rules.Spark{Quantile: .1}, Recent: time.Minute},
	}
}

// given returns the configuration with which a committed snapshot is restored.
func given(name string) tracker.Config {
	if name == "phase-parts" {
		return parts()
	}
	return tracker.Config{}
}

// Every release reads the snapshots of the releases before it, and the phase goes on with the same answers.
func TestCommittedPhasesAreRestored(t *testing.T) {
	for name, c := range savedPhases() {
		data, err := saved(t, c).MarshalBinary()
		require.NoError(t, err)
		snapshottest.KeptBy(t, name, data, func(data []byte) ([]byte, error) {
			tr, err := tracker.Restore(given(name), data)
			if err != nil {
				return nil, err
			}
			return tr.MarshalBinary()
		})
		for _, old := range snapshottest.Files(t, name, data) {
			again, err := tracker.Restore(given(name), old)
			require.NoError(t, err)
			one := saved(t, c)
			if c.Knowledge != nil {
				continue // the new Knowledge knows nothing
			}
			assert.Empty(t, again.PolicyBefore())
			for task := range 10 {
				assert.Equal(t, one.Decide(at(20), task).String(), again.Decide(at(20), task).String(), "%s, task %d", name, task)
			}
			assert.Equal(t, one.Next(at(21), 1).String(), again.Next(at(21), 1).String(), name)
			assert.Equal(t, one.Ledger(), again.Ledger(), name)
		}
	}
}

// Snapshots from before numbered fields are refused. The error says what to do.
func TestSnapshotsWithoutFieldsAreRefused(t *testing.T) {
	_, err := tracker.Restore(tracker.Config{}, []byte{25, 10, 'l', 'e', 'a', 's', 't'})
	assert.EqualError(t, err, "restart/tracker: Tracker: snapshot: version is 25, want 129; another version of the library wrote it: begin without it")
}

// A phase goes on under other settings, or under another policy that reads no more facts. Otherwise the error says which
// field is missing.
func TestAPhaseGoesOnUnderAnotherPolicy(t *testing.T) {
	of := func(policy restart.Policy, limits restart.Limits) []byte {
		data, err := saved(t, tracker.Config{Policy: policy, Limits: limits}).MarshalBinary()
		require.NoError(t, err)
		return data
	}
	for _, c := range []struct {
		was, is restart.Policy
		before  string
	}{
		{nil, nil, ""},
		{nil, restart.LeastCost{}, ""},
		{nil, restart.LeastCost{Price: .5}, ""}, // the default
		{nil, restart.LeastCost{Price: .75}, "least-cost,price=0.5,idle-price=3"},
		{restart.LeastCost{Price: .75}, nil, ""},
		{restart.LeastCost{Price: .75}, restart.LeastCost{}, "least-cost,price=0.75,idle-price=3"},
		{nil, restart.Never{}, "least-cost,price=0.5,idle-price=3"},
		{nil, answers{}, "least-cost,price=0.5,idle-price=3"},
		{rules.Spark{}, rules.Dryad{}, "spark,quantile=0.9,multiplier=3,min-runtime=0.1s,executor-slots=1,slow-rate=0.75,long-run=2"},
		{answers{}, answers{}, ""},
		{answers{}, restart.LeastCost{}, "custom"},
	} {
		tr, err := tracker.Restore(tracker.Config{Policy: c.is}, of(c.was, restart.Limits{}))
		if _, custom := c.is.(answers); custom && c.was == nil {
			assert.ErrorContains(t, err, "field 11.6 (fleet.progress): is missing; the snapshot is of a phase under least-cost,price=0.5,idle-price=3", "a policy of the host reads all facts")
			continue
		}
		require.NoError(t, err, "%v to %v", c.was, c.is)
		assert.Equal(t, c.before, tr.PolicyBefore())
		if c.is != nil {
			assert.Equal(t, c.is, tr.Config().Policy)
		}
		for task := range 10 {
			tr.Decide(at(20), task)
		}
		tr.Next(at(21), 1)
		again, err := tr.MarshalBinary()
		require.NoError(t, err)
		tr, err = tracker.Restore(tracker.Config{Policy: c.is}, again)
		require.NoError(t, err)
		assert.Empty(t, tr.PolicyBefore(), "the snapshot is of the new policy")
	}
	_, err := tracker.Restore(tracker.Config{Policy: rules.Flink{}}, of(rules.Dryad{}, restart.Limits{}))
	assert.ErrorContains(t, err, "field 12.2 (peers.unit-times): is missing")
	_, err = tracker.Restore(tracker.Config{Policy: restart.LeastCost{}}, of(restart.Never{}, published))
	assert.ErrorContains(t, err, "is missing")
	_, err = tracker.Restore(tracker.Config{}, of(answers{}, restart.Limits{}))
	assert.ErrorContains(t, err, `the policy is "custom", want it in Config.Policy`)
}

// The ranking of the tasks that were worth a copy is not used under another policy.
func TestTheRankingIsOfThePolicy(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 40, Slots: 40, Interval: time.Second, Policy: rules.Spark{}, Limits: published})
	for task := range 40 {
		tr.Start(at(0), task, task)
	}
	for task := range 37 {
		tr.Finish(at(10), task, 0)
	}
	tr.SetSlots(45)
	tr.Sweep(at(100), func(tracker.Answer) {})
	require.Equal(t, restart.Copy, tr.Next(at(100), 50).Action)
	data, err := tr.MarshalBinary()
	require.NoError(t, err)
	const ranking = "22" // the number of its field; the field is a single 0 without a ranking
	require.NotEqual(t, data, snapshottest.With(t, data, ranking, []byte{0}))
	for policy, want := range map[restart.Policy]restart.Action{nil: restart.Copy, restart.Never{}: restart.Keep} {
		restored, err := tracker.Restore(tracker.Config{Policy: policy}, data)
		require.NoError(t, err)
		again, err := restored.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, policy != nil, bytes.Equal(again, snapshottest.With(t, again, ranking, []byte{0})))
		assert.Equal(t, want, restored.Next(at(100), 50).Action, "%v", policy)
	}
}

// Fields that contradict each other are refused.
func TestContradictionsAreRefused(t *testing.T) {
	data, err := saved(t, tracker.Config{}).MarshalBinary()
	require.NoError(t, err)
	float := func(x float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)) }
	number := func(n ...int64) (b []byte) {
		for _, n := range n {
			b = binary.AppendVarint(b, n)
		}
		return b
	}
	for path, c := range map[string]struct {
		values []byte
		want   string
	}{
		"3":      {number(1 << 20), "counts more tasks than it can hold"},
		"10.100": {number(5, 6), "wasted more slot time than it used"},
		"10.6":   {number(99), "counts more ends of copies than copies"},
		"12.4":   {float(11), "holds scores that are out of range"},
		"20":     {append([]byte{2}, number(0, 1, 1, 0, 1, 1)...), "counts answers out of order"},
		"7":      {number(1 << 50), "changed at a time before its first event or after its last"},
	} {
		_, err := tracker.Restore(tracker.Config{}, snapshottest.With(t, data, path, c.values))
		assert.ErrorContains(t, err, c.want, path)
	}
}

// 400 damaged snapshots, or 40,000 with STRAGGLER_LIVES, are refused, or give phases that work: the counts agree, the
// answers are in range, and a restored copy gives the same answers.
func TestDamagedPhasesKeepTheLaws(t *testing.T) {
	accepted, times := 0, int(cases(400, 40_000))/len(savedPhases())
	for name, c := range savedPhases() {
		data, err := saved(t, c).MarshalBinary()
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(uint64(len(name)), 47))
		accepted += snapshottest.Damage(t, random, times, data, func(bad []byte) error {
			one, err := tracker.Restore(given(name), bad)
			if err != nil {
				return err
			}
			lawful(t, one)
			again, err := one.MarshalBinary()
			require.NoError(t, err)
			two, err := tracker.Restore(given(name), again)
			require.NoError(t, err, "%s: a phase that was restored is saved and restored", name)
			d := driver{rng: random, now: at(30), n: 10}
			for range 20 {
				e := d.event()
				a := one.Apply(e)
				require.Equal(t, a.String(), two.Apply(e).String(), name)
				require.Regexp(t, answerLine, a.Decision.String())
			}
			lawful(t, one)
			return nil
		})
	}
	assert.Greater(t, accepted, times/20, "some damages are accepted, or the test shows nothing")
}

// lawful checks that the counts of a phase and of its ledger agree.
func lawful(t *testing.T, tr *tracker.Tracker) {
	t.Helper()
	p, l := tr.Phase(), tr.Ledger()
	require.GreaterOrEqual(t, min(p.Tasks, p.Finished, p.Waiting, p.Slots, p.FreeSlots, p.Copies), 0, "%+v", p)
	require.LessOrEqual(t, p.Finished+p.Waiting, p.Tasks, "%+v", p)
	require.LessOrEqual(t, p.FreeSlots, p.Slots, "%+v", p)
	require.GreaterOrEqual(t, min(l.Started, l.Finished, l.Copies, l.Restarts, l.Won, l.Lost, l.Pruned, l.Failed, l.Ignored), 0, "%+v", l)
	require.True(t, l.Used >= 0 && l.Wasted >= 0 && l.Wasted <= l.Used, "%+v", l)
	require.True(t, l.Won+l.Lost <= l.Copies && l.Won <= l.Finished, "%+v", l)
	require.True(t, p.Peers.MeanScore >= -1e-6 && p.Peers.MeanScore <= 1+1e-6, "%+v", p.Peers)
	require.True(t, p.Peers.Throughput-p.Peers.Throughput == 0, "%+v", p.Peers)
	require.GreaterOrEqual(t, p.Trials.AtRisk, time.Duration(0))
}
