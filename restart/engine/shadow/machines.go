package shadow

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Machines returns the machines of a record. known are the machines that the host knows, as engine.Machines.List
// returns them. If they have slots, they are the result.
//
// Otherwise the engine places attempts, and nobody has told the slots of a machine. Then a machine has as many slots as
// attempts ran there at once. If that is more than total slots in all, the machines with the most slots lose some. If
// it is less, the machines with the fewest slots get some. Machines without slots are left out. O(n log n) for n
// attempts.
func Machines(attempts []engine.Attempt, known []engine.Machine, total int) []engine.Machine {
	if len(known) > 0 && known[0].Slots > 0 {
		return known
	}
	type change struct {
		at time.Time
		by int
	}
	changes := map[string][]change{}
	for _, m := range known {
		changes[m.Name] = nil
	}
	for _, a := range attempts {
		if a.Machine != "" && !a.Begun.IsZero() {
			changes[a.Machine] = append(changes[a.Machine], change{a.Begun, 1})
			if !a.Ended.IsZero() {
				changes[a.Machine] = append(changes[a.Machine], change{a.Ended, -1})
			}
		}
	}
	var list []engine.Machine
	sum := 0
	for name, all := range changes {
		slices.SortFunc(all, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
		running, most := 0, 0
		for _, c := range all {
			running += c.by
			most = max(most, running)
		}
		list, sum = append(list, engine.Machine{Name: name, Slots: most}), sum+most
	}
	slices.SortFunc(list, func(a, b engine.Machine) int { return cmp.Compare(a.Name, b.Name) })
	bySlots := func(a, b engine.Machine) int { return cmp.Compare(a.Slots, b.Slots) }
	for sum != total && len(list) > 0 {
		edge, step := slices.MaxFunc(list, bySlots).Slots, -1
		if sum < total {
			edge, step = slices.MinFunc(list, bySlots).Slots, 1
		}
		if edge+step < 0 {
			break
		}
		for i := range list {
			if list[i].Slots == edge && sum != total {
				list[i].Slots += step
				sum += step
			}
		}
	}
	return slices.DeleteFunc(list, func(m engine.Machine) bool { return m.Slots == 0 })
}
