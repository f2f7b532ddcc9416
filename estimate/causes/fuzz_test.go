package causes_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"
)

// tasksOf reads tasks from any bytes. Their numbers have all sizes, and NaN and infinities are among them.
func tasksOf(data []byte) (tasks []causes.Task) {
	for len(data) >= 16 {
		word, odd := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		t := causes.Task{
			Took: time.Duration(word >> (odd % 64)), Bytes: float64(odd >> 40), Remote: float64(odd >> 50),
			Machine: int(odd>>8) % 8,
			Start:   time.Duration(odd >> 16), Waited: time.Duration(odd >> 30), Cohort: int(odd>>3) % 3,
		}
		switch odd % 16 {
		case 0:
			t.Bytes = math.Float64frombits(word)
		case 1:
			t.Remote = math.Float64frombits(word)
		case 2:
			t.Machine, t.Cohort = int(word), -int(word>>1)
		case 3:
			t.Start, t.Waited = time.Duration(word), -time.Duration(odd)
		case 4:
			t.Censored = true
		}
		tasks, data = append(tasks, t), data[16:]
	}
	return tasks
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), 1.5)
	f.Add(make([]byte, 800), math.NaN())
	seed := make([]byte, 3200)
	for i := range seed {
		seed[i] = byte(i * i >> 3)
	}
	f.Add(seed, 1e9)
	f.Fuzz(func(t *testing.T, data []byte, factor float64) {
		if len(data) > 1<<14 {
			return
		}
		p := causes.Phase{Tasks: tasksOf(data), Factor: func(int) float64 { return factor }}
		r := causes.Explain(p)
		consistent(t, p, r)
		require.Equal(t, r, causes.Explain(p))
		b := causes.Charge([]causes.Phase{p, {Tasks: p.Tasks[len(p.Tasks)/2:]}})
		require.GreaterOrEqual(t, b.Wait, time.Duration(0))
		for _, part := range []time.Duration{b.Machine, b.Split, b.Data, b.LostInput, b.Unexplained} {
			require.GreaterOrEqual(t, part, time.Duration(0))
		}
		require.NotContains(t, b.String(), "NaN")
	})
}
