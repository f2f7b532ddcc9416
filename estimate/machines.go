package estimate

import (
	"fmt"
	"math"
)

// MachinesConfig holds the choices of a [Machines]. Its zero value is usable.
type MachinesConfig struct {
	// Memory is the number of recent observations of a machine that count; older ones fade. 0 means 20.
	Memory float64
	// Trust is the number of observations at which a machine's own record weighs as much as the assumption that it is
	// average. 0 means 3. It keeps one slow task from branding its machine.
	Trust float64
	// Limit bounds each ratio, and so the factor, to [1/Limit, Limit]. 0 means 10.
	Limit float64
}

// Machines learns how slow each machine is against its peers: the part of locationFactor that "accounts for whether the
// candidate machine is persistently slower (or faster) than other machines" [Mantri §5.5]. The paper gives no formula.
// Here a machine's factor is the mean of its observed ratios, old ones fading, drawn towards 1 while there are few.
// Machines are numbered from 0 by the host. Not safe for concurrent use; one per cluster, or per phase.
type Machines struct {
	config MachinesConfig
	record []machineRecord
}

type machineRecord struct{ sum, n float64 } // faded sum of the ratios, faded count

// NewMachines returns a Machines for n machines, or an error that names the field that is out of range. It allocates 16
// bytes a machine, and nothing after that.
func NewMachines(n int, c MachinesConfig) (*Machines, error) {
	if n < 0 {
		return nil, fmt.Errorf("estimate: the number of machines is %d, want 0 or more", n)
	}
	for _, f := range []struct {
		name         string
		value        *float64
		least, usual float64
	}{{"Memory", &c.Memory, 1, 20}, {"Trust", &c.Trust, 0, 3}, {"Limit", &c.Limit, 1, 10}} {
		if *f.value == 0 {
			*f.value = f.usual
		}
		if !(*f.value >= f.least) || math.IsInf(*f.value, 1) {
			return nil, fmt.Errorf("estimate: %s is %v, want a finite number, %v or more", f.name, *f.value, f.least)
		}
	}
	return &Machines{config: c, record: make([]machineRecord, n)}, nil
}

// Config returns the configuration with its defaults filled in.
func (m *Machines) Config() MachinesConfig { return m.config }

// Observe records that a task on the machine took ratio times the time that is usual for its work. It reports whether
// that was used: a ratio that is not a positive finite number, or a machine out of range, is not. O(1).
func (m *Machines) Observe(machine int, ratio float64) bool {
	if machine < 0 || machine >= len(m.record) || !(ratio > 0) || math.IsInf(ratio, 1) {
		return false
	}
	ratio = min(max(ratio, 1/m.config.Limit), m.config.Limit)
	r := &m.record[machine]
	keep := 1 - 1/m.config.Memory
	r.sum = float64(r.sum*keep) + ratio
	r.n = float64(r.n*keep) + 1
	return true
}

// Factor returns how many times slower than average the machine is; 1 for a machine that is not known. O(1).
func (m *Machines) Factor(machine int) float64 {
	if machine < 0 || machine >= len(m.record) {
		return 1
	}
	r := m.record[machine]
	return (r.sum + m.config.Trust) / (r.n + m.config.Trust)
}
