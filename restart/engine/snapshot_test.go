package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// twins are two phases with the same reports: the first never stops, and the second is restored again and
// again.
type twins struct {
	*engine.Phase
	t        *testing.T
	other    *engine.Phase
	machines *engine.Machines
	given    engine.Config // the values that the program supplies again
	rng      *rand.Rand
	stops    int
	always   bool
}

func (w *twins) Poll(now time.Time, attempts []engine.Attempt) engine.Turn {
	if w.always || w.rng.IntN(5) == 0 {
		w.restore()
	}
	turn := w.Phase.Poll(now, attempts)
	others := w.other.Poll(now, slices.Clone(attempts)).Actions
	require.Equal(w.t, withoutPublish(turn.Actions), withoutPublish(others))
	return turn
}

func (w *twins) Published(id string) {
	w.Phase.Published(id)
	w.other.Published(id)
}

// withoutPublish drops the Publish actions that a restored phase repeats because it can't know that they were
// carried out.
func withoutPublish(actions []engine.Action) (others []engine.Action) {
	for _, a := range actions {
		if a.Op != engine.Publish {
			others = append(others, a)
		}
	}
	return others
}

func (w *twins) restore() {
	w.stops++
	phase, err := w.other.MarshalBinary()
	require.NoError(w.t, err)
	machines, err := w.machines.MarshalBinary()
	require.NoError(w.t, err)
	w.machines = &engine.Machines{}
	require.NoError(w.t, w.machines.UnmarshalBinary(machines))
	w.given.Machines = w.machines
	w.other, err = engine.Restore(w.given, engine.Saved{Snapshot: phase})
	require.NoError(w.t, err)
	again, err := w.other.MarshalBinary()
	require.NoError(w.t, err)
	require.Equal(w.t, phase, again, "a restored phase must be saved as the same bytes")
}

// A phase that is restored between any two polls acts like a phase that never stopped.
func TestRestoredPhaseActsLikeOneThatNeverStopped(t *testing.T) {
	t.Parallel()
	stops := 0
	seeds := cases(40, 150)
	for seed := range seeds {
		c, config := randomCluster(t, seed)
		if len(c.work) == 0 {
			continue
		}
		config.Journal = false
		w := &twins{t: t, rng: rand.New(rand.NewPCG(seed, 3)), given: engine.Config{Policy: config.Policy, Order: config.Order}}
		var err error
		w.Phase, err = engine.New(config)
		require.NoError(t, err)
		w.machines = c.known(t, engine.MachinesConfig{Rest: 5 * time.Second})
		config.Machines = w.machines
		w.other, err = engine.New(config)
		require.NoError(t, err)
		drive(t, c, w, period, nil)
		assert.Equal(t, w.Phase.Ledger(), w.other.Ledger())
		assert.Equal(t, w.Phase.GivenUp(), w.other.GivenUp())
		stops += w.stops
	}
	assert.Greater(t, stops, 6*int(seeds))
}

// Two phases that share machines are restored after the machines, in any order.
func TestPhasesThatShareMachinesAreRestored(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 3}, {Name: "b", Slots: 3}}})
	require.NoError(t, err)
	config := engine.Config{Tasks: 2, Interval: time.Second, Policy: restart.Never{}, Machines: machines}
	one, err := engine.New(config)
	require.NoError(t, err)
	two, err := engine.New(config)
	require.NoError(t, err)
	one.Poll(epoch, nil)
	two.Poll(epoch, nil)
	state, err := machines.MarshalBinary()
	require.NoError(t, err)
	first, err := one.MarshalBinary()
	require.NoError(t, err)
	second, err := two.MarshalBinary()
	require.NoError(t, err)

	var back engine.Machines
	require.NoError(t, back.UnmarshalBinary(state))
	_, err = engine.Restore(engine.Config{}, engine.Saved{Snapshot: first})
	assert.ErrorContains(t, err, "knows machines that Config.Machines lacks")
	for _, data := range [][]byte{second, first} {
		_, err = engine.Restore(engine.Config{Machines: &back}, engine.Saved{Snapshot: data})
		require.NoError(t, err)
	}
	three, err := engine.New(engine.Config{Tasks: 9, Interval: time.Second, Machines: &back})
	require.NoError(t, err)
	assert.Len(t, three.Poll(epoch, nil).Actions, 2, "the two phases hold four of six slots")
}

func TestRestoreRefusesBadSnapshots(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 3, Slots: 2, Interval: time.Second})
	require.NoError(t, err)
	p.Poll(epoch, nil)
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	for n := range data {
		_, err = engine.Restore(engine.Config{}, engine.Saved{Snapshot: data[:n]})
		assert.Error(t, err, "%d bytes", n)
	}
	_, err = engine.Restore(engine.Config{}, engine.Saved{Snapshot: append(data, 0)})
	assert.Error(t, err)
	snapshottest.Flips(t, data, func(bad []byte) error {
		_, err := engine.Restore(engine.Config{}, engine.Saved{Snapshot: bad})
		return err
	})
	var h engine.Machines
	machines, err := h.MarshalBinary()
	require.NoError(t, err)
	snapshottest.Flips(t, machines, h.UnmarshalBinary)
	assert.Error(t, h.UnmarshalBinary(nil))
	assert.Error(t, h.UnmarshalBinary([]byte{9, 9, 9}))
}

