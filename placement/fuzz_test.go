package placement

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decode reads a problem of at most 12 tasks and 6 racks from bytes. Most numbers are small and whole; some numbers can
// have any value.
func decode(data []byte) Problem {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0])
		data = data[1:]
		return b
	}
	number := func() float64 {
		b := next()
		if b < 250 || len(data) < 8 {
			return float64(b % 32)
		}
		v := math.Float64frombits(binary.LittleEndian.Uint64(data))
		data = data[8:]
		return v
	}
	tasks, racks, slots := next()%13, next()%7, next()
	p := Problem{}
	for range racks {
		p.Up, p.Down = append(p.Up, number()), append(p.Down, number())
		if slots%2 == 1 {
			p.Slots = append(p.Slots, next()%8-1)
		}
	}
	for range tasks {
		row := make([]float64, racks)
		for j := range row {
			row[j] = number()
		}
		p.Input = append(p.Input, row)
	}
	return p
}

// extreme reports whether the numbers differ by more than twelve decades, so that rounding spoils a comparison of sums.
func extreme(p Problem) bool {
	least, most := math.Inf(1), 0.0
	for _, figures := range append([][]float64{p.Up, p.Down}, p.Input...) {
		for _, v := range figures {
			if v > 0 && !math.IsInf(v, 1) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	return most/least > 1e12
}

func FuzzAssign(f *testing.F) {
	f.Add([]byte{3, 3, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, uint16(0))
	f.Add([]byte{5, 2, 1, 0, 1, 3, 1, 0, 3, 4, 0, 0, 9, 2, 2, 7, 0, 1, 1}, uint16(50))
	f.Add([]byte{8, 4, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 3, 17, 30, 1, 5, 8}, uint16(5000))
	f.Fuzz(func(t *testing.T, data []byte, effort uint16) {
		p := decode(data)
		a, err := Assign(p, Effort(effort))
		if err != nil {
			assert.Empty(t, a.Rack)
			assert.NotEmpty(t, err.Error())
			return
		}
		require.False(t, math.IsNaN(a.Seconds) || math.IsNaN(a.Bound) || math.IsInf(a.Seconds, 0))
		require.LessOrEqual(t, a.Bound, a.Seconds)
		require.True(t, fits(p, a.Rack))
		if extreme(p) {
			return
		}
		checked(t, p, a)
		if math.Pow(float64(len(p.Up)), float64(len(p.Input))) <= 2000 {
			best := bruteForce(p)
			require.LessOrEqual(t, a.Bound, best*(1+1e-8))
			if effort == 0 {
				require.InDelta(t, best, a.Seconds, 1e-8*best)
			}
		}
	})
}

func FuzzAffinity(f *testing.F) {
	f.Add([]byte{3, 4, 1, 4, 0, 4}, 6, 0)
	f.Add([]byte{1, 0, 200, 2}, 50, -3)
	f.Fuzz(func(t *testing.T, data []byte, length, turn int) {
		length %= 500
		var spread []int
		var machines [][]int
		total := 0
		for i := 0; i+1 < len(data); i += 2 {
			spread = append(spread, int(data[i]))
			machines = append(machines, nil)
			for range int(data[i+1]) % 16 {
				machines[i/2] = append(machines[i/2], total)
				total++
			}
		}
		list, err := Affinity(nil, spread, machines, length, turn)
		require.NoError(t, err)
		reachable := 0
		for j, m := range machines {
			if spread[j] > 0 {
				reachable += len(m)
			}
		}
		require.Len(t, list, max(0, min(length, reachable)))
		seen := make([]bool, total)
		for _, machine := range list {
			require.False(t, seen[machine])
			seen[machine] = true
		}
	})
}
