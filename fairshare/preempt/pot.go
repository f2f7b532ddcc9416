package preempt

import "github.com/straggler-go/straggler/internal/exact"

// pot is the units that are free for whoever is due some: on machines that the host has listed, and elsewhere.
type pot struct {
	machines  []int64
	total     int64 // saturates
	elsewhere int64
	from      int // machines before it have none
}

// fill sets the pot to what the host says is free.
func (b *pot) fill(free []int64) {
	b.machines = append(b.machines[:0], free...)
	b.total, b.elsewhere, b.from = 0, 0, 0
	for i, units := range b.machines {
		b.machines[i] = max(0, units)
		b.total = exact.Add(b.total, max(0, units))
	}
}

// on returns what is free on a machine.
func (b *pot) on(machine int) int64 {
	if machine < 0 || machine >= len(b.machines) {
		return 0
	}
	return b.machines[machine]
}

// add puts units of a machine into the pot.
func (b *pot) add(machine int, units int64) {
	b.total = exact.Add(b.total, units)
	if machine < 0 || machine >= len(b.machines) {
		b.elsewhere = exact.Add(b.elsewhere, units)
		return
	}
	b.machines[machine] = exact.Add(b.machines[machine], units)
	b.from = min(b.from, machine)
}

// takeOn takes units of one machine that has them.
func (b *pot) takeOn(machine int, units int64) {
	b.machines[machine] -= units
	b.total -= units
}

// take takes units wherever they are, at most all.
func (b *pot) take(units int64) {
	b.total -= units
	part := min(units, b.elsewhere)
	b.elsewhere, units = b.elsewhere-part, units-part
	for ; units > 0 && b.from < len(b.machines); b.from++ {
		part := min(units, b.machines[b.from])
		b.machines[b.from], units = b.machines[b.from]-part, units-part
		if b.machines[b.from] > 0 {
			return
		}
	}
}
