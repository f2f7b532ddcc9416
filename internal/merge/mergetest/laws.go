// Package mergetest tests types that share their observations between processes. It checks that the result does not
// depend on the order in which observations arrive.
package mergetest

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// Learner is a type that learns from observations and shares them with other processes.
type Learner interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	AppendVersion(dst []byte) []byte
	AppendDelta(dst, since []byte, origins ...string) ([]byte, error)
	Merge(now time.Time, delta []byte) error
}

// Fleet creates and drives the processes of a test. Each process has a number, and the function Name returns its
// name.
type Fleet[L Learner] struct {
	New    func(process int) L
	See    func(l L, process int, now time.Time, random *rand.Rand) // makes one observation
	Answer func(l L, now time.Time) string                          // returns all answers as text
}

// Name returns the name of a process, which is its Origin.
func Name(process int) string { return "scheduler-" + strconv.Itoa(process) }

// Histories returns the number of random histories that a test runs: the environment variable STRAGGLER_HISTORIES
// if it is set, and otherwise 100.
func Histories() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("STRAGGLER_HISTORIES"), 10, 64); err == nil {
		return n
	}
	return 100
}

// Laws checks that all processes with the same observations give equal answers, to the last bit. Each test first
// runs a random history, in which processes
//
//   - make observations, and ask each other for observations that they do not have
//   - lose deltas, or get them late, twice, in parts and through third processes
//   - have clocks that are up to 20 s wrong, and at times up to ten minutes
//   - are restored from snapshots, or start without observations
func Laws[L Learner](t *testing.T, f Fleet[L]) {
	t.Helper()
	for seed := range Histories() {
		random := rand.New(rand.NewPCG(seed, 11))
		h := history[L]{t, f, random, make([]member[L], 2+random.IntN(4)), nil, time.Unix(1.7e9, 0)}
		for i := range h.all {
			h.all[i] = member[L]{f.New(i), time.Duration(random.IntN(20000)) * time.Millisecond, nil}
		}
		for range 20 + random.IntN(200) {
			h.step()
		}
		h.agree(seed)
	}
}

// member is a process in a history. Its clock is ahead of the true time by the duration ahead, and saved is its
// last snapshot.
type member[L Learner] struct {
	learner L
	ahead   time.Duration
	saved   []byte
}

// history is the state of a random history: its processes, and the deltas that were sent and have not arrived.
type history[L Learner] struct {
	t      testing.TB
	fleet  Fleet[L]
	random *rand.Rand
	all    []member[L]
	onWay  [][]byte
	now    time.Time
}

// pull returns a delta that one process makes for another. The arguments from and to are the numbers of the two
// processes. The delta may be of one origin only, or may ignore the version of the reader.
func (h *history[L]) pull(to, from int) []byte {
	var since []byte
	if h.random.IntN(8) > 0 {
		since = h.all[to].learner.AppendVersion(nil)
	}
	var of []string
	if h.random.IntN(4) == 0 {
		of = append(of, Name(h.random.IntN(len(h.all))))
	}
	delta, err := h.all[from].learner.AppendDelta(nil, since, of...)
	require.NoError(h.t, err)
	return delta
}

// merge passes a delta to the Merge of a process, and checks that Merge does not change the bytes of the delta.
func (h *history[L]) merge(to int, delta []byte) {
	before := bytes.Clone(delta)
	// An error is possible after a clock was set back.
	if err := h.all[to].learner.Merge(h.now.Add(h.all[to].ahead), delta); err != nil {
		require.ErrorContains(h.t, err, "ahead of this clock")
	}
	require.Equal(h.t, before, delta)
}

// step does one random thing: an observation, a merge, a snapshot, a restore, an answer or a change of a clock.
func (h *history[L]) step() {
	h.now = h.now.Add(time.Duration(h.random.ExpFloat64() * float64(5*time.Second)))
	i, j := h.random.IntN(len(h.all)), h.random.IntN(len(h.all))
	m := &h.all[i]
	switch h.random.IntN(24) {
	default:
		h.fleet.See(m.learner, i, h.now.Add(m.ahead), h.random)
	case 0, 1, 2:
		h.merge(i, h.pull(i, j))
	case 3, 4: // the delta may arrive later or never
		h.onWay = append(h.onWay, h.pull(i, j))
	case 5, 6:
		if len(h.onWay) > 0 {
			h.merge(i, h.onWay[h.random.IntN(len(h.onWay))])
		}
	case 7:
		m.saved, _ = m.learner.MarshalBinary()
	case 8:
		if h.random.IntN(4) == 0 {
			if m.learner = h.fleet.New(i); m.saved != nil {
				require.NoError(h.t, m.learner.UnmarshalBinary(m.saved))
			}
		}
	case 9:
		h.fleet.Answer(m.learner, h.now.Add(m.ahead)) // an answer must change nothing
	case 10:
		m.ahead = time.Duration(h.random.IntN(20000)) * time.Millisecond
		if h.random.IntN(3) == 0 { // the clock is set forward or back by up to ten minutes
			m.ahead += time.Duration(h.random.IntN(21)-10) * time.Minute
		}
	}
}

// agree sends all observations to all processes, and to a new process. Then it checks that all processes give equal
// answers.
func (h *history[L]) agree(seed uint64) {
	h.now = h.now.Add(11 * time.Minute)
	for i := range h.all {
		h.all[i].ahead = 0
	}
	h.all = append(h.all, member[L]{learner: h.fleet.New(len(h.all))})
	for range 2 { // now every clock is later than every observation
		for _, to := range h.random.Perm(len(h.all)) {
			for _, from := range h.random.Perm(len(h.all)) {
				delta, err := h.all[from].learner.AppendDelta(nil, h.all[to].learner.AppendVersion(nil))
				require.NoError(h.t, err)
				h.merge(to, delta)
			}
		}
	}
	want := h.fleet.Answer(h.all[0].learner, h.now)
	for _, m := range h.all[1:] {
		require.Equal(h.t, want, h.fleet.Answer(m.learner, h.now), "seed %d", seed)
	}
}

// Refuses checks that Merge returns an error for a damaged delta and changes nothing.
func Refuses[L Learner](t testing.TB, l L, now time.Time, delta []byte) {
	t.Helper()
	require.NoError(t, l.Merge(now, delta))
	before, err := l.MarshalBinary()
	require.NoError(t, err)
	for n := range delta {
		require.Error(t, l.Merge(now, delta[:n]), "cut to %d", n)
	}
	snapshottest.Flips(t, delta, func(bad []byte) error { return l.Merge(now, bad) })
	snapshottest.Flips(t, l.AppendVersion(nil), func(bad []byte) error {
		_, err := l.AppendDelta(nil, bad)
		return err
	})
	after, err := l.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Kept checks a learner against its committed snapshots, as snapshottest.Kept does, and against the delta with the given
// bytes, in hexadecimal. The reader must be able to read the snapshots and the delta. Other processes may still run the
// version of the program that wrote this delta. If the form of a delta changes, its first byte must change as well.
func Kept[L Learner](t testing.TB, name string, learner, reader L, now time.Time, delta string) {
	t.Helper()
	is, err := learner.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.Equal(t, delta, hex.EncodeToString(is))
	require.NoError(t, reader.Merge(now, is))
	data, err := learner.MarshalBinary()
	require.NoError(t, err)
	snapshottest.KeptBy(t, name, data, func(data []byte) ([]byte, error) {
		if err := reader.UnmarshalBinary(data); err != nil {
			return nil, err
		}
		return reader.MarshalBinary()
	})
}
