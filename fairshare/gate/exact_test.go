package gate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A task that fits to the byte is admitted. A task with one byte more must wait.
func TestATaskThatFitsExactlyIsAdmitted(t *testing.T) {
	g, err := New(Config{Memory: 100, DiskReserve: 10})
	assert.NoError(t, err)
	machine := Machine{Memory: 60, DiskFree: 50, DiskOwed: 15}
	for _, c := range []struct {
		memory, disk int64
		want         Reason
	}{
		{40, 25, BelowLimits}, {41, 25, MemoryFull}, {40, 26, DiskFull}, {0, 0, BelowLimits}, {1, 1, BelowLimits},
	} {
		assert.Equal(t, c.want, g.Room(machine, c.memory, c.disk).Reason, "%+v", c)
	}
	full := Machine{Memory: 100, DiskFree: 10}
	assert.Equal(t, BelowLimits, g.Room(full, 0, 0).Reason, "a task that needs nothing must be admitted")
	assert.Equal(t, MemoryFull, g.Room(full, 1, 0).Reason)
	assert.Equal(t, DiskFull, g.Room(full, 0, 1).Reason)
	assert.Equal(t, MemoryFull, g.Room(Machine{Memory: 1000}, 1, 0).Reason, "the machine already exceeds its memory limit")
	assert.Equal(t, DiskFull, g.Room(Machine{DiskFree: 5, DiskOwed: 9}, 0, 1).Reason)
}

// Each field accepts the last value of its range and refuses the next value.
func TestConfigAcceptsItsBounds(t *testing.T) {
	for _, ok := range []Config{
		{MaxComputing: 1}, {MaxComputing: 3, MaxReducers: 3}, {MaxCopying: Off}, {MaxReducers: 4, Reserved: 3},
		{Memory: 1}, {MaxNetwork: 1}, {MaxComputing: math.MaxInt},
	} {
		assert.NoError(t, ok.Validate(), "%+v", ok)
	}
	for field, bad := range map[string]Config{
		"MaxComputing": {MaxComputing: -1}, "MaxReducers": {MaxComputing: 3, MaxReducers: 2}, "MaxCopying": {MaxCopying: -2},
		"Reserved": {MaxReducers: 4, Reserved: 4}, "Memory": {Memory: -1}, "MaxNetwork": {MaxNetwork: math.Nextafter(1, 2)},
		"DiskReserve": {DiskReserve: -1},
	} {
		assert.ErrorContains(t, bad.Validate(), "Config."+field+" is", "%+v", bad)
	}
}
