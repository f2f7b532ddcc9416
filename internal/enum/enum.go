// Package enum prints and reads the enumerations of all packages, such as actions, reasons and rules. The names of
// an enumeration are in an array next to its constants. Three methods of one line each use the array:
//
//	var actionNames = [...]string{"single", "clone"}
//
//	// String returns the action's name.
//	func (a Action) String() string { return enum.Name(actionNames[:], a) }
//
//	// MarshalText returns the action's name, or an error for a value without a name.
//	func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }
//
//	// UnmarshalText sets the action to the action with the given name, or returns an error for an unknown name.
//	func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }
//
// Each type needs the three methods, because a type that gets its methods by embedding is a struct, and a struct
// has no constants.
package enum

import (
	"strconv"
	"strings"

	"github.com/straggler-go/straggler/internal/check"
)

// Name returns the name of an enumeration's value. If the value has no name, the result is its type and its number,
// for example Action(7).
func Name[E ~uint8](names []string, e E) string {
	if int(e) < len(names) {
		return names[e]
	}
	_, kind, _ := strings.Cut(check.PlaceOf[E](), ": ")
	return kind + "(" + strconv.Itoa(int(e)) + ")"
}

// Text returns the name of an enumeration's value, or an error for a value without a name. It implements
// encoding.TextMarshaler.
func Text[E ~uint8](names []string, e E) ([]byte, error) {
	if int(e) >= len(names) {
		pkg, kind, _ := strings.Cut(check.PlaceOf[E](), ": ")
		return nil, check.Badf(pkg, kind, uint8(e), "0 to %d", len(names)-1)
	}
	return []byte(names[e]), nil
}

// Parse sets *to to the value with the given name. If there is no such value, Parse returns an error that lists the
// names. It implements encoding.TextUnmarshaler.
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
