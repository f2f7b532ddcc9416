package machines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// act does one random thing to a record and returns the answer.
func act(r *Record, now *time.Time, random *rand.Rand) string {
	*now = now.Add(time.Duration(random.ExpFloat64() * 30 * float64(time.Second)))
	if random.IntN(50) == 0 {
		*now = now.Add(-time.Minute)
	}
	number := []int{0, 1, 2, 3, 7, 1 << 30, math.MaxInt, 1e6, 12, 13}[random.IntN(10)]
	key := random.Uint64N(12)
	a := Attempt{Ran: time.Duration(random.IntN(200)) * time.Second, Usual: time.Duration(random.IntN(60)) * time.Second}
	if random.IntN(3) > 0 {
		a.Done = random.Float64()
	}
	if number == 7 {
		a.Ran *= 9
	}
	switch random.IntN(12) {
	case 0, 1, 2:
		r.End(*now, number, key, a, Outcome(random.IntN(3)))
	case 3:
		r.AddProgress(*now, number, random.Float64()-.2)
	case 4:
		if random.IntN(9) == 0 {
			r.Forget(number)
		}
	case 5:
		if random.IntN(9) == 0 {
			r.SetClass(number, random.IntN(3))
		}
	case 6:
		r.Join()
	default:
		r.Running(*now, number, key, a)
	}
	asked := random.IntN(14)
	total, of := r.Progress(asked)
	elsewhere, known := r.Elsewhere(asked, 7, 7)
	answer := fmt.Sprint(r.Factor(asked), r.Judge(number), elsewhere, known, total, r.Len())
	if of != nil {
		answer += fmt.Sprint(of.Len(), of.Mean(), of.Quantile(.25))
	}
	if random.IntN(4) == 0 {
		answer += fmt.Sprint(r.AppendAvoid(nil))
	}
	return answer
}

// After any history, a restored record answers and learns as if it had never stopped.
func TestRestoredRecordContinuesAsBefore(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 5))
		c := Config{}
		if seed%2 == 0 {
			c = Config{HalfLife: time.Minute, Trust: 1, MaxMachines: 6, SlowFactor: 1.2, Limit: 20, MaxShare: .5}
		}
		old := newRecord(t, c)
		now := time.Unix(1e9, 0)
		for range random.IntN(400) {
			act(old, &now, random)
		}
		data, err := old.MarshalBinary()
		require.NoError(t, err)
		var restored Record
		require.NoError(t, restored.UnmarshalBinary(data))
		again, err := restored.AppendBinary([]byte("x"))
		require.NoError(t, err)
		require.Equal(t, data, again[1:])
		var third Record
		require.NoError(t, third.UnmarshalBinary(data))
		sound(t, &third)
		for range 200 {
			pcg := rand.NewPCG(seed, random.Uint64())
			saved, later := *pcg, now
			want := act(old, &now, rand.New(pcg))
			require.Equal(t, want, act(&restored, &later, rand.New(&saved)))
		}
	}
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	r := newRecord(t, Config{})
	random, now := rand.New(rand.NewPCG(1, 1)), time.Unix(0, 0)
	for range 300 {
		act(r, &now, random)
	}
	data, err := r.MarshalBinary()
	require.NoError(t, err)
	for n := range data {
		assert.ErrorContains(t, r.UnmarshalBinary(data[:n]), "estimate/machines: Record: snapshot: ", "cut to %d", n)
	}
	assert.Error(t, r.UnmarshalBinary(append(data[:len(data):len(data)], 0)))
	snapshottest.Flips(t, data, r.UnmarshalBinary)
	after, err := r.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, data, after, "a refused snapshot leaves the record unchanged")
	data[0]++
	assert.ErrorContains(t, r.UnmarshalBinary(data), "version is 130, want 129")
}

func FuzzUnmarshal(f *testing.F) {
	r, _ := New(Config{})
	random, now := rand.New(rand.NewPCG(1, 1)), time.Unix(0, 0)
	for i := range 300 {
		act(r, &now, random)
		if i%100 == 99 {
			data, _ := r.MarshalBinary()
			f.Add(snapshottest.Body(data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Record
		if r.UnmarshalBinary(snapshottest.Sealed(data)) != nil {
			return
		}
		again, _ := r.MarshalBinary()
		if err := new(Record).UnmarshalBinary(again); err != nil {
			t.Fatal(err)
		}
		random, now := rand.New(rand.NewPCG(1, 1)), r.clock.Last
		for range 100 {
			act(&r, &now, random)
		}
		sound(t, &r)
	})
}

// sound checks the invariants of a record.
func sound(t testing.TB, r *Record) {
	t.Helper()
	known, flagged := 0, 0
	var ended, failed float64
	seen := 0
	for i := r.oldest; i != none; i = r.machines[i].newer {
		m := &r.machines[i]
		seen++
		place, ok := r.places[m.number]
		if m.number < 0 { // another process has told about it, by its name
			place, ok = r.fleet.names[m.name]
		}
		require.True(t, ok && place == i)
		f := r.Factor(m.number) // Factor updates the machine
		require.True(t, f > 0 && f < 1e19, "factor %v", f)
		if m.known {
			known++
		}
		if m.flag != none {
			flagged++
			require.Equal(t, i, r.flagged[m.flag])
		}
		ended += m.ended
		failed += m.failed
	}
	require.Equal(t, r.Len(), seen)
	require.LessOrEqual(t, seen, r.config.MaxMachines)
	require.Equal(t, len(r.flagged), flagged)
	classes, spreads := 0, make([]spread, len(r.classes))
	for i := r.oldest; i != none; i = r.machines[i].newer {
		spreads[r.machines[i].class].countAll(&r.machines[i], 1)
	}
	for i := range r.classes {
		classes += r.classes[i].locations.Len()
		require.Equal(t, spreads[i], r.classes[i].spread)
	}
	require.Equal(t, r.all.Len(), classes)
	require.InDelta(t, ended, r.ended.Value(), 1e-3)
	require.InDelta(t, failed, r.failed.Value(), 1e-3)
}
