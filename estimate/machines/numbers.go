package machines

// numbers stores the index of each machine by the number that the host gives to the machine. The numbers may be any
// integers. Most hosts number machines 0, 1, 2 and so on, and then all machines are in dense. The look-up must be
// fast, because each progress report needs one or two look-ups.
type numbers struct {
	dense  []int32       // entry n is 1 plus the index of the machine with number n, or 0 if there is none
	sparse map[int]int32 // the index of each other machine, by its number
}

// spare limits the slice dense: it has at most twice as many entries as there are machines, plus spare.
const spare = 64

// get returns the index of the machine with the given number. ok is false if there is no such machine.
func (n *numbers) get(number int) (place int32, ok bool) {
	if uint(number) < uint(len(n.dense)) && n.dense[number] > 0 {
		return n.dense[number] - 1, true
	}
	place, ok = n.sparse[number]
	return place, ok
}

// set stores the index of the machine with the given number. The argument machines is the number of all machines.
func (n *numbers) set(number int, place int32, machines int) {
	if number >= len(n.dense) && number < 2*machines+spare {
		n.dense = append(n.dense, make([]int32, number+1-len(n.dense))...)
	}
	if number < len(n.dense) {
		n.dense[number] = place + 1
		delete(n.sparse, number) // when dense was shorter, the machine may have been stored in sparse
		return
	}
	n.sparse[number] = place
}

// drop removes the machine with the given number.
func (n *numbers) drop(number int) {
	if uint(number) < uint(len(n.dense)) {
		n.dense[number] = 0
	}
	delete(n.sparse, number)
}
