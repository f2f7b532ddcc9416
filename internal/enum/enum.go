// Package enum prints and parses the enumerations that every package has: actions, reasons, rules.
package enum

import (
	"fmt"
	"strconv"
	"strings"
)

// Name returns the name of the i-th value of an enumeration. A value that does not exist is shown by its type and
// number.
func Name(names []string, i int, kind string) string {
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return kind + "(" + strconv.Itoa(i) + ")"
}

// Text returns the name of the i-th value, for encoding.TextMarshaler, or an error if that value does not exist.
func Text(names []string, i int, kind string) ([]byte, error) {
	if i < 0 || i >= len(names) {
		return nil, fmt.Errorf("%s is %d, want 0 to %d", kind, i, len(names)-1)
	}
	return []byte(names[i]), nil
}

// Parse returns the value of the given name, for encoding.TextUnmarshaler, or an error that lists the names.
func Parse(names []string, text []byte, kind string) (int, error) {
	for i, name := range names {
		if name == string(text) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s is %.40q, want one of: %s", kind, text, strings.Join(names, ", "))
}
