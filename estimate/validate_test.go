package estimate

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bytes returns the memory that the values hold, the slack of their slices included.
func (s *sorted) bytes() int {
	return cap(s.blocks)*int(unsafe.Sizeof(block{})) + 4*(cap(s.free)+cap(s.order)+cap(s.sums)) + 8*cap(s.most)
}

// check reports the first invariant that does not hold:
//
//   - values ascend across all blocks
//   - the largest value of each block, and the number of values before it, are right
//   - every block has at least blockMin values, unless it is the only one, and at most blockMax
//   - size is the number of values
//   - every block is in use or free, once
func (s *sorted) check() error {
	if s.size == 0 {
		return nil // the next insert resets everything
	}
	if len(s.most) != len(s.order) || len(s.sums) != len(s.order) {
		return fmt.Errorf("%d blocks, %d largest values, %d sums", len(s.order), len(s.most), len(s.sums))
	}
	used := slices.Concat(s.order, s.free)
	slices.Sort(used)
	for i, at := range used {
		if int(at) != i {
			return fmt.Errorf("block %d is missing or used twice", i)
		}
	}
	if len(used) != len(s.blocks) {
		return fmt.Errorf("%d blocks in use or free, want %d", len(used), len(s.blocks))
	}
	last, count := math.Inf(-1), 0
	for b := range s.order {
		l := s.at(b)
		if n := int(l.n); n < 1 || n < blockMin && len(s.order) > 1 || n > blockMax {
			return fmt.Errorf("block %d has %d values, want %d to %d", b, n, blockMin, blockMax)
		}
		if s.before(b) != count {
			return fmt.Errorf("block %d has %d values before it, recorded as %d", b, count, s.before(b))
		}
		for _, v := range l.value[:l.n] {
			if !(v >= last) {
				return fmt.Errorf("block %d: %v comes after %v", b, v, last)
			}
			last = v
		}
		if s.most[b] != last {
			return fmt.Errorf("block %d: values up to %v, recorded as %v", b, last, s.most[b])
		}
		count += int(l.n)
	}
	if count != s.size || s.before(len(s.order)) != s.size {
		return fmt.Errorf("%d values in the blocks, size says %d", count, s.size)
	}
	return nil
}

// The validator must be able to fail: it finds each kind of damage.
func TestCheckFindsDamage(t *testing.T) {
	for name, damage := range map[string]func(*sorted){
		"order":        func(s *sorted) { s.at(1).value[3] = -1 },
		"count":        func(s *sorted) { s.sums[0]++ },
		"maximum":      func(s *sorted) { s.most[0] += .001 },
		"fill":         func(s *sorted) { s.at(0).n = 3 },
		"size":         func(s *sorted) { s.size-- },
		"leaked":       func(s *sorted) { s.blocks = append(s.blocks, block{}) },
		"freed in use": func(s *sorted) { s.free = append(s.free, s.order[0]) },
		"free too far": func(s *sorted) { s.free = append(s.free, 999) },
		"shared":       func(s *sorted) { s.order[1] = s.order[0] },
		"lost":         func(s *sorted) { s.order = s.order[1:] },
	} {
		e, _ := filled(5000)
		require.NoError(t, e.values.check())
		damage(&e.values)
		assert.Error(t, e.values.check(), name)
	}
}

// A value that was removed does not come back from the memory of its block.
func TestTheLastValueIsRemovedOnce(t *testing.T) {
	var e Empirical
	require.True(t, e.Insert(5))
	require.True(t, e.Delete(5))
	assert.False(t, e.Delete(5))
	assert.False(t, e.replace(5, 6))
	assert.Zero(t, e.Rank(6))
}

// The constants satisfy the relations that the code relies on.
func TestBlockConstants(t *testing.T) {
	assert.Greater(t, blockMax/2, blockMin, "each half of a split is above the minimum")
	assert.Greater(t, blockFill/2, blockMin, "each of two evened blocks is above the minimum")
}
