package array

import (
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// ParsePolicy reads a policy as [rules.Parse] does, as in "late,min-age=5s,speculative-cap=0.2"; "none" is one that takes
// no action.
func ParsePolicy(text string) (restart.Policy, error) {
	if text == "none" {
		return restart.Never{}, nil
	}
	policy, err := rules.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("policy %q, which may also be none: %w", text, err)
	}
	return policy, nil
}
