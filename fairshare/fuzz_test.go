package fairshare

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzShares reads raw pools, valid or not: there is an error or there are shares that keep every promise.
func FuzzShares(f *testing.F) {
	f.Add([]byte{0, 0, 50, 0, 46, 0, 0, 10, 0, 18, 0, 0, 25, 0, 28, 0, 0, 15, 0, 16}, int64(100), uint8(0), uint8(0))
	f.Add([]byte{1, 1, 0, 0, 9, 2, 2, 3, 4, 5}, int64(7), uint8(1), uint8(6))
	f.Fuzz(func(t *testing.T, raw []byte, total int64, shift, policy uint8) {
		var pools []Pool
		for ; len(raw) >= 5 && len(pools) < 12; raw = raw[5:] {
			pools = append(pools, Pool{
				Parent: Parent(raw[0] % 16), Weight: int64(int8(raw[1])) << (shift % 40), Min: int64(int8(raw[2])) << (shift % 56),
				Max: int64(int8(raw[3])), Demand: int64(int8(raw[4])) << (shift % 56), Discipline: Discipline(raw[0] >> 6), Rank: int32(raw[3] % 3),
			})
			if raw[3] > 64 {
				pools[len(pools)-1].Max = 0
			}
		}
		p := Policy{Infeasible: Infeasible(policy % 3), Basis: Basis(policy / 3 % 3), Discipline: Discipline(policy / 9 % 3)}
		tree, err := New(pools, p)
		if err != nil {
			return
		}
		shares, err := tree.Shares(nil, nil, total)
		if err != nil {
			return
		}
		checkShares(t, pools, p, total, shares)
	})
}

// FuzzCompare checks the order over triples.
func FuzzCompare(f *testing.F) {
	f.Add(make([]byte, 96))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = append(raw, make([]byte, 96)...)
		next := func() int64 {
			v := int64(binary.LittleEndian.Uint64(raw))
			raw = raw[8:]
			return v
		}
		var c [3]Contender
		for i := range c {
			c[i] = Contender{Pool{Weight: max(next(), None), Min: max(next(), 0), Demand: max(next(), 0)}, next()}
		}
		for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			checkTransitive(t, c[p[0]], c[p[1]], c[p[2]])
		}
		if Compare(c[0], c[1]) != -Compare(c[1], c[0]) {
			t.Errorf("%+v, %+v: not antisymmetric", c[0], c[1])
		}
	})
}

// FuzzPlan plans for a cluster drawn from the seed with raw usage and tasks: nothing panics, nobody is taken below a
// share, and every victim counts once.
func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), []byte{9, 9, 9, 1, 2, 3}, int64(2))
	f.Add(uint64(7), []byte{200, 255, 0, 77}, int64(-1))
	f.Fuzz(func(t *testing.T, seed uint64, raw []byte, free int64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := randomCluster(t, rng)
		s, err := NewStarvation(c.tree, randomPreemption(rng))
		require.NoError(t, err)
		usage := make([]int64, len(c.pools))
		copy(usage, c.usage)
		tasks := c.tasks
		for i, b := range raw {
			usage[i%len(usage)] += int64(int8(b)) << (i % 60)
			tasks = append(tasks, Task{Pool: int(int8(b)) % 12, Slots: int64(int8(b)) << (i % 60), Dying: b&1 == 1, Protected: b&6 == 6})
		}
		require.NoError(t, s.Observe(time.Unix(0, 0), c.shares, usage))
		for i := range usage {
			c.usage[i] = max(0, usage[i])
			if len(c.children(i)) > 0 {
				c.usage[i] = 0
			}
		}
		plan := s.Plan(time.Unix(7200, 0), tasks, free)
		lost := make([]int64, len(usage))
		for _, v := range plan.Victims {
			task := tasks[v.Task]
			require.Equal(t, Killed, plan.Fates[v.Task])
			plan.Fates[v.Task] = Foreign // once
			for i := task.Pool; i >= 0 && !c.under(v.For, i); i = c.pools[i].Parent.Index() {
				lost[i] = addSaturating(lost[i], task.slots())
			}
		}
		for i := range lost {
			if lost[i] > 0 {
				require.GreaterOrEqual(t, c.used(i)-lost[i], c.shares[i].Slots, "pool %d", i)
			}
		}
		for _, claim := range plan.Claims {
			require.Positive(t, claim.Deficit)
			require.LessOrEqual(t, claim.Granted, claim.Deficit)
		}
	})
}

// FuzzDominant checks what can be checked without handing out one task at a time: all fits, and no more does.
func FuzzDominant(f *testing.F) {
	f.Add([]byte{9, 18, 1, 4, 60, 3, 1, 60}, uint8(0))
	f.Add([]byte{9, 18, 1, 4, 60, 3, 1, 60}, uint8(50))
	f.Fuzz(func(t *testing.T, raw []byte, shift uint8) {
		if len(raw) < 2 {
			return
		}
		scale := shift % 55
		capacity := []int64{int64(raw[0]) << scale, int64(raw[1]) << (scale / 2)}
		var users []User
		for raw = raw[2:]; len(raw) >= 3 && len(users) < 12; raw = raw[3:] {
			users = append(users, User{Weight: int64(raw[2] % 5), Task: []int64{int64(raw[0]), int64(raw[1])}, Demand: int64(raw[2]) << scale})
		}
		got, err := Dominant(users, capacity)
		require.NoError(t, err)
		free := append([]int64(nil), capacity...)
		for i, a := range got {
			for r, need := range users[i].Task {
				if need > 0 {
					require.LessOrEqual(t, a.Tasks, free[r]/need, "resource %d", r)
				}
				free[r] -= a.Tasks * need
			}
		}
		for i, a := range got {
			if a.Blocked >= 0 {
				require.Greater(t, users[i].Task[a.Blocked], free[a.Blocked])
			} else {
				require.Equal(t, users[i].Demand, a.Tasks)
			}
		}
	})
}
