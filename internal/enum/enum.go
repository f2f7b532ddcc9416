// Package enum prints the enumerations that every package has: actions, reasons, rules.
package enum

import "strconv"

// Name returns the name of the i-th value of an enumeration, or, for a value that there is not, its type and number.
func Name(names []string, i int, kind string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return kind + "(" + strconv.Itoa(i) + ")"
}
