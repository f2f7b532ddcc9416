package preempt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A claim is left unmet only if no task can be killed for it. The test carries out the plan and then tries every
// remaining task.
func TestPlansLeaveNothingThatHelps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 31))
	unmet := 0
	for range 2000 {
		c := randomCluster(t, rng, 3)
		config := randomConfig(rng)
		config.StrictFloor = true
		s, err := New(c.tree, config)
		require.NoError(t, err)
		require.NoError(t, s.Observe(time.Unix(0, 0), c.shares, c.usage))
		free := rng.Int64N(3)
		plan := s.Plan(time.Unix(7200, 0), c.tasks, []int64{free})
		r := newReplay(c, plan, free)
		for _, v := range plan.Victims {
			require.True(t, r.helps(v.Task, v.For), "%v must help its claimant", v)
			r.kill(v.Task, v.For)
		}
		r.share(plan)
		for _, claim := range plan.Claims {
			require.Equal(t, claim.Deficit-claim.Granted, r.open[claim.Pool])
			if claim.Granted == claim.Deficit {
				continue
			}
			unmet++
			for k := range c.tasks {
				if plan.Outcomes[k] == Spared || plan.Outcomes[k] == AtShare {
					require.Equal(t, r.atShare(k), plan.Outcomes[k] == AtShare)
					require.False(t, r.helps(k, claim.Pool), "task %d must not help the unmet claim %v", k, claim)
				}
			}
		}
	}
	require.Greater(t, unmet, 100)
}

// replay carries out a plan, one kill at a time.
type replay struct {
	*cluster
	left []int64       // usage without dying and killed tasks
	room []int64       // units that may still be granted before the pool has its share
	open map[int]int64 // units that each claimant still lacks
	over int64         // units that were freed beyond the needs
}

func newReplay(c *cluster, plan Plan, free int64) *replay {
	r := &replay{cluster: c, left: make([]int64, len(c.pools)), open: map[int]int64{}}
	for i := range r.left {
		r.left[i] = c.used(i)
	}
	for k, f := range plan.Outcomes {
		if i := c.tasks[k].Pool; f == Dying { // units that the task's own pool is not due
			free += min(c.tasks[k].Slots, max(0, r.left[i]-c.shares[i].Slots))
		}
		for i := c.tasks[k].Pool; f == Dying && i >= 0; i = c.pools[i].Parent.Index() {
			r.left[i] -= c.tasks[k].Slots
		}
	}
	for i := range r.left {
		r.room = append(r.room, c.shares[i].Slots-r.left[i])
	}
	for _, claim := range plan.Claims {
		used := min(free, claim.Deficit)
		r.open[claim.Pool], free = claim.Deficit-used, free-used
		for i := claim.Pool; i >= 0; i = c.pools[i].Parent.Index() {
			r.room[i] -= used
		}
	}
	return r
}

// gains returns the pools that gain the units which the claimant gets from the task.
func (r *replay) gains(task, claimant int) (list []int) {
	for i := claimant; i >= 0 && !r.under(r.tasks[task].Pool, i); i = r.pools[i].Parent.Index() {
		list = append(list, i)
	}
	return list
}

// need returns how many units of the task the claimant may get.
func (r *replay) need(task, claimant int) int64 {
	need := min(r.tasks[task].Slots, r.open[claimant])
	for _, i := range r.gains(task, claimant) {
		need = min(need, r.room[i])
	}
	return need
}

// loss returns how many units the pool loses if the task is killed for the claimant.
func (r *replay) loss(task, pool, claimant int) int64 {
	if r.under(claimant, pool) {
		return r.tasks[task].Slots - r.need(task, claimant)
	}
	return r.tasks[task].Slots
}

// helps reports whether the claimant needs units of the task, and every pool that loses them keeps its share.
func (r *replay) helps(task, claimant int) bool {
	if r.under(r.tasks[task].Pool, claimant) || r.need(task, claimant) <= 0 {
		return false
	}
	for i := r.tasks[task].Pool; i >= 0; i = r.pools[i].Parent.Index() {
		if loss := r.loss(task, i, claimant); loss > 0 && r.left[i]-loss < r.shares[i].Slots {
			return false
		}
	}
	return true
}

func (r *replay) kill(task, claimant int) {
	for i := r.tasks[task].Pool; i >= 0; i = r.pools[i].Parent.Index() {
		r.left[i] -= r.loss(task, i, claimant)
	}
	got := r.need(task, claimant)
	for _, i := range r.gains(task, claimant) {
		r.room[i] -= got
	}
	r.open[claimant] -= got
	r.over += r.tasks[task].Slots - got
}

// share gives the units beyond the needs to the unmet claims, in their order.
func (r *replay) share(plan Plan) {
	for _, claim := range plan.Claims {
		got := min(r.over, r.open[claim.Pool])
		r.open[claim.Pool], r.over = r.open[claim.Pool]-got, r.over-got
		for i := claim.Pool; i >= 0; i = r.pools[i].Parent.Index() {
			r.room[i] -= got
		}
	}
}

// atShare reports whether the task's pool, or a pool above it, would fall below its share without the task.
func (r *replay) atShare(task int) bool {
	for i := r.tasks[task].Pool; i >= 0; i = r.pools[i].Parent.Index() {
		if r.left[i]-r.tasks[task].Slots < r.shares[i].Slots {
			return true
		}
	}
	return false
}