// A phase that had an order or a budget is not restored without one.
func TestRestoreNamesWhatIsMissing(t *testing.T) {
	config := engine.Config{
		Tasks: 3, Slots: 2, Interval: time.Second, Budget: new(tracker.Budget),
		Order: func(time.Time, []int) {},
	}
	p, err := engine.New(config)
	require.NoError(t, err)
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	given := engine.Config{Order: config.Order}
	_, err = engine.Restore(given, engine.Saved{Snapshot: data})
	assert.ErrorContains(t, err, "Config.Budget is nil")
	given = engine.Config{Budget: config.Budget}
	_, err = engine.Restore(given, engine.Saved{Snapshot: data})
	assert.ErrorContains(t, err, "Config.Order is <nil>")
	given.Order = config.Order
	_, err = engine.Restore(given, engine.Saved{Snapshot: data})
	assert.NoError(t, err)
}

// A phase is restored under another setting. It says so, and its journal begins at the snapshot.
func TestAPhaseGoesOnUnderAnotherPolicy(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 3, Slots: 2, Interval: time.Second, Journal: true})
	require.NoError(t, err)
	p.Poll(epoch, nil)
	assert.Empty(t, p.PolicyBefore())
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	saved := engine.Saved{Snapshot: data, Journal: p.Journal()}
	same, err := engine.Restore(engine.Config{Policy: restart.LeastCost{}, Journal: true}, saved)
	require.NoError(t, err)
	assert.Empty(t, same.PolicyBefore())
	assert.Equal(t, string(p.Journal()), string(same.Journal()))
	other, err := engine.Restore(engine.Config{Policy: restart.Never{}, Journal: true}, saved)
	require.NoError(t, err)
	assert.Equal(t, "least-cost,price=0.5,idle-price=3", other.PolicyBefore())
	assert.Empty(t, other.Journal())
	assert.Len(t, other.Outstanding(), 2)
}

// A restored phase goes on with its journal, and the whole journal replays exactly.
func TestJournalOfARestoredPhase(t *testing.T) {
	for seed := range cases(20, 40) {
		c, config := randomCluster(t, seed)
		if _, custom := config.Policy.(eager); custom || len(c.work) == 0 {
			continue
		}
		config.Journal = true
		p, err := engine.New(config)
		require.NoError(t, err)
		r := &reborn{Phase: p, t: t, config: config, rng: rand.New(rand.NewPCG(seed, 14))}
		drive(t, c, r, period, nil)
		replayed, err := journal.Replay(r.Journal(), journal.Options{})
		require.NoError(t, err, "seed %d", seed)
		assert.Equal(t, string(r.Journal()), string(replayed), "seed %d", seed)
	}
}

// reborn is a phase that is restored from time to time, with its journal.
type reborn struct {
	*engine.Phase
	t      *testing.T
	config engine.Config
	rng    *rand.Rand
}

func (r *reborn) Poll(now time.Time, list []engine.Attempt) engine.Turn {
	if r.rng.IntN(10) == 0 {
		snapshot, err := r.Phase.MarshalBinary()
		require.NoError(r.t, err)
		text := append([]byte(nil), r.Phase.Journal()...)
		r.Phase.Release()
		r.Phase, err = engine.Restore(engine.Config{Machines: r.config.Machines, Order: r.config.Order, Journal: true},
			engine.Saved{Snapshot: snapshot, Journal: text})
		require.NoError(r.t, err)
	}
	return r.Phase.Poll(now, list)
}

// Any bytes give a phase or an error, and such a phase goes on.
func FuzzRestore(f *testing.F) {
	p, err := engine.New(engine.Config{Tasks: 3, Slots: 2, Interval: time.Second})
	require.NoError(f, err)
	p.Poll(epoch, nil)
	data, err := p.MarshalBinary()
	require.NoError(f, err)
	f.Add(snapshottest.Body(data))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := engine.Restore(engine.Config{}, engine.Saved{Snapshot: snapshottest.Sealed(data)})
		if err != nil {
			return
		}
		for i := range 3 {
			p.Poll(epoch.Add(time.Duration(i)*time.Second), []engine.Attempt{{ID: "x", State: engine.State(i), Machine: "h"}})
		}
		again, err := p.MarshalBinary()
		require.NoError(t, err)
		_, err = engine.Restore(engine.Config{}, engine.Saved{Snapshot: again})
		_ = err // the snapshot may need machines that Config{} lacks
	})
}
