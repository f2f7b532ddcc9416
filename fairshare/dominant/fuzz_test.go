package dominant

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// FuzzShares checks what can be checked without handing out one task at a time: all fits, and no more does.
func FuzzShares(f *testing.F) {
	f.Add([]byte{9, 18, 1, 4, 60, 3, 1, 60}, uint8(0))
	f.Add([]byte{9, 18, 1, 4, 60, 3, 1, 60}, uint8(50))
	f.Fuzz(func(t *testing.T, raw []byte, shift uint8) {
		if len(raw) < 2 {
			return
		}
		scale := shift % 55
		capacity := []int64{int64(raw[0]) << scale, int64(raw[1]) << (scale / 2)}
		var pools []Pool
		for raw = raw[2:]; len(raw) >= 3 && len(pools) < 12; raw = raw[3:] {
			pools = append(pools, Pool{Weight: int64(raw[2] % 5), Task: []int64{int64(raw[0]), int64(raw[1])},
				Demand: int64(raw[2]) << scale})
		}
		got, err := Shares(pools, capacity)
		require.NoError(t, err)
		free := append([]int64(nil), capacity...)
		for i, a := range got {
			for r, need := range pools[i].Task {
				if need > 0 {
					require.LessOrEqual(t, a.Tasks, free[r]/need, "resource %d", r)
				}
				free[r] -= a.Tasks * need
			}
		}
		for i, a := range got {
			if a.Blocked >= 0 {
				require.Greater(t, pools[i].Task[a.Blocked], free[a.Blocked])
			} else {
				require.Equal(t, pools[i].Demand, a.Tasks)
			}
		}
	})
}

// FuzzIndex feeds an index and a Preemptor numbers of all magnitudes: nothing panics, and sums stay what they are.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200, 201, 202, 255}, uint8(3))
	f.Add([]byte{1, 1, 255, 128, 127, 0, 9, 9, 9, 77, 3, 200}, uint8(60))
	f.Fuzz(func(t *testing.T, raw []byte, shift uint8) {
		if len(raw) < 12 {
			return
		}
		next := func() int64 {
			v := int64(int8(raw[0]))
			raw = append(raw[1:], raw[0]+1)
			return v << (shift % 63)
		}
		pools := make([]Pool, 3)
		for i := range pools {
			pools[i] = Pool{
				Parent: fairshare.Parent(raw[0] % 2), Weight: max(0, next()>>8), Demand: max(0, next()),
				Task: []int64{max(0, next()), max(0, next())}, Min: []int64{max(0, next()), 0},
			}
		}
		pools[0].Parent, pools[0].Demand = 0, 0
		tree, err := New(pools, []int64{max(0, next()), max(0, next())}, Policy{Surplus: fairshare.Surplus(raw[0] % 2)})
		if err != nil {
			return
		}
		x := tree.Index()
		p, err := NewPreemptor(tree, preempt.Config{})
		require.NoError(t, err)
		shares, err := tree.Shares(nil)
		if err != nil {
			shares = make([]Share, 3)
		}
		now := time.Unix(0, 0)
		for range 20 {
			i := int(raw[0]) % 3
			x.SetTask(i, []int64{next(), next()})
			x.SetDemand(i, next())
			x.Add(i, next(), nil)
			x.Add(i, next(), []int64{next(), next()})
			_ = x.Next().String()
			require.NoError(t, p.Observe(now, shares, x))
			now = now.Add(time.Hour)
			plan := p.Plan(now, []Task{
				{Task: preempt.Task{Pool: i}, Need: []int64{next(), next()}},
				{Task: preempt.Task{Pool: 1, Dying: raw[0]&1 == 1}, Need: []int64{next(), next()}},
			}, []int64{next(), next()})
			for _, g := range plan.Grants {
				require.GreaterOrEqual(t, g.Tasks, int64(0))
			}
			for r := range 2 {
				require.GreaterOrEqual(t, x.Usage(0, r), max(x.Usage(1, r)*int64(pools[1].Parent), 0))
			}
		}
	})
}
