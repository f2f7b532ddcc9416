// Package enum prints and reads the enumerations of all packages: actions, reasons, rules. The names of an
// enumeration are in an array beside its constants, and three methods of one line each use the array:
//
//	var actionNames = [...]string{"single", "clone"}
//
//	// String returns the action's name.
//	func (a Action) String() string { return enum.Name(actionNames[:], a) }
//
//	// MarshalText returns the action's name, or an error for a value without a name.
//	func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }
//
//	// UnmarshalText sets the action by its name.
//	func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }
//
// Go needs the three methods on each type: a type with embedded methods could not have constants.
package enum

import (
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
)

// Name returns the name of a value. A value without a name is shown as its type and number.
func Name[E ~uint8](names []string, e E) string {
	if int(e) < len(names) {
		return names[e]
	}
	_, kind, _ := strings.Cut(check.PlaceOf[E](), ": ")
	return kind + "(" + strconv.Itoa(int(e)) + ")"
}

// Text returns the name of a value, for encoding.TextMarshaler, or an error for a value without a name.
func Text[E ~uint8](names []string, e E) ([]byte, error) {
	if int(e) >= len(names) {
		pkg, kind, _ := strings.Cut(check.PlaceOf[E](), ": ")
		return nil, check.Badf(pkg, kind, uint8(e), "0 to %d", len(names)-1)
	}
	return []byte(names[e]), nil
}

// Parse sets the value of the given name, for encoding.TextUnmarshaler, or returns an error that lists the names.
func Parse[E ~uint8](names []string, text []byte, to *E) error {
	for i, name := range names {
		if name == string(text) {
			*to = E(i)
			return nil
		}
	}
	pkg, kind, _ := strings.Cut(check.PlaceOf[E](), ": ")
	return check.Bad(pkg, kind, string(text), "one of: "+strings.Join(names, ", "))
}
