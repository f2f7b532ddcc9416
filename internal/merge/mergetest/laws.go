// Package mergetest holds what is learned to the laws of a merge.
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

// Learner is what a process learns and passes on.
type Learner interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	AppendVersion(dst []byte) []byte
	AppendDelta(dst, since []byte, origins ...string) ([]byte, error)
	Merge(now time.Time, delta []byte) error
}

// Fleet is how the processes of a test learn. A process is known by its number, and as an origin by Name.
type Fleet[L Learner] struct {
	New    func(process int) L
	See    func(l L, process int, now time.Time, random *rand.Rand) // one thing
	Answer func(l L, now time.Time) string                          // of all that it may be asked
}

// Name is the origin of a process.
func Name(process int) string { return "scheduler-" + strconv.Itoa(process) }

// Histories is how many histories a test tries: few, or STRAGGLER_HISTORIES.
func Histories() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("STRAGGLER_HISTORIES"), 10, 64); err == nil {
		return n
	}
	return 200
}

// Laws demands that all who know the same answer alike, to the last bit: after random histories of processes that see
// things, ask each other for what they do not know, lose deltas, get them late, twice, in parts and by way of others,
// whose clocks are up to 20 s off, and which are restored from snapshots or begin with nothing.
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

type member[L Learner] struct {
	learner L
	ahead   time.Duration
	saved   []byte
}

type history[L Learner] struct {
	t      testing.TB
	fleet  Fleet[L]
	random *rand.Rand
	all    []member[L]
	onWay  [][]byte
	now    time.Time
}

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

func (h *history[L]) merge(to int, delta []byte) {
	before := bytes.Clone(delta)
	if err := h.all[to].learner.Merge(h.now.Add(h.all[to].ahead), delta); err != nil { // where a clock is set back
		require.ErrorContains(h.t, err, "ahead of this clock")
	}
	require.Equal(h.t, before, delta)
}

func (h *history[L]) step() {
	h.now = h.now.Add(time.Duration(h.random.ExpFloat64() * float64(5*time.Second)))
	i, j := h.random.IntN(len(h.all)), h.random.IntN(len(h.all))
	m := &h.all[i]
	switch h.random.IntN(24) {
	default:
		h.fleet.See(m.learner, i, h.now.Add(m.ahead), h.random)
	case 0, 1, 2:
		h.merge(i, h.pull(i, j))
	case 3, 4: // on its way, perhaps for ever
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
		h.fleet.Answer(m.learner, h.now.Add(m.ahead)) // an answer changes nothing
	case 10:
		m.ahead = time.Duration(h.random.IntN(20000)) * time.Millisecond
		if h.random.IntN(3) == 0 { // the clock is set, by up to ten minutes
			m.ahead += time.Duration(h.random.IntN(21)-10) * time.Minute
		}
	}
}

// agree lets all tell all, and one that has just come, and demands that they answer alike.
func (h *history[L]) agree(seed uint64) {
	h.now = h.now.Add(11 * time.Minute)
	for i := range h.all {
		h.all[i].ahead = 0
	}
	h.all = append(h.all, member[L]{learner: h.fleet.New(len(h.all))})
	for range 2 { // by then every clock is past all that was seen
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

// Refuses demands that what is no delta is refused and changes nothing.
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

// Kept demands that a learner is saved as the given bytes, in hexadecimal, and that its delta is the given one; and
// that both are read: other processes may be of the version that wrote them. Whoever changes the form of a delta gives it
// another first byte.
func Kept[L Learner](t testing.TB, learner, reader L, now time.Time, snapshot, delta string) {
	t.Helper()
	is, err := learner.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, snapshot, hex.EncodeToString(is))
	is, err = learner.AppendDelta(nil, nil)
	require.NoError(t, err)
	require.Equal(t, delta, hex.EncodeToString(is))
	kept, err := hex.DecodeString(delta)
	require.NoError(t, err)
	require.NoError(t, reader.Merge(now, kept))
	kept, err = hex.DecodeString(snapshot)
	require.NoError(t, err)
	require.NoError(t, reader.UnmarshalBinary(kept))
}
