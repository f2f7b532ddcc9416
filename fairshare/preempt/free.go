package preempt

import "github.com/straggler-go/straggler/internal/exact"

// freeUnits contains the units that plans may grant without killing a task. It has the units of each machine that
// the host has listed, and the units elsewhere.
type freeUnits struct {
	machines  []int64 // by machine that the host has listed
	total     int64   // the sum over all machines and elsewhere, at most the largest int64
	elsewhere int64   // units on machines that the host has not listed
	from      int     // machines with a lower index have no free units
}

// fill sets the number of free units of each machine. Negative numbers are replaced by 0.
func (f *freeUnits) fill(free []int64) {
	f.machines = append(f.machines[:0], free...)
	f.total, f.elsewhere, f.from = 0, 0, 0
	for i, units := range f.machines {
		f.machines[i] = max(0, units)
		f.total = exact.Add(f.total, max(0, units))
	}
}

// on returns the number of free units of a machine. It returns 0 for a machine that the host has not listed.
func (f *freeUnits) on(machine int) int64 {
	if machine < 0 || machine >= len(f.machines) {
		return 0
	}
	return f.machines[machine]
}

// add adds free units on a machine, for example the units of a killed task.
func (f *freeUnits) add(machine int, units int64) {
	f.total = exact.Add(f.total, units)
	if machine < 0 || machine >= len(f.machines) {
		f.elsewhere = exact.Add(f.elsewhere, units)
		return
	}
	f.machines[machine] = exact.Add(f.machines[machine], units)
	f.from = min(f.from, machine)
}

// takeOn removes free units of one machine. The machine must have at least this number of free units.
func (f *freeUnits) takeOn(machine int, units int64) {
	f.machines[machine] -= units
	f.total -= units
}

// take removes free units: first the units elsewhere, and then the units of the machines in the order of their
// indices. units must be at most f.total.
func (f *freeUnits) take(units int64) {
	f.total -= units
	part := min(units, f.elsewhere)
	f.elsewhere, units = f.elsewhere-part, units-part
	for ; units > 0 && f.from < len(f.machines); f.from++ {
		part := min(units, f.machines[f.from])
		f.machines[f.from], units = f.machines[f.from]-part, units-part
		if f.machines[f.from] > 0 {
			return
		}
	}
}
