// Package heap keeps a slice as a binary heap: the first item, in an order that the caller passes in, is at index
// 0. The package allocates only when the slice grows. A caller adds items by Push and removes the first item by
// Pop.
package heap

// Init changes the order of any slice so that the slice is a heap. O(n) for n items.
func Init[T any](list []T, before func(a, b T) bool) {
	for i := len(list)/2 - 1; i >= 0; i-- {
		sink(list, i, before)
	}
}

// Push adds x to the heap and returns the longer slice. O(log n) for n items.
func Push[T any](list []T, x T, before func(a, b T) bool) []T {
	list = append(list, x)
	for i := len(list) - 1; i > 0; {
		parent := (i - 1) / 2
		if !before(list[i], list[parent]) {
			break
		}
		list[i], list[parent] = list[parent], list[i]
		i = parent
	}
	return list
}

// Pop removes the first item from a heap that is not empty. It returns the item and the shorter slice. O(log n) for
// n items.
func Pop[T any](list []T, before func(a, b T) bool) (first T, rest []T) {
	first, last := list[0], len(list)-1
	list[0] = list[last]
	rest = list[:last]
	sink(rest, 0, before)
	return first, rest
}

// sink moves the i-th item down in the heap until neither of its children is before it.
func sink[T any](list []T, i int, before func(a, b T) bool) {
	for {
		child := 2*i + 1
		if child >= len(list) {
			return
		}
		if child+1 < len(list) && before(list[child+1], list[child]) {
			child++
		}
		if !before(list[child], list[i]) {
			return
		}
		list[i], list[child] = list[child], list[i]
		i = child
	}
}
