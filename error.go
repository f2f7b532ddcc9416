package straggler

import "fmt"

// FieldError is the error of a choice, a fact or an argument that is out of range, in every package of the library.
// Use [errors.As] to find it in an error that New, Validate, Unmarshal… or a call with arguments returned.
//
//	var bad *straggler.FieldError
//	if errors.As(err, &bad) {
//		log.Error("configuration", "field", bad.Field, "want", bad.Want)
//	}
type FieldError struct {
	// Package is the package, below the module: "fairshare/gate".
	Package string
	// Field is the type and the field, or the name of an argument: "Config.MaxReducers", "Problem.Sizes[3]", "rows".
	Field string
	// Value is what was given.
	Value any
	// Want says in words what would have been right: "a share in (0, 1], or 0 for the default".
	Want string
}

// Error returns the error as one line: "fairshare/gate: Config.MaxReducers is -3, want at least 0".
func (e *FieldError) Error() string {
	value := fmt.Sprint(e.Value)
	if text, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%.40q", text)
	}
	return e.Package + ": " + e.Field + " is " + value + ", want " + e.Want
}
