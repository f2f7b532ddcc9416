package des_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// pushed is an event as the test remembers it.
type pushed struct {
	at   time.Duration
	kind uint8
	id   int32
}

func TestQueueGivesEventsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var q des.Queue
		var left []pushed // in the order of Push, which a stable sort keeps
		for range 300 {
			if rng.IntN(3) > 0 || len(left) == 0 {
				p := pushed{time.Duration(rng.IntN(20)), uint8(rng.IntN(3)), rng.Int32()}
				q.Push(p.at, p.kind, p.id, 7)
				left = append(left, p)
				continue
			}
			slices.SortStableFunc(left, func(a, b pushed) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
			})
			at, ok := q.Next()
			require.True(t, ok)
			e, ok := q.Pop()
			require.True(t, ok)
			require.Equal(t, left[0], pushed{e.At, e.Kind(), e.ID})
			require.Equal(t, at, e.At)
			require.EqualValues(t, 7, e.Life)
			left = left[1:]
			require.Equal(t, len(left), q.Len())
		}
	}
}

func TestQueueOfManyEventsGivesThemInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, spread := range []int64{1, 1000, 1e9, 1e15} {
		var q des.Queue
		var left, next []pushed // left in order; next as pushed since
		now := time.Duration(0)
		push := func(n int) {
			for range n {
				at := now + time.Duration(rng.Int64N(spread))
				switch rng.IntN(20) {
				case 0:
					at = now - time.Duration(rng.IntN(100)) // the past, which is next
				case 1:
					at = now + time.Duration(rng.Int64N(1e18)) // the far future
				case 2:
					at = now
				}
				p := pushed{at, uint8(rng.IntN(3)), rng.Int32()}
				q.Push(p.at, p.kind, p.id, 7)
				next = append(next, p)
			}
		}
		for round := range 60 {
			push([]int{2000, 10, 300}[round%3])
			left = append(left, next...)
			next = next[:0]
			slices.SortStableFunc(left, func(a, b pushed) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
			})
			require.Equal(t, len(left), q.Len())
			for range min(len(left), rng.IntN(1500)) {
				e, ok := q.Pop()
				require.True(t, ok)
				require.Equal(t, left[0], pushed{e.At, e.Kind(), e.ID})
				now, left = e.At, left[1:]
			}
		}
	}
}

// Events that are pushed by ID come in the order of their IDs, whatever the order of the calls.
func TestQueueGivesEventsByID(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var q des.Queue
	for _, i := range rng.Perm(600) {
		q.PushByID(time.Duration(i%3), uint8(i/3%2), int32(i))
	}
	last := pushed{at: -1}
	for range 600 {
		e, _ := q.Pop()
		next := pushed{e.At, e.Kind(), e.ID}
		require.Negative(t, cmp.Or(cmp.Compare(last.at, next.at), cmp.Compare(last.kind, next.kind), cmp.Compare(last.id, next.id)))
		last = next
	}
}

func TestQueueIsEmptyAtFirst(t *testing.T) {
	var q des.Queue
	_, ok := q.Pop()
	assert.False(t, ok)
	_, ok = q.Next()
	assert.False(t, ok)
}

func TestQueueDoesNotAllocateInSteadyState(t *testing.T) {
	var q des.Queue
	for i := range 1000 {
		q.Push(time.Duration(i*7919%1000), 0, 0, 0)
	}
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		e, _ := q.Pop()
		q.Push(e.At+1000, 0, 0, 0)
	}))
}

func TestDrawsBelongToWhatTheyAreFor(t *testing.T) {
	a, b := des.NewDraws(1), des.NewDraws(1)
	first := a.For(3, 4).Float64()
	b.For(9, 9, 9).Float64()
	assert.Equal(t, first, b.For(3, 4).Float64(), "what was drawn before makes no difference")
	assert.NotEqual(t, first, b.For(4, 3).Float64(), "the order of the numbers counts")
	assert.NotEqual(t, first, des.NewDraws(2).For(3, 4).Float64(), "so does the seed")
	assert.Zero(t, testing.AllocsPerRun(100, func() { a.For(1, 2, 3) }))
}

func TestSeedsDealOutDifferentLuck(t *testing.T) {
	const seeds, draws = 16, 256
	seen := map[float64]uint64{}
	for seed := range uint64(seeds) {
		d := des.NewDraws(seed)
		for x := range uint64(draws) {
			u := d.For(x).Float64()
			other, twice := seen[u]
			require.False(t, twice, "seeds %d and %d draw %v", other, seed, u)
			seen[u] = seed
		}
	}
}

func TestSeedsAreUncorrelated(t *testing.T) {
	const seeds, tasks, copies = 12, 100, 4
	luck := make([][]float64, seeds)
	for seed := range luck {
		d := des.NewDraws(uint64(seed))
		for task := range uint64(tasks) {
			for copied := range uint64(copies) {
				luck[seed] = append(luck[seed], d.For(1, task, copied).Float64())
			}
		}
		assert.InDelta(t, 0.5, stat.Mean(luck[seed], nil), 4*math.Sqrt(1.0/12/(tasks*copies)), "seed %d", seed)
	}
	for i := range luck {
		for j := range i {
			r := stat.Correlation(luck[i], luck[j], nil)
			assert.Less(t, math.Abs(r), 4/math.Sqrt(tasks*copies), "seeds %d and %d", i, j)
		}
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"events=1000", 1000}, {"events=100000", 100_000}} {
		b.Run(size.name, func(b *testing.B) {
			var q des.Queue
			rng := rand.New(rand.NewPCG(1, 2))
			for range size.n {
				q.Push(time.Duration(rng.Int64N(1e9)), 0, 0, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				e, _ := q.Pop()
				q.Push(e.At+time.Duration(rng.Int64N(1e9)), 0, 0, 0)
			}
		})
	}
}
