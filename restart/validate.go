package restart

import (
	"fmt"

	"github.com/straggler-go/straggler/internal/check"
)

// Validate returns an error that names the first field of a policy that is out of range, with its value and its range.
// It asks a policy of your own by its method Validate() error, if it has one. Validate a policy once, where it is made:
// Decide neither fails nor panics, whatever its fields are. A nil policy is LeastCost{}; one that holds a nil pointer is
// an error.
func Validate(policy Policy) error {
	if check.Nil(policy) {
		return check.Bad("restart", "Policy", fmt.Sprintf("a nil %T", policy), "a policy, or nil itself for LeastCost")
	}
	if v, ok := policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
