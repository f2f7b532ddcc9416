package machines

// numbers maps the host's number of a machine to its index. Numbers may be any integers. Most hosts count machines
// from 0, and then all machines are in dense. The look-up must be fast, because every report to a tracker needs one
// or two.
type numbers struct {
	dense  []int32       // by number: index + 1; 0: none
	sparse map[int]int32 // the index of all other machines
}

// spare bounds the slice dense: it has at most twice as many entries as there are machines, plus spare.
const spare = 64

// get returns the index of a machine, and whether the machine is known.
func (n *numbers) get(number int) (place int32, ok bool) {
	if uint(number) < uint(len(n.dense)) && n.dense[number] > 0 {
		return n.dense[number] - 1, true
	}
	place, ok = n.sparse[number]
	return place, ok
}

// set stores the index of a machine. The argument machines is the number of machines.
func (n *numbers) set(number int, place int32, machines int) {
	if number >= len(n.dense) && number < 2*machines+spare {
		n.dense = append(n.dense, make([]int32, number+1-len(n.dense))...)
	}
	if number < len(n.dense) {
		n.dense[number] = place + 1
		delete(n.sparse, number) // the machine may be in sparse from a time when dense was shorter
		return
	}
	n.sparse[number] = place
}

// drop forgets a machine.
func (n *numbers) drop(number int) {
	if uint(number) < uint(len(n.dense)) {
		n.dense[number] = 0
	}
	delete(n.sparse, number)
}
