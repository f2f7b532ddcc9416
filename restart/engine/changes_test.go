package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
)

// logged is a phase beside which a file grows: now and then another is made of an old snapshot and of the file, and must know
// the same.
type logged struct {
	*engine.Phase
	t        *testing.T
	rng      *rand.Rand
	config   engine.Config
	snapshot []byte
	hosts    []byte
	file     []byte
	checked  int
	bytes    int
}

func (l *logged) Poll(now time.Time, list []engine.Attempt) []engine.Action {
	actions := l.Phase.Poll(now, list)
	before := len(l.file)
	l.file = l.Phase.AppendChanges(l.file)
	l.bytes += len(l.file) - before
	if l.rng.IntN(8) == 0 {
		l.check()
	}
	if l.rng.IntN(25) == 0 {
		l.save()
	}
	return actions
}

func (l *logged) save() {
	var err error
	l.snapshot, err = l.Phase.MarshalBinary()
	require.NoError(l.t, err)
	l.hosts, err = l.config.Hosts.MarshalBinary()
	require.NoError(l.t, err)
	if l.rng.IntN(2) == 0 { // else it is interrupted before the file begins anew
		l.file = nil
	}
}

func (l *logged) check() {
	l.checked++
	var hosts engine.Hosts
	require.NoError(l.t, hosts.UnmarshalBinary(l.hosts))
	torn := append([]byte(nil), l.file...)
	torn = append(torn, l.file[:min(len(l.file), 4+l.rng.IntN(20))]...) // half of a record: it is being written
	other, err := engine.Restore(engine.Config{Policy: l.config.Policy, Hosts: &hosts},
		engine.Saved{Snapshot: l.snapshot, Changes: torn})
	require.NoError(l.t, err)
	assert.Equal(l.t, l.GivenUp(), other.GivenUp())
	one, two := l.Ledger(), other.Ledger()
	for _, n := range [][2]int{
		{one.Started, two.Started}, {one.Finished, two.Finished}, {one.Failed, two.Failed}, {one.Restarts, two.Restarts},
		{one.Copies, two.Copies}, {one.Clones, two.Clones}, {one.Pruned, two.Pruned},
	} {
		assert.Equal(l.t, n[0], n[1], "%v\n%v", one, two)
	}
	for task := range l.Facts().Tasks {
		id, won := l.Winner(task)
		it, has := other.Winner(task)
		assert.Equal(l.t, fmt.Sprint(id, won), fmt.Sprint(it, has))
	}
	open := map[string]bool{}
	for _, r := range other.Outstanding() {
		open[fmt.Sprint(r.Op, r.ID, r.Host)] = true
	}
	for _, r := range l.Outstanding() {
		assert.True(l.t, open[fmt.Sprint(r.Op, r.ID, r.Host)], "%+v", r)
	}
}

// A snapshot, and what has changed since, are the phase: the same attempts run, have ended and have won.
func TestChangesBringASnapshotUpToDate(t *testing.T) {
	checked := 0
	for seed := range uint64(60) {
		c, config := randomCluster(t, seed)
		if len(c.work) == 0 {
			continue
		}
		config.Journal = false
		p, err := engine.New(config)
		require.NoError(t, err)
		l := &logged{Phase: p, t: t, rng: rand.New(rand.NewPCG(seed, 13)), config: config}
		require.Empty(t, p.AppendChanges(nil))
		l.save()
		drive(t, c, l, period, nil)
		checked += l.checked
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	assert.Greater(t, checked, 150)
}

// What is missing between a snapshot and its changes, or has been changed, is an error.
func TestChangesThatDoNotFit(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 4, Slots: 1, Policy: restart.Never{}}, engine.HostsConfig{})
	p.AppendChanges(nil)
	snapshot, err := p.MarshalBinary()
	require.NoError(t, err)
	var records [][]byte
	for s := range 4 {
		p.Poll(at(float64(s)), []engine.Attempt{{ID: fmt.Sprint(s-1, ".0"), Task: s - 1, State: engine.Succeeded}})
		records = append(records, p.AppendChanges(nil))
	}
	restore := func(changes ...[]byte) error {
		var all []byte
		for _, c := range changes {
			all = append(all, c...)
		}
		_, err := engine.Restore(engine.Config{}, engine.Saved{Snapshot: snapshot, Changes: all})
		return err
	}
	require.NoError(t, restore(records...))
	assert.ErrorContains(t, restore(records[0], records[2]), "some are missing")
	bad := append([]byte(nil), records[1]...)
	bad[len(bad)/2] ^= 1
	assert.Error(t, restore(records[0], bad, records[2]))
}

// What a poll costs to save does not grow with what there is.
func BenchmarkAppendChanges(b *testing.B) {
	const tasks = 100_000
	p, err := engine.New(engine.Config{Tasks: tasks, Slots: tasks / 2, Interval: time.Second, Policy: restart.Never{}})
	require.NoError(b, err)
	p.AppendChanges(nil)
	for _, a := range p.Poll(epoch, nil) {
		p.Push(epoch, []engine.Attempt{{ID: a.ID, Task: a.Task, State: engine.Running}})
		break
	}
	file, ended := p.AppendChanges(nil), 0
	size := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		p.Push(epoch.Add(time.Duration(i)*time.Millisecond), []engine.Attempt{
			{ID: fmt.Sprint(ended, ".0"), Task: ended, State: engine.Succeeded},
		})
		ended = (ended + 1) % (tasks / 2)
		b.StartTimer()
		file = p.AppendChanges(file[:0])
		size += len(file)
	}
	b.ReportMetric(float64(size)/float64(b.N), "B/save")
}

// A restored phase goes on with its journal, and the whole of it replays to the letter.
func TestJournalOfARestoredPhase(t *testing.T) {
	for seed := range uint64(40) {
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

// reborn is a phase that is restored now and then, with its journal.
type reborn struct {
	*engine.Phase
	t      *testing.T
	config engine.Config
	rng    *rand.Rand
}

func (r *reborn) Poll(now time.Time, list []engine.Attempt) []engine.Action {
	if r.rng.IntN(10) == 0 {
		snapshot, err := r.Phase.MarshalBinary()
		require.NoError(r.t, err)
		text := append([]byte(nil), r.Phase.Journal()...)
		r.Phase.Release()
		r.Phase, err = engine.Restore(engine.Config{Hosts: r.config.Hosts, Order: r.config.Order, Journal: true},
			engine.Saved{Snapshot: snapshot, Journal: text})
		require.NoError(r.t, err)
	}
	return r.Phase.Poll(now, list)
}
