package array

import (
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// ParsePolicy returns the policy that a text describes, such as "late,min-age=5s,speculative-cap=0.2". [rules.Parse]
// documents the texts. In addition, the text "none" gives restart.Never{}, a policy that never copies and never
// restarts. If the text describes no policy, ParsePolicy returns an error that quotes the text.
func ParsePolicy(text string) (restart.Policy, error) {
	if text == "none" {
		return restart.Never{}, nil
	}
	policy, err := rules.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("policy %q is neither \"none\" nor a policy of package rules: %w", text, err)
	}
	return policy, nil
}
