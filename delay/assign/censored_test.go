package assign

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exactSharing is the product-limit estimate in exact fractions. It has a factor for each lag, computed from all
// lags that are at least as long.
func exactSharing(m Model, window time.Duration) float64 {
	late := big.NewRat(1, 1)
	done := map[time.Duration]bool{}
	for _, x := range m.Lags {
		if x > window || x == Forever || done[x] {
			continue
		}
		done[x] = true
		var risk, ends int64
		for _, lag := range m.Lags {
			if lag >= x {
				risk++
			}
			if lag == x {
				ends++
			}
		}
		for _, cut := range m.Cut {
			if cut >= x {
				risk++ // a cut lag of equal length still counts
			}
		}
		late.Mul(late, big.NewRat(risk-ends, risk))
	}
	f, _ := late.Float64()
	return f
}

func TestCutLagsAgainstExactFractions(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for range 300 {
		m := randomModel(rng)
		for i := range m.Lags {
			if m.Lags[i] != Forever {
				m.Lags[i] = m.Lags[i].Round(time.Second / 2) // makes ties
			}
		}
		for range 10 {
			window := time.Duration(rng.IntN(20)) * time.Second / 2
			o, err := m.At(window)
			require.NoError(t, err)
			require.InDelta(t, exactSharing(m, window), o.Sharing, 1e-12, "the sharing of %+v at %v is wrong", m, window)
		}
	}
	o, err := Model{Cut: []time.Duration{1, 2}, Size: 1, Bandwidth: 1, Contention: .5}.At(time.Second)
	require.NoError(t, err)
	assert.Equal(t, 1.0, o.Sharing, "with only cut lags, every clone must share")
}

// learn lets a table learn while jobs use its windows. A lag that is longer than the window is cut at the window.
// One job in every explore jobs uses the longest useful window instead. The result contains the window after each
// refresh.
func learn(rng *rand.Rand, explore int, observe func(w *WindowTable, lag, window time.Duration)) (windows []time.Duration) {
	w, _ := NewWindowTable(WindowTableConfig{Keep: 1000})
	window, longest := 4*time.Second, 4*time.Second
	for range 150 {
		for i := range 200 {
			used := window
			if explore > 0 && i%explore == 0 {
				used = longest
			}
			observe(w, drawLag(rng), used)
			w.ObserveRead(5, 4, 4*time.Second, false)
			w.ObserveRead(5, 4, 8*time.Second, true)
		}
		w.Refresh()
		choice, _ := w.For(Job{Tasks: 5, Inputs: 10})
		window, longest = choice.Window, choice.InTurn.Window
		windows = append(windows, window)
	}
	return windows
}

func drawLag(rng *rand.Rand) time.Duration { return time.Duration((.2 + rng.ExpFloat64()) * 1e9) }

// A table learns from lags, but the window that it returns cuts the longer lags. The test compares three ways,
// after 600 refreshes. The best window is 2.0 s:
//
//   - Cut lags are passed to ObserveCut, and one job in twenty uses a longer window. The window is 1.8 s, and
//     tasks take 0.2 % longer.
//   - Cut lags are passed to ObserveCut, and no job uses a longer window. The window shrinks to 1.1 s, and tasks
//     take 3.5 % longer.
//   - Cut lags are passed to ObserveLag as endless lags. The window shrinks to 1.0 s, and tasks take 4.8 % longer.
func TestTableLearnsWhileItActs(t *testing.T) {
	t.Parallel()
	m := Model{Size: 4, Bandwidth: 1, Contention: .5, Inputs: 10}
	rng := rand.New(rand.NewPCG(9, 2))
	for range 20000 {
		m.Lags = append(m.Lags, drawLag(rng))
	}
	slices.Sort(m.Lags) // At sorts a copy, which is fast if nothing has to move
	best, err := ChooseWindow(m)
	require.NoError(t, err)
	loss := func(windows []time.Duration) (mean float64) {
		for _, w := range windows[20:] {
			o, err := m.At(w)
			require.NoError(t, err)
			mean += (o.TaskTime.Seconds()/best.TaskTime.Seconds() - 1) / float64(len(windows)-20)
		}
		return mean
	}
	cut := func(w *WindowTable, lag, window time.Duration) {
		if lag > window {
			w.ObserveCut(5, window)
		} else {
			w.ObserveLag(5, lag)
		}
	}
	endless := func(w *WindowTable, lag, window time.Duration) {
		if lag > window {
			lag = Forever
		}
		w.ObserveLag(5, lag)
	}
	right := learn(rand.New(rand.NewPCG(9, 3)), 20, cut)
	unexplored := learn(rand.New(rand.NewPCG(9, 3)), 0, cut)
	wrong := learn(rand.New(rand.NewPCG(9, 3)), 0, endless)
	t.Logf("best %v; after 150 refreshes: %v, without exploring %v, endless %v",
		best.Window, right[149], unexplored[149], wrong[149])
	least, more, most := loss(right), loss(unexplored), loss(wrong)
	t.Logf("loss %.4f, without exploring %.4f, endless %.4f", least, more, most)
	assert.Less(t, least, .005)
	assert.Greater(t, more, 2*least)
	assert.Greater(t, most, more)
}
