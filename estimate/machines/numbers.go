package machines

// numbers finds the place of a machine by the host's number. Numbers may be any; where a host counts its machines from 0,
// as most do, each stands in a list, since every report to a tracker looks for one or two.
type numbers struct {
	few  []int32       // by number: place + 1; 0: none
	many map[int]int32 // the place of all others
}

// spare bounds the list few: it has at most twice as many entries as there are machines, and spare more.
const spare = 64

// get returns the place of a machine, and whether it has one.
func (n *numbers) get(number int) (place int32, ok bool) {
	if uint(number) < uint(len(n.few)) && n.few[number] > 0 {
		return n.few[number] - 1, true
	}
	place, ok = n.many[number]
	return place, ok
}

// set notes the place of one of so many machines.
func (n *numbers) set(number int, place int32, machines int) {
	if number >= len(n.few) && number < 2*machines+spare {
		n.few = append(n.few, make([]int32, number+1-len(n.few))...)
	}
	if number < len(n.few) {
		n.few[number] = place + 1
		delete(n.many, number) // where it stood while the list was shorter
		return
	}
	n.many[number] = place
}

// drop forgets a machine.
func (n *numbers) drop(number int) {
	if uint(number) < uint(len(n.few)) {
		n.few[number] = 0
	}
	delete(n.many, number)
}
