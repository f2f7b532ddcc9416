package laxity

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

const num63 = time.Duration(math.MaxInt64)

// With Offload as few tasks are late as with any set of moved tasks, and it moves as few tasks as possible for
// this number of late tasks. The test tries every set of tasks. All tasks that stay end in time.
func TestOffloadAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		tasks := randomPending(r)
		late, moves := 0, 0 // sets of tasks, as bits
		for i, v := range Offload(nil, tasks) {
			require.Equal(t, v.Reason == MakesRoom, v.Move)
			switch v.Reason {
			case MakesRoom:
				moves |= 1 << i
				require.Equal(t, tasks[i].UntilDeadline-tasks[i].EndElsewhere, v.Laxity)
				require.GreaterOrEqual(t, v.Laxity, time.Duration(0))
			case LateElsewhere:
				late |= 1 << i
				require.False(t, endsElsewhere(tasks[i]))
			}
		}
		require.True(t, onTime(tasks, late|moves), "%+v", tasks)
		fewestLate, fewestMoves := len(tasks), len(tasks)
		for set := range 1 << len(tasks) {
			if !onTime(tasks, set) {
				continue
			}
			lost := 0
			for i, task := range tasks {
				if set>>i&1 == 1 && !endsElsewhere(task) {
					lost |= 1 << i
				}
			}
			fewestLate = min(fewestLate, bits.OnesCount(uint(lost)))
			if lost == late {
				fewestMoves = min(fewestMoves, bits.OnesCount(uint(set&^lost)))
			}
		}
		require.Equal(t, fewestLate, bits.OnesCount(uint(late)), "%+v", tasks)
		require.Equal(t, fewestMoves, bits.OnesCount(uint(moves)), "%+v", tasks)
	}
}

// No other worker can run the longest task, so the short task moves, and both tasks end in time.
func TestOffloadMovesTasksThatEndInTimeElsewhere(t *testing.T) {
	transfers := Offload(nil, []Pending{
		{UntilDeadline: 10, Remaining: 8, EndElsewhere: estimate.Unknown},
		{UntilDeadline: 10, Remaining: 5, EndElsewhere: 9},
	})
	assert.Equal(t, []Transfer{{false, EndsInTime, 2}, {true, MakesRoom, 1}}, transfers)
}

// A long task may need the room of several short tasks.
func TestOffloadMovesSeveralTasksForOne(t *testing.T) {
	transfers := Offload(nil, []Pending{
		{UntilDeadline: 10, Remaining: 3, EndElsewhere: 4},
		{UntilDeadline: 10, Remaining: 3, EndElsewhere: 5},
		{UntilDeadline: 11, Remaining: 9, EndElsewhere: 12},
	})
	assert.Equal(t, []Transfer{{true, MakesRoom, 6}, {true, MakesRoom, 5}, {false, EndsInTime, 2}}, transfers)
}

// The laxity of a task that stays depends on the tasks before it that stay, and not on tasks that move.
func TestOffloadLaxitiesIgnoreMovedTasks(t *testing.T) {
	transfers := Offload([]Transfer{{}}, []Pending{
		{UntilDeadline: 50, Remaining: 7, Started: true},
		{UntilDeadline: 20, Remaining: 3, EndElsewhere: estimate.Unknown},
		{UntilDeadline: 30, Remaining: 40, EndElsewhere: 35},
		{UntilDeadline: NoDeadline, Remaining: num63, EndElsewhere: 1},
		{UntilDeadline: 40, Remaining: 5, EndElsewhere: 1},
		{UntilDeadline: 40, Remaining: estimate.Unknown, EndElsewhere: 1},
	})
	unknown := estimate.Unknown
	assert.Equal(t, []Transfer{
		{}, {false, Started, unknown}, {false, EndsInTime, 10}, {false, LateElsewhere, unknown},
		{false, EndsInTime, NoDeadline}, {false, EndsInTime, 25}, {false, NoEstimate, unknown},
	}, transfers)
}

func randomPending(r *rand.Rand) []Pending {
	tasks := make([]Pending, r.IntN(8))
	for i := range tasks {
		tasks[i] = Pending{
			UntilDeadline: time.Duration(r.IntN(25)), Remaining: time.Duration(r.IntN(9)), EndElsewhere: time.Duration(r.IntN(25)),
		}
		switch r.IntN(12) {
		case 0:
			tasks[i].Started = true
		case 1:
			tasks[i].Remaining = num63 // the task never ends on this worker
		case 2:
			tasks[i].UntilDeadline = NoDeadline
		case 3:
			tasks[i].EndElsewhere = estimate.Unknown
		}
	}
	return tasks
}

// endsElsewhere reports whether a task ends in time if it moves.
func endsElsewhere(t Pending) bool {
	return t.UntilDeadline == NoDeadline || t.EndElsewhere != estimate.Unknown && t.EndElsewhere <= t.UntilDeadline
}

// onTime reports whether all tasks that are not in set end in time, if they run after the started tasks in the
// order of their deadlines. A started task cannot move, and may be late.
func onTime(tasks []Pending, set int) bool {
	end := 0.0
	var stay []Pending
	for i, t := range tasks {
		switch {
		case t.Started && set>>i&1 == 1:
			return false
		case t.Started:
			end += float64(t.Remaining)
		case set>>i&1 == 0:
			stay = append(stay, t)
		}
	}
	slices.SortStableFunc(stay, func(a, b Pending) int { return cmp.Compare(a.UntilDeadline, b.UntilDeadline) })
	for _, t := range stay {
		end += float64(t.Remaining)
		if t.UntilDeadline != NoDeadline && end > float64(t.UntilDeadline) {
			return false
		}
	}
	return true
}
