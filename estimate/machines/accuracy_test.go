package machines_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
)

// errors returns the error of the record's factor after n attempts on each machine, for a healthy and for a slow
// machine. Each result is the median and the 95th percentile over 400 random clusters with known factors. Healthy
// machines differ by 10 %, and one to four of twenty machines are 1.5 to 16 times slower. Attempts differ by 25 %,
// and a twentieth are 4 times slower on any machine. An attempt that would take over twice the typical time is
// killed after half of the typical time. mean has the errors of another rule: the mean ratio of finished attempts,
// pulled towards 1 by three imaginary attempts.
func errors(t *testing.T, n int) (healthy, slow, mean [2]float64) {
	t.Helper()
	var off [3][]float64
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for range 400 {
		record, err := machines.New(machines.Config{})
		require.NoError(t, err)
		var factor, sum, finished [20]float64
		bad := 1 + random.IntN(4)
		for m := range factor {
			factor[m] = math.Exp(.1 * random.NormFloat64())
			if m < bad {
				factor[m] = math.Exp(math.Log(1.5) + random.Float64()*math.Log(16/1.5))
			}
		}
		usual := 20 * time.Second
		for i := range n {
			now := time.Unix(int64(60*i), 0)
			for m, f := range factor {
				ratio := f * math.Exp(.25*random.NormFloat64())
				if random.Float64() < .05 {
					ratio *= 4
				}
				if ratio > 2 {
					record.End(now, m, 0, machines.Attempt{Ran: usual / 2, Usual: usual, Done: .5 / ratio}, machines.Killed)
					continue
				}
				record.End(now, m, 0, machines.Attempt{Ran: span(20 * ratio), Usual: usual}, machines.Finished)
				sum[m] += ratio
				finished[m]++
			}
		}
		sorted := slices.Sorted(slices.Values(factor[:]))
		average := sorted[len(sorted)/2]
		for m, f := range factor {
			wrong := math.Abs(math.Log(record.Factor(m) / (f / average)))
			if m < bad {
				off[1] = append(off[1], wrong)
				off[2] = append(off[2], math.Abs(math.Log((sum[m]+3)/(finished[m]+3)/(f/average))))
			} else {
				off[0] = append(off[0], wrong)
			}
		}
	}
	quantiles := func(x []float64) [2]float64 {
		slices.Sort(x)
		return [2]float64{math.Exp(x[len(x)/2]), math.Exp(x[len(x)*95/100])}
	}
	return quantiles(off[0]), quantiles(off[1]), quantiles(off[2])
}

// TestErrorByAttempts makes the first table of the package's documentation.
func TestErrorByAttempts(t *testing.T) {
	for _, c := range []struct {
		attempts            int
		healthy, slow, mean [2]float64
	}{
		{1, [2]float64{1.07, 1.22}, [2]float64{4.75, 13.81}, [2]float64{4.75, 13.81}},
		{2, [2]float64{1.07, 1.23}, [2]float64{4.95, 13.75}, [2]float64{4.95, 13.75}},
		{3, [2]float64{1.07, 1.23}, [2]float64{1.18, 1.61}, [2]float64{4.63, 13.75}},
		{5, [2]float64{1.07, 1.22}, [2]float64{1.13, 1.40}, [2]float64{4.59, 13.78}},
		{8, [2]float64{1.06, 1.20}, [2]float64{1.10, 1.33}, [2]float64{4.51, 13.46}},
		{16, [2]float64{1.05, 1.16}, [2]float64{1.07, 1.20}, [2]float64{5.10, 13.72}},
	} {
		healthy, slow, mean := errors(t, c.attempts)
		assert.InDeltaSlice(t, c.healthy[:], healthy[:], .006, "%d attempts", c.attempts)
		assert.InDeltaSlice(t, c.slow[:], slow[:], .006, "%d attempts", c.attempts)
		assert.InDeltaSlice(t, c.mean[:], mean[:], .006, "%d attempts", c.attempts)
	}
}
